#include "codegen/analysis/value_ranges.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

constexpr int64_t max_i32 = std::numeric_limits<int32_t>::max();
constexpr int64_t min_i32 = std::numeric_limits<int32_t>::min();

/// The range of what `make` returns.
template <class Make> Interval range_of(const Make &make) {
  KernelBuilder b(1);
  const ir::ValueId value = make(b);
  // Values keep their numbers: the index is made of the function as it was built.
  const ir::Function function = b.done();
  const FunctionIndex index(function);
  const ir::Op *store = nullptr;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (op.opcode == Opcode::Store)
      store = &op;
  });
  return ValueRanges(index)[store ? store->operands[1] : value];
}

/// Stores the value, so that it is found again.
ir::ValueId kept(KernelBuilder &b, ir::ValueId value) {
  b.store(b.pointer(Element::I32), value, {}, "");
  return value;
}

TEST(ValueRanges, PromisesBoundArgumentsAndWhatIsMadeOfThem) {
  EXPECT_EQ(range_of([](KernelBuilder &b) { return kept(b, b.scalar_argument(Element::I32)); }),
            (Interval{min_i32, max_i32}));
  EXPECT_EQ(range_of([](KernelBuilder &b) {
              ir::ValueId n = b.scalar_argument(Element::I32);
              b.assume(b.binary(Opcode::And, b.binary(Opcode::Gt, n, b.number(0)),
                                b.binary(Opcode::Ge, b.number(4096), n)));
              return kept(b, b.add(b.mul(n, b.number(8)), b.number(-1)));
            }),
            (Interval{7, 32767}));
}

TEST(ValueRanges, WhatMayWrapMayBeAnything) {
  EXPECT_EQ(range_of([](KernelBuilder &b) { return kept(b, b.mul(b.program_id(0), b.number(256))); }),
            (Interval{min_i32, max_i32}));
  EXPECT_EQ(range_of([](KernelBuilder &b) {
              ir::ValueId id = b.program_id(0);
              b.assume(b.binary(Opcode::Lt, id, b.number(100)));
              return kept(b, b.mul(id, b.number(256)));
            }),
            (Interval{0, 99 * 256}));
}

TEST(ValueRanges, IndicesLieBetweenTheBoundsOfTheirLoop) {
  EXPECT_EQ(range_of([](KernelBuilder &b) {
              ir::ValueId n = b.scalar_argument(Element::I32);
              b.assume(b.binary(Opcode::Le, n, b.number(1000)));
              const ir::ValueId zero[] = {b.number(0)};
              ir::Builder::Loop loop = b.begin_for(b.number(16), n, b.number(4), 1, zero);
              const ir::ValueId next[] = {kept(b, loop.index)};
              return b.end_for(next)[0];
            }),
            (Interval{16, 999}));
}

TEST(ValueRanges, PromisesInALoopAreOfWhatIsDefinedThere) {
  const auto range = [](bool of_loaded) {
    return range_of([&](KernelBuilder &b) {
      ir::ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
      const ir::ValueId zero[] = {b.number(0)};
      ir::Builder::Loop loop = b.begin_for(b.number(0), b.number(8), b.number(1), 1, zero);
      ir::ValueId loaded = b.load(b.ptr_add(x, loop.index), {}, {}, "");
      ir::ValueId promised = of_loaded ? loaded : n;
      b.assume(b.binary(Opcode::And, b.binary(Opcode::Ge, promised, b.number(0)),
                        b.binary(Opcode::Lt, promised, b.number(1000))));
      const ir::ValueId next[] = {kept(b, b.mul(promised, b.number(2)))};
      return b.end_for(next)[0];
    });
  };
  EXPECT_EQ(range(true), (Interval{0, 1998}));
  EXPECT_EQ(range(false), (Interval{min_i32, max_i32})) << "the loop may not run";
}

TEST(ValueRanges, BitOperationsShiftsAndRemainders) {
  const auto of = [](Opcode opcode, int64_t by) {
    return range_of([&](KernelBuilder &b) {
      return kept(b, b.binary(opcode, b.scalar_argument(Element::I32), b.number(by)));
    });
  };
  EXPECT_EQ(of(Opcode::And, 255), (Interval{0, 255}));
  EXPECT_EQ(of(Opcode::Shr, 8), (Interval{min_i32 >> 8, max_i32 >> 8}));
  EXPECT_EQ(of(Opcode::Rem, 10), (Interval{-9, 9}));
  EXPECT_EQ(of(Opcode::Div, 2), (Interval{min_i32 / 2, max_i32 / 2}));
  EXPECT_EQ(of(Opcode::CeilDiv, 2), (Interval{min_i32 / 2, max_i32 / 2 + 1}));
  EXPECT_EQ(of(Opcode::Min, 5), (Interval{min_i32, 5}));
  EXPECT_EQ(of(Opcode::Or, 1), (Interval{min_i32, max_i32}));
}

} // namespace
} // namespace nereid::codegen::testing
