// Remarks: one kernel for each kind, and the plan's text.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "codegen/plan/kernel_plan.h"
#include "dsl/dsl.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

std::vector<Remark> remarks_of(const ir::Function &function) {
  const auto plan = plan_kernel(function);
  EXPECT_TRUE(plan.ok()) << (plan ? "" : plan.error().text());
  return plan ? (*plan)->remarks() : std::vector<Remark>();
}

/// The only remark of a kind; a kernel without one, or with several, is the test's failure.
Remark only_remark(const ir::Function &function, RemarkKind kind) {
  Remark found{kind, {}, 0, "no such remark", ""};
  unsigned count = 0;
  for (const Remark &remark : remarks_of(function))
    if (remark.kind == kind) {
      found = remark;
      ++count;
    }
  EXPECT_EQ(count, 1u) << remark_name(kind);
  return found;
}

bool has_remark(const ir::Function &function, RemarkKind kind) {
  const std::vector<Remark> remarks = remarks_of(function);
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const Remark &remark) { return remark.kind == kind; });
}

void expect_words(const Remark &remark, std::initializer_list<const char *> words) {
  for (const char *word : words)
    EXPECT_NE(remark.text().find(word), std::string::npos) << word << " is not in: " << remark.text();
}

void expect_at(const Remark &remark, unsigned line) {
  EXPECT_EQ(remark.where, (SourceLine{"kernel.cpp", line})) << remark.text();
  EXPECT_GT(remark.line, 0u);
}

/// A kernel of which each step has a line of its own.
struct Lines : KernelBuilder {
  explicit Lines(int waves) : KernelBuilder(waves) {}
  void at(unsigned line) { set_location({"kernel.cpp", line}); }
};

/// z = the sum of x[k * 256 + i] over k; `more` adds to the body and gives what is added besides.
template <class More> ir::Function row_sum(int stages, int64_t columns, const More &more) {
  Lines b(1);
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::I32, {columns}), 0)};
  b.at(10);
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), stages, start);
  b.at(11);
  ir::ValueId at = b.add(b.mul(loop.index, b.number(columns)), b.arange(0, columns));
  ir::ValueId loaded = b.load(b.ptr_add(x, at), {}, {}, "");
  b.at(12);
  const ir::ValueId next[] = {b.add(loop.carried[0], more(b, x, at, loaded))};
  b.store_tile(z, b.end_for(next)[0]);
  return b.done();
}

/// c += a b^T for a [m, k], b [n, k] of bf16, both row-major, in a loop over k.
struct Product {
  int64_t m = 64, n = 64, block_k = 64;
  int waves = 4, stages = 2;
  ir::WaveSplit split = ir::WaveSplit::N;
  bool carries_more = false;
  bool is_masked = false;  ///< by row; and the pitch is a number of which nothing is known
  bool transposes = false; ///< a square A is replaced by max(A, A^T), in line 25

  ir::Function function() const {
    Lines b(waves);
    b.options().wave_split = split;
    ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
    ir::ValueId last = b.scalar_argument(Element::I32, block_k);
    ir::ValueId pitch =
        is_masked ? b.argument(ir::Type::scalar(Element::I32), "pitch", false, 16) : b.number(4096);
    std::vector<ir::ValueId> start = {b.constant(ir::Type::tile(Element::F32, {m, n}), 0)};
    if (carries_more)
      start.push_back(b.number(0));
    b.at(20);
    ir::Builder::Loop loop = b.begin_for(b.number(0), last, b.number(block_k), stages, start);
    b.at(21);
    ir::ValueId a = b.load(b.ptr_add(pa, b.add(rows(b, m, pitch), loop.index)), mask(b, m, last), {}, "");
    b.at(22);
    ir::ValueId right = b.load(b.ptr_add(pb, b.add(rows(b, n, pitch), loop.index)), mask(b, n, last), {}, "");
    if (transposes) {
      b.at(25);
      a = b.binary(Opcode::Max, a, b.permute(a, {1, 0}));
    }
    b.at(23);
    std::vector<ir::ValueId> next = {b.add(loop.carried[0], b.dot(a, b.permute(right, {1, 0})))};
    if (carries_more)
      next.push_back(b.add(loop.carried[1], loop.index));
    b.at(24);
    b.store_tile(pc, b.end_for(next)[0]);
    return b.done();
  }

private:
  /// Offsets of a row-major tile of `count` rows.
  ir::ValueId rows(KernelBuilder &b, int64_t count, ir::ValueId pitch) const {
    ir::ValueId row = b.mul(b.expand_dims(b.arange(0, count), 1), pitch);
    return b.add(row, b.expand_dims(b.arange(0, block_k), 0));
  }
  std::optional<ir::ValueId> mask(KernelBuilder &b, int64_t count, ir::ValueId last) const {
    if (!is_masked)
      return std::nullopt;
    return b.binary(Opcode::Lt, b.expand_dims(b.arange(0, count), 1), last);
  }
};

