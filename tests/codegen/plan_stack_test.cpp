// Long chains of operations are planned on small stacks: nothing recurses once an operation.
#include <functional>

#include <gtest/gtest.h>

#include "codegen/assign/buffer_access.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/plan/conversions.h"
#include "codegen/plan/kernel_plan.h"
#include "tests/codegen/lower_harness.h"
#include "tests/support/small_stack.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;

constexpr int chain = 4000;

/// A loop with a dot, whose load of A has an offset and a mask, each the end of a long chain in the body.
ir::Function long_addresses() {
  KernelBuilder b(2);
  ir::ValueId pa = b.pointer(Element::BF16), pb = b.pointer(Element::BF16), pc = b.pointer(Element::F32);
  ir::ValueId n = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.constant(ir::Type::tile(Element::F32, {16, 16}), 0)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(32), 2, start);
  ir::ValueId offset = b.add(b.offsets({16, 32}), loop.index);
  ir::ValueId mask = b.binary(ir::Opcode::Lt, offset, n);
  for (int i = 0; i < chain; ++i) {
    offset = b.add(offset, n);
    mask = b.binary(ir::Opcode::And, mask, b.binary(ir::Opcode::Lt, offset, n));
  }
  ir::ValueId a = b.load(b.ptr_add(pa, offset), mask, {}, "");
  ir::ValueId right = b.load_tile(pb, {16, 32});
  const ir::ValueId next[] = {b.add(loop.carried[0], b.dot(a, b.permute(right, {1, 0})))};
  b.store_tile(pc, b.end_for(next)[0]);
  return b.done();
}

const ir::Op &first(const ir::Function &function, ir::Opcode opcode) {
  const ir::Op *found = nullptr;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (!found && op.opcode == opcode)
      found = &op;
  });
  return *found;
}

TEST(SmallStack, InductionMasksAndAddresses) {
  const ir::Function function = long_addresses();
  const FunctionIndex index(function);
  const AxisAnalysis axes(index);
  const ValueRanges ranges(index);
  const ir::Op &loop = first(function, ir::Opcode::For), &load = first(function, ir::Opcode::Load);
  test::on_small_stack([&] {
    const LoopInduction induction(index, axes, loop);
    EXPECT_EQ(induction.change(load.operands[0]), 64);
    EXPECT_FALSE(induction.has_max_element(load.operands[1]));
    const Decision<StreamingLoop> streaming = find_streaming_loop(index, axes, loop);
    EXPECT_FALSE(streaming && streaming->loads.empty());
    // What the chain adds is the same for all threads: it is a part of the base.
    EXPECT_FALSE(descriptor_objection(index, ranges, load.operands[0],
                                      default_layout(function.type(load.result()).shape, 2)));
  });
}

TEST(SmallStack, PlansOfLoops) {
  const ir::Function function = long_addresses();
  const FunctionIndex index(function);
  const AxisAnalysis axes(index);
  const ValueRanges ranges(index);
  const Result<LayoutChoice> layouts = choose_layouts(index, axes, WaveSplitLoops());
  ASSERT_TRUE(layouts) << layouts.error().text();
  const ir::Op &loop = first(function, ir::Opcode::For);
  test::on_small_stack([&] {
    const LoopFacts facts{index, axes, ranges, *layouts};
    const LoopPlan plan = plan_loop(facts, loop);
    EXPECT_EQ(plan.op, &loop);
    EXPECT_FALSE(need_of_other_waves(facts, loop).has_value() && loop.blocks.empty());
  });
}

} // namespace
} // namespace nereid::codegen::testing
