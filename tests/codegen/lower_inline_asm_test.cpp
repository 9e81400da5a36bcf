// Inline assembly has the wait states that its neighbours and its own text need: LLVM counts none there.
#include <cmath>

#include <gtest/gtest.h>

#include "jit/compile/compiler.h"
#include "tests/codegen/lower_harness.h"
#include "tests/codegen/run_code.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

/// Runs with the simulator's check of hazards and gives the buffers.
Result<Outcome> run_checked(const ir::Function &function, const std::vector<Argument> &arguments) {
  JitTimes times;
  NEREID_TRY(const jit::Binary binary, jit::embedded_compiler().compile(jit::lowered(function), times));
  return run_code(binary.code_object, function.options.waves, {1, 1, 1}, arguments, sim::Checks::all());
}

/// z = x as the assembler instruction `text` of it gives it.
ValueId assembled(KernelBuilder &b, const char *text, ValueId x) {
  const ValueId operands[] = {x};
  return b.inline_asm(Element::F32, text, "=v,v", {}, operands);
}

TEST(LowerInlineAsm, ReadsTheResultOfATranscendental) {
  for (Opcode opcode : {Opcode::Exp2, Opcode::Log2, Opcode::Rsqrt}) {
    KernelBuilder b(1);
    const ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    b.store_tile(z, assembled(b, "v_add_f32 $0, $1, $1", b.unary(opcode, b.load_tile(x, {256}))));
    const std::vector<float> ones(256, 1.0F);
    const Result<Outcome> ran = run_checked(b.done(), {buffer(ones), buffer(std::vector<float>(256))});
    ASSERT_TRUE(ran.ok()) << ir::facts(opcode).name << ": " << ran.error().text();
    const float expected = opcode == Opcode::Exp2 ? 4.0F : opcode == Opcode::Log2 ? 0.0F : 2.0F;
    EXPECT_EQ(ran->values<float>(1), std::vector<float>(256, expected)) << ir::facts(opcode).name;
  }
}

TEST(LowerInlineAsm, GivesATranscendentalThatTheNextInstructionReads) {
  KernelBuilder b(1);
  const ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
  const ValueId root = assembled(b, "v_sqrt_f32 $0, $1", b.load_tile(x, {64}));
  b.store_tile(z, b.add(root, root));
  const Result<Outcome> ran =
      run_checked(b.done(), {buffer(std::vector<float>(64, 4.0F)), buffer(std::vector<float>(64))});
  ASSERT_TRUE(ran.ok()) << ran.error().text();
  EXPECT_EQ(ran->values<float>(1), std::vector<float>(64, 4.0F));
}

TEST(LowerInlineAsm, ReadsTheResultOfADot) {
  KernelBuilder b(1);
  const ValueId x = b.pointer(Element::BF16), z = b.pointer(Element::F32);
  const ValueId a = b.load_tile(x, {32, 32});
  b.store_tile(z, assembled(b, "v_add_f32 $0, $1, $1", b.dot(a, a)));
  const uint16_t one = 0x3f80;
  const Result<Outcome> ran = run_checked(
      b.done(), {buffer(std::vector<uint16_t>(32 * 32, one)), buffer(std::vector<float>(32 * 32))});
  ASSERT_TRUE(ran.ok()) << ran.error().text();
  EXPECT_EQ(ran->values<float>(1), std::vector<float>(32 * 32, 64.0F));
}

} // namespace
} // namespace nereid::codegen::testing