TEST(Remarks, ALoopThatWritesMemoryIsNotPipelined) {
  const auto stores = [](Lines &b, ir::ValueId x, ir::ValueId at, ir::ValueId loaded) {
    b.store(b.ptr_add(x, at), loaded, {}, "");
    return loaded;
  };
  const Remark remark = only_remark(row_sum(3, 256, stores), RemarkKind::NotPipelined);
  expect_at(remark, 10);
  expect_words(remark, {"stages = 3 has no effect", "its body has a store", "kernel.cpp:12"});
  EXPECT_FALSE(has_remark(row_sum(1, 256, stores), RemarkKind::NotPipelined));
}

TEST(Remarks, StagesOfALoopAroundAPipelinedOneAreNoMatter) {
  const auto loop_of = [](int stages) {
    return [stages](Lines &b, ir::ValueId x, ir::ValueId at, ir::ValueId loaded) {
      const ir::ValueId start[] = {loaded};
      b.at(13);
      ir::Builder::Loop loop = b.begin_for(b.number(0), b.number(8), b.number(1), stages, start);
      const ir::ValueId next[] = {
          b.add(loop.carried[0], b.load(b.ptr_add(x, b.add(at, loop.index)), {}, {}, ""))};
      return b.end_for(next)[0];
    };
  };
  EXPECT_FALSE(has_remark(row_sum(2, 256, loop_of(2)), RemarkKind::NotPipelined));
  const Remark remark = only_remark(row_sum(2, 256, loop_of(1)), RemarkKind::NotPipelined);
  expect_at(remark, 10);
  expect_words(remark, {"stages = 2 has no effect", "its body has a for", "kernel.cpp:13"});
}

TEST(Remarks, ALoadWhoseAddressIsLoadedIsNotIssuedAhead) {
  const Remark remark = only_remark(row_sum(2, 256,
                                            [](Lines &b, ir::ValueId x, ir::ValueId, ir::ValueId loaded) {
                                              ir::ValueId index =
                                                  b.binary(Opcode::And, loaded, b.number(255));
                                              return b.load(b.ptr_add(x, index), {}, {}, "");
                                            }),
                                    RemarkKind::NotPipelined);
  expect_at(remark, 12);
  expect_words(remark, {"not issued ahead", "address"});
}

TEST(Remarks, RegistersReduceStages) {
  const auto nothing = [](Lines &, ir::ValueId, ir::ValueId, ir::ValueId loaded) { return loaded; };
  const Remark fewer = only_remark(row_sum(4, 4096, nothing), RemarkKind::FewerStages);
  expect_at(fewer, 10);
  expect_words(fewer, {"2 iterations ahead, not 4", "registers"});
  // No two iterations fit: stages have no effect at all.
  const Remark none = only_remark(row_sum(4, 8192, nothing), RemarkKind::NotPipelined);
  expect_at(none, 10);
  expect_words(none, {"stages = 4 has no effect", "registers"});
  EXPECT_TRUE(remarks_of(row_sum(2, 256, nothing)).empty());
}

