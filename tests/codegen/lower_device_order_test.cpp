// Release and acquire of device scope: which accesses they make accesses of device scope, that programs are
// ordered by them, and that each part of the code is needed for that.

#include <gtest/gtest.h>

#include "codegen/plan/kernel_plan.h"
#include "jit/compile/assembler.h"
#include "jit/compile/linker.h"
#include "tests/codegen/run_code.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

constexpr int programs = 4, elements = 256;
constexpr Grid grid = {programs, 1, 1};

/// Each program leaves a tile; the one that arrives last adds all of them.
struct Semaphore {
  int waves = 4;
  bool bounded = true; ///< offsets are known to fit a buffer descriptor
  std::string order = "acq_rel";
  std::string scope = "device";

  ir::Function function() const {
    KernelBuilder b(waves);
    ValueId x = b.pointer(Element::I32), slices = b.pointer(Element::I32), count = b.pointer(Element::I32),
            z = b.pointer(Element::I32), factor = b.scalar_argument(Element::I32);
    ValueId i = b.arange(0, elements), at = bounded ? i : b.mul(i, factor);
    ValueId first = b.mul(b.program_id(0), b.number(elements));
    ValueId mine = b.load(b.ptr_add(b.ptr_add(x, first), i), {}, {}, "");
    b.store(b.ptr_add(b.ptr_add(slices, first), at), mine, {}, "");
    const ValueId one[] = {b.number(1)};
    ValueId before = b.atomic(Opcode::AtomicAdd, count, one, {}, order, scope);
    b.begin_if(b.binary(Opcode::Eq, before, b.number(programs - 1)));
    ValueId sum = b.integer(Element::I32, 0, {elements});
    for (int p = 0; p < programs; ++p)
      sum = b.add(sum, b.load(b.ptr_add(b.ptr_add(slices, b.number(p * elements)), at), {}, {}, ""));
    b.store_tile(z, sum);
    b.store(count, b.number(0), {}, "");
    b.begin_else();
    b.end_if({});
    return b.done();
  }

  std::vector<Argument> arguments() const {
    Random random(1);
    return {buffer(random.bits<uint32_t>(programs * elements)),
            buffer(std::vector<uint32_t>(programs * elements, 0xdeadbeef)), buffer(std::vector<int32_t>{0}),
            buffer(std::vector<uint32_t>(elements)), i32(1)};
  }
};

sim::Checks all_checks() {
  sim::Checks checks = sim::Checks::all();
  checks.race_global = true;
  return checks;
}

