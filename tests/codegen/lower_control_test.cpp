#include <cmath>

#include <gtest/gtest.h>

#include "dsl/interpreter/numbers.h"
#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

TEST(LowerControl, LoopsCarryTilesOfEveryWidth) {
  for (int waves : {1, 4})
    for (Element element : {Element::U8, Element::BF16, Element::F32, Element::I64}) {
      KernelBuilder b(waves);
      ir::ValueId x = b.pointer(element), z = b.pointer(element), n = b.scalar_argument(Element::I32);
      ir::ValueId i = b.arange(0, 256);
      const ir::ValueId inits[] = {b.constant(ir::Type::tile(element, {256}), 0)};
      ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, inits);
      ir::ValueId at = b.add(b.mul(loop.index, b.number(256)), i);
      const ir::ValueId next[] = {b.add(loop.carried[0], b.load(b.ptr_add(x, at), {}, {}, ""))};
      std::vector<ir::ValueId> results = b.end_for(next);
      b.store_tile(z, results[0]);
      ir::Function function = b.done();
      Random random(3);
      std::vector<uint8_t> data = random.bits<uint8_t>(5 * 256 * ir::byte_size(element));
      std::vector<FloatBuffer> floats;
      if (ir::is_float(element)) {
        data = std::vector<uint8_t>(data.size(), 0x3f);
        floats = {{1, element, 0}};
      }
      for (int iterations : {0, 1, 5})
        expect_same(function, {1, 1, 1},
                    {buffer(data), {Bytes(256 * ir::byte_size(element))}, i32(iterations)}, floats);
    }
}

TEST(LowerControl, LoopsCarryPointers) {
  KernelBuilder b(2);
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ir::ValueId i = b.arange(0, 256);
  const ir::ValueId inits[] = {b.ptr_add(x, i), b.ptr_add(z, i)};
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, inits);
  ir::ValueId value = b.load(loop.carried[0], {}, {}, "");
  b.store(loop.carried[1], b.add(value, value), {}, "");
  const ir::ValueId next[] = {b.ptr_add(loop.carried[0], b.number(256)),
                              b.ptr_add(loop.carried[1], b.number(256))};
  b.end_for(next);
  Random random(4);
  expect_same(b.done(), {1, 1, 1},
              {buffer(random.bits<uint32_t>(5 * 256)), buffer(std::vector<uint32_t>(5 * 256)), i32(5)});
}

TEST(LowerControl, NestedLoopsAndBranches) {
  KernelBuilder b(1);
  ir::ValueId z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32),
              m = b.scalar_argument(Element::I32);
  const ir::ValueId zero[] = {b.number(0)};
  ir::Builder::Loop outer = b.begin_for(b.number(0), n, b.number(1), 1, zero);
  ir::Builder::Loop inner = b.begin_for(b.number(0), m, b.number(2), 1, outer.carried);
  ir::ValueId third = b.binary(Opcode::Rem, b.add(outer.index, inner.index), b.number(3));
  b.begin_if(b.binary(Opcode::Eq, third, b.number(0)));
  ir::ValueId then = b.add(inner.carried[0], b.mul(outer.index, inner.index));
  b.begin_else();
  ir::ValueId otherwise = b.binary(Opcode::Sub, inner.carried[0], b.number(1));
  const std::pair<ir::ValueId, ir::ValueId> merged[] = {{then, otherwise}};
  std::vector<ir::ValueId> of_inner = b.end_if(merged);
  std::vector<ir::ValueId> of_outer = b.end_for(of_inner);
  std::vector<ir::ValueId> sum = b.end_for(of_outer);
  b.store(z, sum[0], {}, "");
  expect_same(b.done(), {1, 1, 1}, {buffer(std::vector<int32_t>(1)), i32(7), i32(9)});
}