TEST(Remarks, AnLdsPipelineThatIsLessDeepSaysWhy) {
  const Remark remark = only_remark(Product{.stages = 8}.function(), RemarkKind::FewerStages);
  expect_at(remark, 20);
  expect_words(remark, {"stages of 8", "no more than 4 buffers"});
}

TEST(Remarks, OperandsThatDoNotGoThroughLdsSayWhy) {
  // A loop that is an LDS pipeline, but for a value that it carries.
  EXPECT_FALSE(has_remark(Product{}.function(), RemarkKind::NotThroughLds));
  const Remark other = only_remark(Product{.carries_more = true}.function(), RemarkKind::NotThroughLds);
  expect_at(other, 21);
  expect_words(other, {"several waves load the operand", "not only a sum of dots"});
  // Rows of 48 values are 96 bytes.
  const Remark odd = only_remark(Product{.block_k = 48}.function(), RemarkKind::NotThroughLds);
  expect_at(odd, 21);
  expect_words(odd, {"a row of the tile has 96 bytes"});
  // Too small are the 16 rows that lanes and waves share, and not all 80.
  const Remark low = only_remark(Product{.m = 80}.function(), RemarkKind::NotThroughLds);
  expect_at(low, 21);
  expect_words(low, {"odd factor", "what is left, 16 x 64, is less than a copy of each wave"});
  const Remark small = only_remark(Product{.m = 16}.function(), RemarkKind::NotThroughLds);
  expect_words(small, {"the copy of a lane would be narrower than 16 bytes"});
}

TEST(Remarks, SplitLoopsAreNamed) {
  const Product product{.m = 16, .block_k = 32, .stages = 1, .split = ir::WaveSplit::Auto};
  const Remark remark = only_remark(product.function(), RemarkKind::SplitOverWaves);
  expect_at(remark, 20);
  expect_words(remark, {"each of 4 waves", "iterations of its own"});
}

TEST(Remarks, LoopsThatCannotBeSplitSayWhy) {
  const Product carries{
      .m = 16, .block_k = 32, .stages = 1, .split = ir::WaveSplit::Auto, .carries_more = true};
  const Remark other = only_remark(carries.function(), RemarkKind::NotSplitOverWaves);
  expect_at(other, 20);
  expect_words(other, {"not only a sum of dots"});
}

TEST(Remarks, LoopsWhoseBodyNeedsOtherWavesSayWhere) {
  Product product{.m = 32, .block_k = 32, .stages = 1, .split = ir::WaveSplit::Auto};
  EXPECT_FALSE(has_remark(product.function(), RemarkKind::NotSplitOverWaves));
  product.transposes = true;
  const Remark remark = only_remark(product.function(), RemarkKind::NotSplitOverWaves);
  expect_at(remark, 20);
  expect_words(remark, {"all waves run each iteration of the loop together", "a max wants %",
                        "as other lanes hold it, through LDS", "(kernel.cpp:25)"});
  EXPECT_FALSE(has_remark(product.function(), RemarkKind::SplitOverWaves));
}

/// Adds 1 to the elements of a row-major matrix that lie below a limit; `bound` assumes something of its
/// pitch.
template <class Bound> ir::Function masked_rows(const Bound &bound) {
  Lines b(1);
  ir::ValueId x = b.pointer(Element::I32);
  ir::ValueId pitch = b.argument(ir::Type::scalar(Element::I32), "pitch");
  bound(b, pitch);
  ir::ValueId row = b.mul(b.expand_dims(b.arange(0, 16), 1), pitch);
  ir::ValueId at = b.add(row, b.expand_dims(b.arange(0, 16), 0));
  ir::ValueId mask = b.binary(Opcode::Lt, b.expand_dims(b.arange(0, 16), 0), b.scalar_argument(Element::I32));
  b.at(40);
  ir::ValueId loaded = b.load(b.ptr_add(x, at), mask, {}, "");
  b.at(41);
  b.store(b.ptr_add(x, at), b.add(loaded, b.number(1)), {}, "");
  return b.done();
}