size_t count_of(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The error of running assembler text under all checks; empty where there is none.
std::string fault_of(const std::string &text, const Semaphore &kernel) {
  llvm::SmallVector<char> object;
  std::string messages;
  const Status assembled = jit::assemble(text, object, messages);
  EXPECT_TRUE(assembled.ok()) << messages;
  const auto linked = jit::link_code_object(llvm::StringRef(object.data(), object.size()));
  EXPECT_TRUE(linked.ok());
  const auto outcome = run_code(*linked, kernel.waves, grid, kernel.arguments(), all_checks());
  return outcome ? "" : outcome.error().message;
}

constexpr const char *atomic = "global_atomic_add";

std::string with_replaced(std::string text, size_t at, const std::string &part, const std::string &by) {
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}
/// `text` with the last `part` before the atomic replaced, and with the first one after it.
std::string changed_before(const std::string &text, const std::string &part, const std::string &by = "") {
  return with_replaced(text, text.rfind(part, text.find(atomic)), part, by);
}
std::string changed_after(const std::string &text, const std::string &part, const std::string &by = "") {
  return with_replaced(text, text.find(part, text.find(atomic)), part, by);
}

TEST(DeviceOrder, NeedsNoFencesOfTheCache) {
  for (int waves : {1, 4})
    for (bool bounded : {true, false}) {
      const Semaphore kernel{waves, bounded};
      const std::string text = assembly(kernel.function());
      EXPECT_EQ(count_of(text, "buffer_wbl2"), 0u);
      EXPECT_EQ(count_of(text, "buffer_inv"), 0u);
      expect_same(kernel.function(), grid, kernel.arguments());
      EXPECT_EQ(fault_of(text, kernel), "") << waves << bounded;
    }
}

TEST(DeviceOrder, TakesTwoBarriersAndOneExchange) {
  const std::string text = assembly(Semaphore{}.function());
  EXPECT_EQ(count_of(text, "s_barrier"), 2u);
  EXPECT_EQ(count_of(text, "ds_write"), 1u);
  EXPECT_EQ(count_of(text, "mbcnt"), 0u) << "one lane has nothing to combine";
  EXPECT_EQ(count_of(assembly(Semaphore{.waves = 1}.function()), "ds_"), 0u);
}

TEST(DeviceOrder, EachPartOfItIsNeeded) {
  for (bool bounded : {true, false}) {
    const Semaphore kernel{.bounded = bounded};
    const std::string text = assembly(kernel.function());
    EXPECT_NE(fault_of(changed_before(text, "sc1"), kernel), "") << "the store at device scope";
    EXPECT_NE(fault_of(changed_before(text, "vmcnt(0)", "vmcnt(1)"), kernel), "") << "the store's end";
    EXPECT_NE(fault_of(changed_before(text, "s_barrier"), kernel), "") << "other waves' stores";
    EXPECT_NE(fault_of(changed_after(text, "s_barrier"), kernel), "") << "other waves' loads";
    EXPECT_NE(fault_of(changed_after(text, "sc1"), kernel), "") << "the load at device scope";
  }
}

TEST(DeviceOrder, ConcernsStoresBeforeAReleaseAndLoadsAfterAnAcquire) {
  const auto accesses = [](const std::string &order, const std::string &scope) {
    const ir::Function function = Semaphore{.order = order, .scope = scope}.function();
    const auto plan = plan_kernel(function);
    EXPECT_TRUE(plan.ok());
    unsigned loads = 0, stores = 0;
    for (const ir::Op *op : (*plan)->device_order.accesses)
      (op->opcode == Opcode::Load ? loads : stores) += 1;
    return std::pair(stores, loads);
  };
  // The store of the slice; the loads of all slices. Not the load of x, nor the stores of the last program.
  EXPECT_EQ(accesses("acq_rel", "device"), std::pair(1u, 4u));
  EXPECT_EQ(accesses("release", "device"), std::pair(1u, 0u));
  EXPECT_EQ(accesses("acquire", "device"), std::pair(0u, 4u));
  EXPECT_EQ(accesses("relaxed", "device"), std::pair(0u, 0u));
  EXPECT_EQ(accesses("acq_rel", "workgroup"), std::pair(0u, 0u));
}

/// Iterations that add tiles of x, an argument that is only read or not, and count themselves.
ir::Function counting_loop(bool read_only) {
  KernelBuilder b(2);
  ValueId x = b.argument(ir::Type::pointer_to(Element::I32), "x", read_only, 16);
  ValueId count = b.pointer(Element::I32), z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, {});
  ValueId at = b.add(b.mul(loop.index, b.number(128)), b.arange(0, 128));
  ValueId loaded = b.load(b.ptr_add(x, at), {}, {}, "");
  const ValueId one[] = {b.number(1)};
  b.atomic(Opcode::AtomicAdd, count, one, {}, "acq_rel", "device");
  b.store(b.ptr_add(z, at), loaded, {}, "");
  b.end_for({});
  return b.done();
}

TEST(DeviceOrder, ReachesAroundALoop) {
  const ir::Function function = counting_loop(false);
  const auto plan = plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->device_order.accesses.size(), 2u) << "the load follows, the store precedes in the loop";
  EXPECT_EQ(count_of(assembly(function), " sc1"), 2u);
}

TEST(DeviceOrder, IsLeftToFencesWhereInputsAreLoadedInALoop) {
  const ir::Function function = counting_loop(true);
  const auto plan = plan_kernel(function);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE((*plan)->device_order.accesses.empty());
  const std::vector<Remark> remarks = (*plan)->remarks();
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_EQ(remarks[0].kind, RemarkKind::CacheFences);
  const std::string text = assembly(function);
  EXPECT_EQ(count_of(text, "buffer_wbl2 sc1"), 1u);
  EXPECT_EQ(count_of(text, "buffer_inv sc1"), 1u);
  Random random(2);
  expect_same(function, {1, 1, 1},
              {buffer(random.bits<uint32_t>(3 * 128)), buffer(std::vector<int32_t>{0}),
               buffer(std::vector<uint32_t>(3 * 128)), i32(3)});
}

} // namespace
} // namespace nereid::codegen::testing
