#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

/// z = x + y over `n` elements, masked, `block` a program.
std::string add_kernel(const char *element, int block, int waves, int divisibility) {
  return fmt::format(R"(
kernel @add(%0: ptr<{0}> {{read_only, divisibility = 16}}, %1: ptr<{0}> {{read_only, divisibility = 16}}, %2: ptr<{0}> {{divisibility = 16}}, %3: i32 {{divisibility = {3}}}) options {{waves = {2}, mfma = 16, waves_per_eu = 0}} {{
  %4 = program_id {{axis = 0}} : i32
  %5 = constant {{bits = {1}}} : i32
  %6 = mul %4, %5 : i32
  %7 = arange {{start = 0}} : i32[{1}]
  %8 = broadcast %6 : i32[{1}]
  %9 = add %8, %7 : i32[{1}]
  %10 = broadcast %3 : i32[{1}]
  %11 = lt %9, %10 : i1[{1}]
  %12 = broadcast %0 : ptr<{0}>[{1}]
  %13 = ptr_add %12, %9 : ptr<{0}>[{1}]
  %14 = load %13, %11 : {0}[{1}]
  %15 = broadcast %1 : ptr<{0}>[{1}]
  %16 = ptr_add %15, %9 : ptr<{0}>[{1}]
  %17 = load %16, %11 : {0}[{1}]
  %18 = add %14, %17 : {0}[{1}]
  %19 = broadcast %2 : ptr<{0}>[{1}]
  %20 = ptr_add %19, %9 : ptr<{0}>[{1}]
  store %20, %18, %11
}})",
                     element, block, waves, divisibility);
}

TEST(LowerMemory, VectorAdd) {
  Random random(1);
  for (int waves : {1, 4})
    for (int n : {1, 64, 1000, 1024, 3000}) {
      std::vector<float> x = random.normals(n), y = random.normals(n), z(n, -1.0f);
      expect_same(add_kernel("f32", 1024, waves, n % 16 == 0 ? 16 : 1),
                  {static_cast<uint32_t>(n + 1023) / 1024, 1, 1}, {buffer(x), buffer(y), buffer(z), i32(n)},
                  {{2, ir::Element::F32}});
    }
}

TEST(LowerMemory, EveryElementTypeMovesWhole) {
  Random random(2);
  auto run = [&](const char *element, auto zero) {
    using T = decltype(zero);
    for (int n : {256, 250}) {
      std::vector<T> x = random.bits<T>(n), y = random.bits<T>(n), z(n, T(7));
      expect_same(add_kernel(element, 128, 2, n % 16 == 0 ? 16 : 1), {2, 1, 1},
                  {buffer(x), buffer(y), buffer(z), i32(n)});
    }
  };
  run("i8", uint8_t());
  run("u8", uint8_t());
  run("i16", uint16_t());
  run("u16", uint16_t());
  run("i32", uint32_t());
  run("u32", uint32_t());
  run("i64", uint64_t());
  run("u64", uint64_t());
}

} // namespace
} // namespace nereid::codegen::testing