TEST(Remarks, MasksThatBecomeBranchesNameTheAssumptionThatHelps) {
  const Remark remark =
      only_remark(masked_rows([](KernelBuilder &, ir::ValueId) {}), RemarkKind::MaskBranches);
  expect_at(remark, 40);
  expect_words(remark, {"mask of the load", "buffer descriptor", "with pitch"});
  const std::string assumption = "assume((pitch >= 0) & (pitch <= ";
  const size_t found = remark.remedy.find(assumption);
  ASSERT_NE(found, std::string::npos) << remark.remedy;
  const int64_t largest = std::stoll(remark.remedy.substr(found + assumption.size()));
  EXPECT_GT(largest, 1 << 20);
  EXPECT_FALSE(has_remark(masked_rows([&](KernelBuilder &b, ir::ValueId pitch) {
                            b.assume(b.binary(Opcode::Ge, pitch, b.number(0)));
                            b.assume(b.binary(Opcode::Le, pitch, b.number(largest)));
                          }),
                          RemarkKind::MaskBranches));
}

/// The code of the remedy, compiled.
#define ASSUMPTION assume((x >= 0) & (x <= 8388607))
#define TEXT_OF_CODE(...) #__VA_ARGS__
#define TEXT_OF(macro) TEXT_OF_CODE(macro)

struct NoConfig {
  NEREID_CONFIG(NoConfig)
};

template <bool is_bound> void masked_columns(const NoConfig &, Ptr<nereid::i32> p, Int columns, Int x) {
  if constexpr (is_bound)
    ASSUMPTION;
  const Tile<nereid::i32> column = cols(16);
  store(p + (rows(16) * x + column), full<nereid::i32>({16, 16}, 1), column < columns);
}

TEST(Remarks, AnAssumptionIsCodeOfTheLanguage) {
  const ir::Function unbound = trace("masked", masked_columns<false>, NoConfig{}).value();
  const Remark remark = only_remark(unbound, RemarkKind::MaskBranches);
  expect_words(remark, {"grows with argument 2"});
  EXPECT_EQ(remark.remedy, TEXT_OF(ASSUMPTION) " at the top of the kernel, where x is argument 2");
  const ir::Function bound = trace("masked", masked_columns<true>, NoConfig{}).value();
  EXPECT_FALSE(has_remark(bound, RemarkKind::MaskBranches));
}

struct StagesConfig {
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(StagesConfig, waves, stages)
};

/// A product whose loads have a mask and another value; `pitch` may be anything.
template <int sign, bool is_bound>
void masked_product(const StagesConfig &, Ptr<const f16> a, Ptr<const f16> b, Ptr<nereid::f32> z, Int k,
                    Int pitch) {
  assume((k > 0) & (k <= 1 << 16));
  if constexpr (is_bound)
    assume((pitch >= 0) & (pitch <= 1 << 16));
  Var sum = zeros<nereid::f32>({64, 64});
  for (Int first : range(0, k, 32)) {
    const Tile<nereid::i32> down = first + rows(32), across = first + cols(32);
    const Tile<f16> x = load(a + (rows(64) * pitch + across), across < k, sign * 0.0F);
    const Tile<f16> y = load(b + (down * 64 + cols(64)), down < k, 0);
    sum += dot(x, y);
  }
  store(z + (rows(64) * 64 + cols(64)), sum);
}

TEST(Remarks, AnotherValueOfZeroIsNoObstacle) {
  const std::vector<ArgumentFacts> facts(5, {.divisibility = 16});
  const auto operands = [&](auto kernel) { return trace("product", kernel, StagesConfig{}, facts).value(); };
  EXPECT_FALSE(has_remark(operands(masked_product<1, true>), RemarkKind::NotPipelined));
  EXPECT_FALSE(has_remark(operands(masked_product<1, true>), RemarkKind::NotThroughLds));
  expect_words(only_remark(operands(masked_product<-1, true>), RemarkKind::NotThroughLds),
               {"what its mask removes is not replaced by zeros"});
}