TEST(LowerControl, BranchesOnLoadedScalarsWithEffectsAndReductions) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ir::ValueId flag = b.pointer(Element::I32), x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    b.begin_if(b.binary(Opcode::Gt, b.load(flag, {}, {}, ""), b.number(0)));
    ir::ValueId largest = b.reduce(Opcode::ReduceMax, b.load_tile(x, {256}), 0, false);
    b.store_tile(z, b.broadcast(largest, {256}));
    b.begin_else();
    b.end_if({});
    ir::Function function = b.done();
    Random random(6);
    for (int value : {0, 1})
      expect_same(function, {1, 1, 1},
                  {buffer(std::vector<int32_t>{value}), buffer(random.normals(256)),
                   buffer(std::vector<float>(256))});
  }
}

TEST(LowerControl, RoundsSeeWhatEarlierRoundsStored) {
  for (int waves : {1, 4}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::F32), n = b.scalar_argument(Element::I32);
    ir::ValueId offsets = b.offsets({32, 32});
    b.begin_for(b.number(0), n, b.number(1), 1, {});
    ir::ValueId turned = b.load(b.ptr_add(x, b.permute(offsets, {1, 0})), {}, {}, "");
    b.store(b.ptr_add(x, offsets), b.add(turned, b.constant(ir::Type::scalar(Element::F32), 0x3f800000)), {},
            "");
    b.end_for({});
    Random random(7);
    expect_same(b.done(), {1, 1, 1}, {buffer(random.normals(1024)), i32(3)});
  }
}

TEST(LowerControl, ALoopThatDoesNotRunOrdersNothing) {
  // The loop's barriers are none where it has no rounds: the store before it still has to be seen.
  KernelBuilder b(4);
  ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ir::ValueId i = b.arange(0, 1024), turned = b.binary(Opcode::Sub, b.number(1023), i);
  b.store_tile(x, i);
  b.begin_for(b.number(0), n, b.number(1), 1, {});
  b.store(b.ptr_add(z, i), b.load(b.ptr_add(x, turned), {}, {}, ""), {}, "");
  b.store(b.ptr_add(z, turned), i, {}, "");
  b.end_for({});
  b.store(b.ptr_add(z, i), b.load(b.ptr_add(x, turned), {}, {}, ""), {}, "");
  ir::Function function = b.done();
  const std::string text = assembly(function);
  size_t barriers = 0;
  for (size_t at = text.find("s_barrier"); at != std::string::npos; at = text.find("s_barrier", at + 1))
    ++barriers;
  EXPECT_GE(barriers, 3u);
  for (int iterations : {0, 2})
    expect_same(function, {1, 1, 1},
                {buffer(std::vector<uint32_t>(1024)), buffer(std::vector<uint32_t>(1024)), i32(iterations)});
}

TEST(LowerControl, ResultsOfManyPackedElementsMeet) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::U8), z = b.pointer(Element::U8), n = b.scalar_argument(Element::I32);
  ir::ValueId p = b.load_tile(x, {256});
  b.begin_if(b.binary(Opcode::Lt, n, b.number(1)));
  ir::ValueId sum = b.add(p, p), product = b.mul(p, p);
  b.begin_else();
  const std::pair<ir::ValueId, ir::ValueId> yields[] = {{sum, p}, {product, p}};
  std::vector<ir::ValueId> merged = b.end_if(yields);
  ir::Builder::Loop loop = b.begin_for(b.number(0), n, b.number(1), 1, merged);
  const ir::ValueId next[] = {b.add(loop.carried[0], loop.carried[1]),
                              b.binary(Opcode::Xor, loop.carried[0], loop.carried[1])};
  std::vector<ir::ValueId> results = b.end_for(next);
  b.store_tile(z, b.binary(Opcode::Sub, results[0], results[1]));
  ir::Function function = b.done();
  Random random(5);
  for (int iterations : {0, 3})
    expect_same(function, {1, 1, 1},
                {buffer(random.bits<uint8_t>(256)), buffer(std::vector<uint8_t>(256)), i32(iterations)});
}

TEST(LowerControl, LongIndices) {
  KernelBuilder b(1);
  ir::ValueId z = b.pointer(Element::I64), n = b.scalar_argument(Element::I64);
  const ir::ValueId zero[] = {b.integer(Element::I64, 0)};
  ir::Builder::Loop loop = b.begin_for(b.integer(Element::I64, -4), n, b.integer(Element::I64, 3), 1, zero);
  const ir::ValueId next[] = {b.add(loop.carried[0], loop.index)};
  b.store(z, b.end_for(next)[0], {}, "");
  expect_same(b.done(), {1, 1, 1}, {buffer(std::vector<int64_t>(1)), i64(100)});
}

