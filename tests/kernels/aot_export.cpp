// What launchers in other languages are told of the library's kernels.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "kernels/moe_down.h"
#include "kernels/moe_route.h"
#include "kernels/mxfp4_act_quant.h"
#include "kernels/mxfp4_gemm.h"
#include "kernels/mxfp4_grouped_gemm.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/mxfp4_rmsnorm_quant.h"
#include "kernels/registry.h"
#include "kernels/rope_cache.h"
#include "kernels/splitk_reduce.h"

using namespace nereid;
using namespace nereid::kernels;
using aot::Condition;
using aot::Programs;
using Kind = Condition::Kind;

namespace {

int64_t value_at(const std::vector<ConfigValue> &config, std::string_view key) {
  for (const ConfigValue &value : config)
    if (value.name == key)
      return value.value;
  ADD_FAILURE() << "no key " << key;
  return 1;
}

int64_t dimension(const ProblemSize &size, std::string_view name) {
  return name == "m" ? size.m : name == "n" ? size.n : size.k;
}

/// The terms of a kernel's grid give what its launches have; `given` of what only the launch knows.
template <class C, class O>
void expect_terms_of(const LibraryKernel<C, O> &kernel, const Partial<C> &given_config,
                     const ProblemSize &size, const O &operands, int64_t given) {
  const C config = kernel.complete(given_config, size).value();
  const std::vector<ConfigValue> values = config_values(config);
  const Grid grid = kernel.grid(config, size, operands);
  const int64_t expected[] = {grid.x, grid.y, grid.z};
  for (size_t axis = 0; axis < 3; ++axis) {
    const GridTerm &term = kernel.grid_terms[axis];
    const int64_t value = term.key.empty() ? 1 : value_at(values, term.key);
    const int64_t programs = term.argument.empty() ? value
                             : term.key.empty()    ? given
                                                   : blocks(dimension(size, term.argument), value);
    EXPECT_EQ(programs, expected[axis]) << kernel.name << " axis " << axis;
  }
}

aot::Export exported(std::string_view kernel, std::string_view config, const MaybeSize &size) {
  const ConfiguredKernel configured = kernel_named(kernel).value()->configure(config, size).value();
  return configured.export_for_aot(Device::simulator()).value();
}

bool has(const aot::Export &kernel, const Condition &condition) {
  return std::find(kernel.conditions.begin(), kernel.conditions.end(), condition) != kernel.conditions.end();
}

} // namespace

TEST(AotExport, GridTermsAreTheGrid) {
  const ProblemSize size{75, 208, 992};
  expect_terms_of(quant_kernel, {}, ProblemSize{75, 0, 992}, {}, 0);
  expect_terms_of(gemm_fused_kernel, {.split_k = 4}, size, {}, 0);
  expect_terms_of(gemm_kernel, {}, size, {}, 0);
  expect_terms_of(reduce_kernel, {.split_k = 4}, size, {}, 0);
  expect_terms_of(batched_kernel, {}, size, {.batch = 5}, 5);
  expect_terms_of(rmsnorm_quant_kernel, {.block_m = 2}, ProblemSize{75, 0, 992}, {}, 0);
  expect_terms_of(act_quant_kernel, {}, ProblemSize{75, 0, 992}, {}, 0);
  expect_terms_of(moe_route_kernel, {}, ProblemSize{75, 0, 0}, {}, 0);
  expect_terms_of(rope_cache_kernel, {}, ProblemSize{75, 0, 0}, {}, 75);
  expect_terms_of(attention_kernel, {}, size, {.batch = 5, .heads = 5}, 5);
  MoeUpOperands up;
  MoeDownOperands down;
  up.rows.blocks = down.rows.blocks = 7;
  expect_terms_of(moe_up_kernel, {}, ProblemSize{75, 192, 992}, up, 7);
  expect_terms_of(moe_down_kernel, {}, ProblemSize{75, 208, 992}, down, 7);
  const GroupedOperands grouped{.experts = 6};
  const GroupedConfig config = grouped_kernel.complete({}, size).value();
  expect_terms_of(grouped_kernel, {}, size, grouped, grouped_row_blocks(size.m, 6, config.tile.block_m));
}

TEST(AotExport, AsksForWhatTheCodeWasMadeFor) {
  const aot::Export even =
      exported("mxfp4_gemm_fused", "block_m=16,block_n=32,block_k=128,const_k=1", ProblemSize{32, 64, 256});
  EXPECT_TRUE(has(even, {"m", Kind::MultipleOf, 16}));
  EXPECT_TRUE(has(even, {"n", Kind::MultipleOf, 32}));
  EXPECT_TRUE(has(even, {"k", Kind::MultipleOf, 128}));
  EXPECT_TRUE(has(even, {"k", Kind::Equals, 256}));
  EXPECT_EQ(even.programs[0], Programs::blocks("n", 32));
  EXPECT_EQ(even.programs[1], Programs::constant(1));
  EXPECT_EQ(even.programs[2], Programs::blocks("m", 16));
  EXPECT_EQ(even.layouts.at("a"), "bf16 [m, k]");

  const aot::Export tails =
      exported("mxfp4_gemm_fused", "block_m=16,block_n=32,block_k=128", ProblemSize{20, 48, 224});
  EXPECT_FALSE(has(tails, {"m", Kind::MultipleOf, 16}));
  EXPECT_FALSE(has(tails, {"n", Kind::MultipleOf, 32}));
  EXPECT_FALSE(has(tails, {"k", Kind::MultipleOf, 128}));
}

TEST(AotExport, AsksForWhatTheLibraryTakes) {
  const aot::Export any = exported("mxfp4_gemm", "block_m=16,block_n=32,block_k=128", std::nullopt);
  for (const Condition &condition :
       {Condition{"m", Kind::AtLeast, 1}, Condition{"m", Kind::AtMost, 1 << 20},
        Condition{"n", Kind::MultipleOf, 16}, Condition{"k", Kind::MultipleOf, 32},
        Condition{"k", Kind::AtMost, 1 << 21}, Condition{"alpha", Kind::Equals, 1},
        Condition{"beta", Kind::Equals, 0}})
    EXPECT_TRUE(has(any, condition)) << condition.argument << " " << condition.value;
  const aot::Export grouped =
      exported("mxfp4_grouped_gemm", "block_m=16,block_n=32,block_k=128,experts=4", std::nullopt);
  EXPECT_TRUE(has(grouped, {"experts", Kind::AtMost, 4}));
  EXPECT_EQ(grouped.programs[1], Programs::given("row_blocks"));
}

TEST(AotExport, OfEachKernelAsksWhatItsRuleSays) {
  // Without a size and with the usual config; the products' conditions on N and K are theirs alone.
  for (const NamedKernel &kernel : library_kernels()) {
    const auto configured = kernel.configure("", MaybeSize());
    ASSERT_TRUE(configured) << configured.error().text();
    const auto made = configured->export_for_aot(Device::simulator());
    ASSERT_TRUE(made) << made.error().text();
    const std::vector<std::string> &names = made->kernel->function().argument_names;
    for (const auto &[name, rule] : {std::pair("n", kernel.rule.n), {"k", kernel.rule.k}}) {
      const bool asks = !rule.is_absent() && !rule.is_ignored() && rule.multiple_of > 1 &&
                        std::find(names.begin(), names.end(), name) != names.end();
      const bool is_asked =
          std::any_of(made->conditions.begin(), made->conditions.end(), [&](const Condition &condition) {
            return condition.argument == name && condition.kind == Kind::MultipleOf;
          });
      EXPECT_EQ(is_asked, asks) << kernel.name << " " << name;
    }
  }
}