TEST(Remarks, LoadsThatAreNotIssuedAheadNameTheAssumptionThatHelps) {
  const ir::Function function = trace("product", masked_product<1, false>, StagesConfig{}).value();
  const Remark remark = only_remark(function, RemarkKind::NotPipelined);
  expect_words(remark, {"not issued ahead", "grows with argument 4"});
  EXPECT_NE(remark.remedy.find("where x is argument 4"), std::string::npos) << remark.remedy;
}

TEST(Remarks, MasksOfAnLdsPipelineAreNoBranches) {
  EXPECT_FALSE(has_remark(Product{.is_masked = true}.function(), RemarkKind::MaskBranches));
  std::vector<unsigned> lines;
  for (const Remark &remark : remarks_of(Product{.stages = 1, .is_masked = true}.function()))
    if (remark.kind == RemarkKind::MaskBranches)
      lines.push_back(remark.where.line);
  EXPECT_EQ(lines, (std::vector<unsigned>{21, 22}));
}

TEST(Remarks, ConversionsThroughLdsInALoopAreNamed) {
  const auto transposes = [](Lines &b, ir::ValueId, ir::ValueId, ir::ValueId loaded) {
    b.at(50);
    ir::ValueId turned = b.reshape(b.permute(b.reshape(loaded, {64, 64}), {1, 0}), {4096});
    b.at(51);
    return b.binary(Opcode::Max, turned, loaded);
  };
  const Remark remark = only_remark(row_sum(1, 4096, transposes), RemarkKind::LdsRoundTrip);
  expect_at(remark, 51);
  expect_words(remark, {"in each iteration", "i32[4096]", "16384 bytes of LDS"});
}

/// z[row * pitch + i] = x[row * pitch + i] for i < n.
ir::Function copied_row(int64_t of_x, int64_t of_z, int64_t of_pitch, int64_t of_n) {
  Lines b(4);
  const auto pointer = [&](const char *name, int64_t divisibility) {
    return b.argument(ir::Type::pointer_to(Element::BF16), name, false, divisibility);
  };
  const auto number = [&](const char *name, int64_t divisibility) {
    return b.argument(ir::Type::scalar(Element::I32), name, false, divisibility);
  };
  ir::ValueId x = pointer("x", of_x), z = pointer("z", of_z);
  ir::ValueId pitch = number("pitch", of_pitch), n = number("n", of_n);
  ir::ValueId i = b.arange(0, 2048), at = b.add(b.mul(b.program_id(0), pitch), i);
  ir::ValueId mask = b.binary(Opcode::Lt, i, n);
  b.at(30);
  ir::ValueId loaded = b.load(b.ptr_add(x, at), mask, {}, "");
  b.at(31);
  b.store(b.ptr_add(z, at), loaded, mask, "");
  return b.done();
}

TEST(Remarks, NarrowAccessesNameTheArgumentsThatMatter) {
  EXPECT_FALSE(has_remark(copied_row(16, 16, 16, 16), RemarkKind::NarrowAccess));
  const Remark of_x = only_remark(copied_row(2, 16, 16, 16), RemarkKind::NarrowAccess);
  expect_at(of_x, 30);
  expect_words(of_x, {"a lane moves 2 bytes at a time, not 16", "x may be no multiple of 16"});
  const Remark of_z = only_remark(copied_row(16, 2, 16, 16), RemarkKind::NarrowAccess);
  expect_at(of_z, 31);
  expect_words(of_z, {"z may be no multiple of 16"});
  for (const ir::Function &function : {copied_row(16, 16, 1, 16), copied_row(16, 16, 16, 1)}) {
    std::vector<unsigned> lines;
    for (const Remark &remark : remarks_of(function))
      if (remark.kind == RemarkKind::NarrowAccess)
        lines.push_back(remark.where.line);
    EXPECT_EQ(lines, (std::vector<unsigned>{30, 31}));
  }
  const std::vector<Remark> both = remarks_of(copied_row(16, 16, 1, 1));
  EXPECT_TRUE(std::any_of(both.begin(), both.end(), [](const Remark &remark) {
    return remark.message.find("as pitch or n may be no multiple of 16") != std::string::npos;
  }));
}

