// What the emitter keeps of accesses to memory to tell where waves have to meet.
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/lower/lowering.h"
#include "codegen/lower/target_attributes.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

constexpr unsigned region_count = 200;

/// How many accesses stand since the last barrier, at the end of a kernel.
size_t accesses_at_end(const ir::Function &function) {
  const auto plan = plan_kernel(function);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().text());
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  set_target(module);
  Lowering lowering(**plan, module);
  const Status done = lowering.run();
  EXPECT_TRUE(done) << (done ? "" : done.error().text());
  return lowering.order.accesses().size();
}

TEST(LowerOrder, BranchesInARowKeepEachAccessOnce) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32), y = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ValueId sum = b.load(x, {}, {}, "");
  for (unsigned i = 0; i < region_count; ++i) {
    b.begin_if(b.binary(Opcode::Gt, n, b.number(i)));
    ValueId more = b.add(sum, b.number(1));
    b.begin_else();
    const std::pair<ValueId, ValueId> merged[] = {{more, sum}};
    sum = b.end_if(merged)[0];
  }
  b.store(y, sum, {}, "");
  EXPECT_EQ(accesses_at_end(b.done()), 2u);
}

TEST(LowerOrder, LoopsInARowKeepEachAccessOnce) {
  for (int stages : {1, 2}) {
    KernelBuilder b(1);
    ValueId x = b.pointer(Element::I32), y = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
    ValueId sum = b.load_tile(x, {64});
    for (unsigned i = 0; i < region_count; ++i) {
      ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), stages, {&sum, 1});
      const ValueId next[] = {b.add(loop.carried[0], b.load_tile(b.ptr_add(x, loop.index), {64}))};
      sum = b.end_for(next)[0];
    }
    b.store_tile(y, sum);
    // The first load, that of each loop, what the loops expect of x, the store.
    EXPECT_EQ(accesses_at_end(b.done()), 1 + region_count + 1 + 1);
  }
}

/// What one path alone did is not forgotten where it meets the other.
TEST(LowerOrder, AccessesOfEitherBranchStandAfterBoth) {
  enum class Stores { Nowhere, Then, Otherwise };
  for (Stores stores : {Stores::Nowhere, Stores::Then, Stores::Otherwise}) {
    KernelBuilder b(4);
    ValueId x = b.pointer(Element::I32), y = b.pointer(Element::I32), z = b.pointer(Element::I32);
    ValueId value = b.load_tile(y, {256});
    b.begin_if(b.binary(Opcode::Gt, b.scalar_argument(Element::I32), b.number(0)));
    if (stores == Stores::Then)
      b.store_tile(x, value);
    b.begin_else();
    if (stores == Stores::Otherwise)
      b.store_tile(x, value);
    b.end_if({});
    b.store_tile(z, b.load_tile(b.ptr_add(x, b.number(1)), {256}));
    const bool meets = assembly(b.done()).find("s_barrier") != std::string::npos;
    EXPECT_EQ(meets, stores != Stores::Nowhere) << static_cast<int>(stores);
  }
}

} // namespace
} // namespace nereid::codegen::testing
