#include <tuple>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

void expect_error(const Error &error, Owner owner, const std::string &message, unsigned line = 0) {
  EXPECT_EQ(error.owner, owner) << error.text();
  EXPECT_NE(error.text().find(message), std::string::npos) << error.text();
  EXPECT_FALSE(error.remedy.empty()) << error.text();
  EXPECT_EQ(error.where.line, line) << error.text();
}

TEST(LowerErrors, PrintsAreLoweredBefore) {
  KernelBuilder b(1);
  b.set_location({"kernel.cpp", 4});
  const ir::ValueId values[] = {b.program_id(0)};
  b.device_print("p", values);
  expect_error(compile_error(b.done()), Owner::Nereid, "device_print has not been lowered", 4);
}

TEST(LowerErrors, WavesThatAreNoPowerOfTwo) {
  KernelBuilder b(3);
  ir::ValueId x = b.pointer(Element::F32);
  b.store_tile(x, b.load_tile(x, {64}));
  expect_error(compile_error(b.done()), Owner::User, "3 waves are no power of two");
}

TEST(LowerErrors, ATileThatTakesAllRegisters) {
  // Beyond four waves a SIMD has several of the workgroup, which share its registers.
  for (const auto &[waves, rows, available] : {std::tuple{1, 256, 512}, {4, 1024, 512}, {16, 1024, 128}}) {
    KernelBuilder b(waves);
    ir::ValueId x = b.pointer(Element::F32);
    b.set_location({"kernel.cpp", 7});
    b.store_tile(x, b.load_tile(x, {rows, 128}));
    const Error error = compile_error(b.done());
    expect_error(error, Owner::User,
                 std::to_string(available) + " vector registers a lane, which has " +
                     std::to_string(available) + " for everything",
                 7);
    EXPECT_NE(error.remedy.find("smaller tile or more waves"), std::string::npos);
  }
}

TEST(LowerErrors, WrongConstraintsOfInlineAssembly) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32);
  b.set_location({"kernel.cpp", 5});
  const ir::ValueId operands[] = {b.load_tile(x, {64})};
  b.store_tile(x, b.inline_asm(Element::F32, "v_mov_b32 $0, $1", "=v", {}, operands));
  expect_error(compile_error(b.done()), Owner::User, "constraints \"=v\" do not fit", 5);
}

TEST(LowerDebug, LinesCountTheOperations) {
  KernelBuilder b(1, "lines");
  ir::ValueId x = b.pointer(Element::F32);
  b.store_tile(x, b.unary(Opcode::Exp, b.load_tile(x, {64})));
  ir::Function function = b.done();
  unsigned load = 0, exp = 0, store = 0;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned line) {
    if (op.opcode == Opcode::Load)
      load = line;
    if (op.opcode == Opcode::Exp)
      exp = line;
    if (op.opcode == Opcode::Store)
      store = line;
  });
  std::string text = assembly(function);
  EXPECT_NE(text.find("lines.tir"), std::string::npos);
  for (unsigned line : {load, exp, store})
    EXPECT_NE(text.find(".loc\t0 " + std::to_string(line) + " "), std::string::npos) << line << "\n" << text;
}

TEST(LowerTarget, KernelsSayHowTheyAreLaunched) {
  KernelBuilder b(2, "launched");
  ir::ValueId x = b.pointer(Element::F32);
  b.store_tile(x, b.load_tile(x, {128}));
  std::string text = assembly(b.done());
  for (const char *wanted : {".max_flat_workgroup_size: 128", ".reqd_workgroup_size:",
                             ".uniform_work_group_size: 1", ".kernarg_segment_size: 8",
                             "amdhsa.target:   amdgcn-amd-amdhsa--gfx950", ".amdhsa_float_denorm_mode_32 3"})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}

} // namespace
} // namespace nereid::codegen::testing