TEST(LowerControl, AtomicsInEveryOrderAndScope) {
  for (int waves : {1, 4})
    for (const char *order : {"relaxed", "acquire", "release", "acq_rel"})
      for (const char *scope : {"workgroup", "device"}) {
        KernelBuilder b(waves);
        ir::ValueId x = b.pointer(Element::I32), z = b.pointer(Element::I32), c = b.pointer(Element::I32),
                    w = b.pointer(Element::I32);
        ir::ValueId i = b.arange(0, 128);
        const ir::ValueId one[] = {b.integer(Element::I32, 3, {128})};
        b.store_tile(z, b.atomic(Opcode::AtomicAdd, b.ptr_add(x, i), one, {}, order, scope));
        const ir::ValueId scalar[] = {b.number(5)};
        ir::ValueId old = b.atomic(Opcode::AtomicAdd, c, scalar, {}, order, scope);
        b.store(b.ptr_add(w, b.add(b.mul(b.program_id(0), b.number(64)), b.arange(0, 64))),
                b.broadcast(old, {64}), {}, "");
        Random random(8);
        expect_same(b.done(), {1, 1, 1},
                    {buffer(random.bits<uint32_t>(128)), buffer(std::vector<int32_t>(128)),
                     buffer(std::vector<int32_t>{40}), buffer(std::vector<int32_t>(64))});
      }
}

TEST(LowerControl, AtomicFamiliesUnderMasks) {
  for (int waves : {1, 2})
    for (Element element : {Element::I32, Element::U32}) {
      KernelBuilder b(waves);
      ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element);
      ir::ValueId i = b.arange(0, 64);
      ir::ValueId mask = b.binary(Opcode::Lt, i, b.number(50));
      ir::ValueId value = b.load_tile(y, {64});
      const ir::ValueId values[] = {value};
      b.store(b.ptr_add(z, i),
              b.atomic(Opcode::AtomicMax, b.ptr_add(x, i), values, mask, "relaxed", "device"), mask, "");
      ir::ValueId swapped =
          b.atomic(Opcode::AtomicExchange, b.ptr_add(x, i), values, mask, "relaxed", "device");
      b.store(b.ptr_add(z, b.arange(64, 128)), swapped, mask, "");
      const ir::ValueId pair[] = {value, b.integer(element, 9, {64})};
      ir::ValueId found =
          b.atomic(Opcode::AtomicCompareExchange, b.ptr_add(x, i), pair, mask, "acq_rel", "device");
      b.store(b.ptr_add(z, b.arange(128, 192)), found, mask, "");
      Random random(9);
      expect_same(b.done(), {1, 1, 1},
                  {buffer(random.bits<uint32_t>(64)), buffer(random.bits<uint32_t>(64)),
                   buffer(std::vector<uint32_t>(192, 77))});
    }
}

TEST(LowerControl, AtomicsOfOneValueChangeMemoryAsTheInterpreterDoes) {
  for (Element element : {Element::I32, Element::U32, Element::I64, Element::U64})
    for (int waves : {1, 4}) {
      KernelBuilder b(waves);
      ir::ValueId x = b.pointer(element), y = b.pointer(element), z = b.pointer(element);
      const ir::ValueId i = b.arange(0, 64);
      const ir::ValueId mask = b.binary(Opcode::Ne, i, b.number(7));
      const ir::ValueId values[] = {b.load_tile(y, {64})};
      int64_t first = 0;
      for (Opcode opcode : {Opcode::AtomicMin, Opcode::AtomicAnd, Opcode::AtomicOr, Opcode::AtomicXor,
                            Opcode::AtomicMax, Opcode::AtomicAdd}) {
        const ir::ValueId at = b.ptr_add(x, b.add(i, b.number(first)));
        const ir::ValueId old = b.atomic(opcode, at, values, mask, "relaxed", "device");
        b.store(b.ptr_add(z, b.add(i, b.number(first))), old, {}, "");
        first += 64;
      }
      Random random(13);
      if (ir::facts(element).bits == 32)
        expect_same(b.done(), {1, 1, 1},
                    {buffer(random.bits<uint32_t>(384)), buffer(random.bits<uint32_t>(64)),
                     buffer(std::vector<uint32_t>(384))});
      else
        expect_same(b.done(), {1, 1, 1},
                    {buffer(random.bits<uint64_t>(384)), buffer(random.bits<uint64_t>(64)),
                     buffer(std::vector<uint64_t>(384))});
    }
}

