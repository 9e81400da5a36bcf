// How much stack lowering takes: none for the length of a chain of operations, little for the depth of
// regions.
#include <functional>

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/lower/lower.h"
#include "dsl/ir/limits.h"
#include "dsl/ir/text.h"
#include "tests/codegen/lower_harness.h"
#include "tests/support/small_stack.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

constexpr unsigned chain_length = 20'000;
#ifdef __SANITIZE_ADDRESS__
constexpr size_t frame_growth = 8;
#else
constexpr size_t frame_growth = 1;
#endif
constexpr size_t small_stack = frame_growth * 256 * 1024;

/// Lowers on a small stack, to at least so many instructions.
void expect_lowers(const ir::Function &function, unsigned instructions) {
  std::string error;
  unsigned count = 0;
  test::on_small_stack(
      [&] {
        llvm::LLVMContext context;
        const Result<LoweredKernel> lowered = lower(function, context);
        if (lowered)
          count = (*lowered).module->getInstructionCount();
        else
          error = lowered.error().text();
      },
      small_stack);
  EXPECT_EQ(error, "");
  EXPECT_GE(count, instructions);
}

/// A chain of `step`s from `value`.
ValueId chain(ValueId value, const std::function<ValueId(ValueId, unsigned)> &step) {
  for (unsigned i = 0; i < chain_length; ++i)
    value = step(value, i);
  return value;
}

/// Integer operations in turn, each with the other value as second operand.
ValueId mixed(KernelBuilder &b, ValueId value, ValueId other) {
  static constexpr Opcode opcodes[] = {Opcode::Add, Opcode::Xor, Opcode::Mul, Opcode::Sub};
  return chain(value, [&](ValueId v, unsigned i) { return b.binary(opcodes[i % 4], v, other); });
}

TEST(LowerDepth, LoadedValues) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32);
  ValueId loaded = b.load_tile(x, {64});
  b.store_tile(x, mixed(b, loaded, loaded));
  expect_lowers(b.done(), chain_length);
}

TEST(LowerDepth, ValuesThatAreMadeWhereTheyAreWanted) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  b.store_tile(x, mixed(b, b.arange(0, 64), b.broadcast(n, {64})));
  expect_lowers(b.done(), chain_length);
}

TEST(LowerDepth, BothOperandsOfEachOperationAreTheOneBefore) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32);
  b.store_tile(x, chain(b.arange(0, 64), [&](ValueId v, unsigned) { return b.binary(Opcode::Mul, v, v); }));
  expect_lowers(b.done(), chain_length);
}

TEST(LowerDepth, Masks) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
  ValueId at = b.arange(0, 64);
  ValueId other = b.binary(Opcode::Ne, at, n);
  ValueId mask = chain(b.binary(Opcode::Lt, at, n), [&](ValueId m, unsigned i) {
    return b.binary(i % 2 == 0 ? Opcode::Or : Opcode::And, m, other);
  });
  ValueId pointer = b.ptr_add(x, at);
  b.store(pointer, b.load(pointer, mask, {}, ""), mask, "");
  expect_lowers(b.done(), chain_length);
}

TEST(LowerDepth, AddressesThroughAdditions) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
  ValueId tile_of_n = b.broadcast(n, {64});
  ValueId at = chain(b.arange(0, 64), [&](ValueId v, unsigned) { return b.add(v, tile_of_n); });
  b.store(b.ptr_add(x, at), b.load_tile(x, {64}), {}, "");
  expect_lowers(b.done(), chain_length);
}

TEST(LowerDepth, PointersThroughAdditions) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
  ValueId tile_of_n = b.broadcast(n, {64});
  ValueId tile =
      chain(b.ptr_add(x, b.arange(0, 64)), [&](ValueId p, unsigned) { return b.ptr_add(p, tile_of_n); });
  ValueId scalar = chain(x, [&](ValueId p, unsigned) { return b.ptr_add(p, n); });
  b.store(tile, b.load_tile(scalar, {64}), {}, "");
  expect_lowers(b.done(), chain_length);
}