TEST(Remarks, EqualOnesForALineStandOnce) {
  const auto two_loads = [](unsigned line_of_second) {
    Lines b(4);
    const auto pointer = [&](int64_t divisibility) {
      return b.argument(ir::Type::pointer_to(Element::BF16), "", false, divisibility);
    };
    ir::ValueId x = pointer(2), z = pointer(16);
    ir::ValueId pitch = b.argument(ir::Type::scalar(Element::I32), "", false, 16);
    ir::ValueId n = b.argument(ir::Type::scalar(Element::I32), "", false, 16);
    ir::ValueId i = b.arange(0, 2048), at = b.add(b.mul(b.program_id(0), pitch), i);
    ir::ValueId mask = b.binary(Opcode::Lt, i, n);
    b.at(40);
    ir::ValueId first = b.load(b.ptr_add(x, at), mask, {}, "");
    b.at(line_of_second);
    ir::ValueId second = b.load(b.ptr_add(x, b.add(at, pitch)), mask, {}, "");
    b.at(42);
    b.store(b.ptr_add(z, at), b.add(first, second), mask, "");
    return b.done();
  };
  const Remark both = only_remark(two_loads(40), RemarkKind::NarrowAccess);
  expect_at(both, 40);
  EXPECT_EQ(both.message, "a lane moves 2 bytes at a time, not 16, as argument 0 may be no multiple of 16 "
                          "(2 times)");
  unsigned apart = 0;
  for (const Remark &remark : remarks_of(two_loads(41)))
    if (remark.kind == RemarkKind::NarrowAccess) {
      ++apart;
      EXPECT_EQ(remark.message.find("times)"), std::string::npos) << remark.message;
    }
  EXPECT_EQ(apart, 2u);
}

TEST(Plan, EmptySectionsSayNone) {
  KernelBuilder b(1);
  b.store(b.pointer(Element::I32), b.number(1), {}, "");
  const ir::Function function = b.done();
  const std::string text = (*plan_kernel(function))->text();
  for (const char *section : {"\ndots\n  none\n", "\nloops\n  none\n", "\nremarks\n  none\n"})
    EXPECT_NE(text.find(section), std::string::npos) << section << text;
}

TEST(Remarks, StandInTheOrderOfTheKernel) {
  const Product product{.carries_more = true};
  const std::vector<Remark> remarks = remarks_of(product.function());
  ASSERT_GT(remarks.size(), 0u);
  EXPECT_TRUE(std::is_sorted(remarks.begin(), remarks.end(),
                             [](const Remark &a, const Remark &b) { return a.line < b.line; }));
}

TEST(Plan, IsReadable) {
  const ir::Function function = Product{.stages = 3}.function();
  const auto plan = plan_kernel(function);
  ASSERT_TRUE(plan) << plan.error().text();
  const std::string text = (*plan)->text();
  for (const char *line :
       {"plan of kernel: 4 waves, wave_split n, without accumulation registers (AGPRs)\n",
        "\nlayouts: ", "bf16[64, 64] register: (0,1) (0,2) (0,4)", "(kernel.cpp:23): dot 64 x 64, 16x16x32",
        "waves: 1 along M, 4 along N\n", "(kernel.cpp:20): LDS pipeline, 3 buffers of ",
        "(kernel.cpp:21): bf16[64, 64] through LDS, 2 async copies (global to LDS) of each wave, 3 "
        "iterations "
        "ahead",
        "(kernel.cpp:22): bf16[64, 64] to registers", "\nremarks\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text, (*plan_kernel(function))->text());
}

} // namespace
} // namespace nereid::codegen::testing