/// Pairs that lie in one dword take one instruction, others a loop; the results are the same.
TEST(LowerControl, NarrowFloatsAreAddedInPairsWhereTheyAreAligned) {
  for (Element element : {Element::F16, Element::BF16})
    for (int64_t divisibility : {2, 16})
      for (bool masked : {false, true}) {
        KernelBuilder b(2);
        const bool in_pairs = divisibility == 16 && !masked;
        ir::ValueId x = b.pointer(element, divisibility), y = b.pointer(element), z = b.pointer(element);
        const ir::ValueId i = b.offsets({6, 64});
        const ir::ValueId values[] = {b.load_tile(y, {6, 64})};
        std::optional<ir::ValueId> mask;
        if (masked)
          mask = b.binary(Opcode::Lt, i, b.number(333));
        b.store(b.ptr_add(z, i),
                b.atomic(Opcode::AtomicAdd, b.ptr_add(x, i), values, mask, "relaxed", "device"), {}, "");
        const ir::Function function = b.done();
        const std::string name =
            element == Element::F16 ? "global_atomic_pk_add_f16" : "global_atomic_pk_add_bf16";
        EXPECT_EQ(assembly(function).find(name) != std::string::npos, in_pairs);
        Random random(15);
        const auto data = [&] {
          std::vector<uint16_t> bits;
          for (float value : random.normals(384))
            bits.push_back(element == Element::F16 ? interpreter::f16_bits(value)
                                                   : interpreter::bf16_bits(value));
          return buffer(bits);
        };
        const Argument old = data(), added = data();
        expect_same(function, {1, 1, 1}, {old, added, buffer(std::vector<uint16_t>(384))});
      }
}

TEST(LowerControl, FloatMinimaAreAtomic) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32), y = b.pointer(Element::F32);
  const ir::ValueId values[] = {b.load_tile(y, {64})};
  b.atomic(Opcode::AtomicMin, b.ptr_add(x, b.arange(0, 64)), values, {}, "relaxed", "device");
  Random random(14);
  std::vector<float> old = random.normals(64), given = random.normals(64);
  old[0] = NAN;
  given[1] = NAN;
  old[2] = 0.0F;
  given[2] = -0.0F;
  expect_same(b.done(), {1, 1, 1}, {buffer(old), buffer(given)}, {{0, Element::F32}});
}

TEST(LowerControl, FloatAtomicsAreOneInstruction) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
  const ir::ValueId values[] = {b.load_tile(z, {64})};
  b.atomic(Opcode::AtomicAdd, b.ptr_add(x, b.arange(0, 64)), values, {}, "relaxed", "device");
  std::string text = assembly(b.done());
  EXPECT_NE(text.find("global_atomic_add_f32"), std::string::npos);
  EXPECT_EQ(text.find("cmpswap"), std::string::npos);
}

TEST(LowerControl, AssertionsTrapOnTheirLine) {
  KernelBuilder b(1);
  ir::ValueId z = b.pointer(Element::I32), n = b.scalar_argument(Element::I32);
  ir::ValueId i = b.arange(0, 64);
  b.assume(b.binary(Opcode::Ge, n, b.number(0)));
  b.device_assert(b.binary(Opcode::Lt, i, n), "too long");
  b.store_tile(z, i);
  ir::Function function = b.done();
  expect_same(function, {1, 1, 1}, {buffer(std::vector<int32_t>(64)), i32(64)});
  Result<Outcome> failed = run_compiled(function, {1, 1, 1}, {buffer(std::vector<int32_t>(64)), i32(63)});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().owner, Owner::Device);
}

} // namespace
} // namespace nereid::codegen::testing