/// Transposed, added to, transposed back, ...
ValueId viewed(KernelBuilder &b, ValueId value, ValueId other) {
  return chain(value, [&](ValueId v, unsigned i) {
    switch (i % 4) {
    case 0:
      return b.permute(v, {1, 0});
    case 1:
      return b.reshape(v, {4, 16});
    case 2:
      return b.reshape(v, {16, 4});
    default:
      return b.add(b.permute(v, {1, 0}), other);
    }
  });
}

TEST(LowerDepth, ViewsOfLoadedValues) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32);
  ValueId loaded = b.load_tile(x, {4, 16});
  b.store_tile(x, viewed(b, loaded, loaded));
  expect_lowers(b.done(), chain_length / 4);
}

TEST(LowerDepth, ViewsAloneKeepALoadedTileAsItIs) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32);
  ValueId permuted =
      chain(b.load_tile(x, {16, 16}), [&](ValueId v, unsigned) { return b.permute(v, {1, 0}); });
  b.store(b.ptr_add(x, b.arange(0, 16)), b.reduce(Opcode::ReduceMax, permuted, 1, false), {}, "");
  expect_lowers(b.done(), 1);
}

TEST(LowerDepth, ViewsInAddresses) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ValueId at = viewed(b, b.offsets({4, 16}), b.broadcast(n, {4, 16}));
  b.store(b.ptr_add(x, at), b.load_tile(x, {4, 16}), {}, "");
  expect_lowers(b.done(), chain_length / 4);
}

TEST(LowerDepth, AssumptionsOfManyParts) {
  KernelBuilder b(1);
  ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
  b.assume(chain(b.binary(Opcode::Gt, n, b.number(0)), [&](ValueId all, unsigned i) {
    return b.binary(Opcode::And, all, b.binary(Opcode::Lt, n, b.number(1'000'000 + i)));
  }));
  b.store_tile(x, b.load_tile(b.ptr_add(x, n), {64}));
  expect_lowers(b.done(), chain_length);
}

/// A loop over `stages` iterations at once whose body is one long chain: of what is loaded, of its address
/// and of its mask.
TEST(LowerDepth, BodiesOfLoops) {
  for (int stages : {1, 2}) {
    KernelBuilder b(1);
    ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
    ValueId tile_of_n = b.broadcast(n, {64}), other = b.binary(Opcode::Ne, b.arange(0, 64), n);
    const ValueId inits[] = {b.integer(Element::I32, 0, {64})};
    ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), stages, inits);
    ValueId start = b.add(b.arange(0, 64), loop.index);
    ValueId at = chain(start, [&](ValueId v, unsigned) { return b.add(v, tile_of_n); });
    ValueId mask = chain(b.binary(Opcode::Lt, start, n),
                         [&](ValueId m, unsigned) { return b.binary(Opcode::And, m, other); });
    ValueId loaded = b.load(b.ptr_add(x, at), mask, {}, "");
    const ValueId next[] = {b.add(loop.carried[0], mixed(b, loaded, loaded))};
    b.store_tile(x, b.end_for(next)[0]);
    expect_lowers(b.done(), 3 * chain_length);
  }
}

TEST(LowerDepth, RegionsToTheLimitOfNesting) {
  for (bool loops : {true, false}) {
    KernelBuilder b(1);
    ValueId x = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
    for (unsigned depth = 0; depth < ir::max_nesting; ++depth)
      if (loops)
        b.begin_for(b.number(0), n, b.number(1), 1, {});
      else
        b.begin_if(b.binary(Opcode::Gt, n, b.number(depth)));
    b.store_tile(x, b.load_tile(x, {64}));
    for (unsigned depth = 0; depth < ir::max_nesting; ++depth) {
      if (loops) {
        b.end_for({});
        continue;
      }
      b.begin_else();
      b.end_if({});
    }
    expect_lowers(b.done(), ir::max_nesting);
  }
}

} // namespace
} // namespace nereid::codegen::testing
