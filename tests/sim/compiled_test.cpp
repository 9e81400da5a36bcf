// Kernels that LLVM compiled from IR: arithmetic that expands to many instructions, against the host.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// A kernel out[i] = f(a[i], b[i]) of one block of 256 work-items; `body` computes %r from %x and %y.
std::string kernel_of(const std::string &type, const std::string &result, const std::string &body,
                      const std::string &declarations = "") {
  return fmt::format(R"(
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
{3}
define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out) #0 {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr {0}, ptr addrspace(1) %a, i32 %t
  %pb = getelementptr {0}, ptr addrspace(1) %b, i32 %t
  %x = load {0}, ptr addrspace(1) %pa
  %y = load {0}, ptr addrspace(1) %pb
{2}
  %po = getelementptr {1}, ptr addrspace(1) %out, i32 %t
  store {1} %r, ptr addrspace(1) %po
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="256,256" }}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 600}}
)",
                     type, result, body, declarations);
}

template <class T, class R>
void expect_compiled(const std::string &ir, const std::vector<T> &a, const std::vector<T> &b,
                     R (*expected)(T, T)) {
  CodeObject code = load(compile_ir(ir));
  Memory memory;
  uint64_t pa = *memory.allocate(256 * sizeof(T)), pb = *memory.allocate(256 * sizeof(T)),
           out = *memory.allocate(256 * sizeof(R));
  ASSERT_TRUE(memory.write(pa, a.data(), 256 * sizeof(T)).ok());
  ASSERT_TRUE(memory.write(pb, b.data(), 256 * sizeof(T)).ok());
  TestRun run("s_nop 0");
  run.code = code;
  run.argument(pa).argument(pb).argument(out);
  run.launch.block = {256, 1, 1};
  Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  std::vector<R> results(256);
  ASSERT_TRUE(memory.read(out, results.data(), 256 * sizeof(R)).ok());
  for (unsigned i = 0; i < 256; ++i) {
    R want = expected(a[i], b[i]);
    bool nan = want != want && results[i] != results[i];
    EXPECT_TRUE(nan || std::memcmp(&want, &results[i], sizeof(R)) == 0)
        << fmt::format("f({}, {}) = {}, expected {}", a[i], b[i], results[i], want);
  }
}

template <class T> std::vector<T> floats(unsigned seed) {
  const T special[] = {T(0),
                       T(-0.0),
                       T(1),
                       T(-3),
                       T(0.1),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::denorm_min(),
                       INFINITY,
                       -INFINITY,
                       T(NAN),
                       std::numeric_limits<T>::min() / 8,
                       T(7),
                       -std::numeric_limits<T>::max() / 3};
  std::mt19937_64 random(seed);
  std::vector<T> result(256);
  int range = std::numeric_limits<T>::max_exponent;
  for (T &value : result) {
    int exponent = static_cast<int>(random() % (2 * static_cast<unsigned>(range))) - range;
    value = random() % 3 ? std::ldexp(T(1) + T(random() >> 11) * T(0x1p-53), exponent)
                         : special[random() % std::size(special)];
    if (random() % 2)
      value = -value;
  }
  return result;
}
template <class T> std::vector<T> integers(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result(256);
  for (T &value : result)
    value = static_cast<T>(random() >> random() % 60) | 1;
  return result;
}

TEST(Compiled, FloatDivisionIsCorrectlyRounded) {
  for (unsigned seed = 1; seed < 4; ++seed) {
    expect_compiled<float, float>(kernel_of("float", "float", "  %r = fdiv float %x, %y"),
                                  floats<float>(seed), floats<float>(seed + 10),
                                  [](float x, float y) { return x / y; });
    expect_compiled<double, double>(kernel_of("double", "double", "  %r = fdiv double %x, %y"),
                                    floats<double>(seed), floats<double>(seed + 10),
                                    [](double x, double y) { return x / y; });
  }
}

TEST(Compiled, SquareRootsAreCorrectlyRounded) {
  expect_compiled<float, float>(kernel_of("float", "float", "  %r = call float @llvm.sqrt.f32(float %x)",
                                          "declare float @llvm.sqrt.f32(float)"),
                                floats<float>(5), floats<float>(6),
                                [](float x, float) { return std::sqrt(x); });
  expect_compiled<double, double>(
      kernel_of("double", "double", "  %r = call double @llvm.sqrt.f64(double %x)",
                "declare double @llvm.sqrt.f64(double)"),
      floats<double>(5), floats<double>(6), [](double x, double) { return std::sqrt(x); });
}

TEST(Compiled, IntegerDivision) {
  expect_compiled<int32_t, int32_t>(kernel_of("i32", "i32",
                                              "  %q = sdiv i32 %x, %y\n  %m = srem i32 %x, 7\n"
                                              "  %r = add i32 %q, %m"),
                                    integers<int32_t>(1), integers<int32_t>(2), [](int32_t x, int32_t y) {
                                      return static_cast<int32_t>(static_cast<uint32_t>(x / y) +
                                                                  static_cast<uint32_t>(x % 7));
                                    });
  expect_compiled<uint64_t, uint64_t>(kernel_of("i64", "i64",
                                                "  %q = udiv i64 %x, %y\n  %m = urem i64 %x, %y\n"
                                                "  %r = xor i64 %q, %m"),
                                      integers<uint64_t>(3), integers<uint64_t>(4),
                                      [](uint64_t x, uint64_t y) { return x / y ^ x % y; });
}

TEST(Compiled, ConversionsBetweenWideTypes) {
  expect_compiled<int64_t, float>(kernel_of("i64", "float", "  %r = sitofp i64 %x to float"),
                                  integers<int64_t>(5), integers<int64_t>(6),
                                  [](int64_t x, int64_t) { return static_cast<float>(x); });
  expect_compiled<int64_t, double>(
      kernel_of("i64", "double", "  %r = uitofp i64 %x to double"), integers<int64_t>(7),
      integers<int64_t>(8), [](int64_t x, int64_t) { return static_cast<double>(static_cast<uint64_t>(x)); });
}

TEST(Compiled, DivergentLoops) {
  // Steps of the Collatz sequence: each lane leaves after its own count.
  std::vector<int32_t> starts(256);
  for (int i = 0; i < 256; ++i)
    starts[i] = i + 1;
  expect_compiled<int32_t, int32_t>(R"(
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %t
  %x = load i32, ptr addrspace(1) %pa
  br label %loop
loop:
  %v = phi i32 [ %x, %entry ], [ %next, %body ]
  %n = phi i32 [ 0, %entry ], [ %n1, %body ]
  %done = icmp eq i32 %v, 1
  br i1 %done, label %end, label %body
body:
  %odd = and i32 %v, 1
  %is = icmp ne i32 %odd, 0
  %half = lshr i32 %v, 1
  %three = mul i32 %v, 3
  %up = add i32 %three, 1
  %next = select i1 %is, i32 %up, i32 %half
  %n1 = add i32 %n, 1
  br label %loop
end:
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %n, ptr addrspace(1) %po
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)",
                                    starts, starts, [](int32_t x, int32_t) {
                                      int32_t n = 0;
                                      for (; x != 1; ++n)
                                        x = x % 2 ? 3 * x + 1 : x / 2;
                                      return n;
                                    });
}

TEST(Compiled, ConstantTablesCallsAndScratch) {
  expect_compiled<int32_t, int32_t>(
      R"(
target triple = "amdgcn-amd-amdhsa"
@table = internal addrspace(4) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44]
declare i32 @llvm.amdgcn.workitem.id.x()
define internal i32 @look(i32 %i) noinline {
  %p = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %p
  ret i32 %v
}
define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %s = alloca [8 x i32], addrspace(5)
  %i = and i32 %t, 7
  %ps = getelementptr [8 x i32], ptr addrspace(5) %s, i32 0, i32 %i
  store volatile i32 5, ptr addrspace(5) %s
  store volatile i32 %t, ptr addrspace(5) %ps
  %l = load volatile i32, ptr addrspace(5) %ps
  %j = and i32 %t, 3
  %v = call i32 @look(i32 %j)
  %r = add i32 %l, %v
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %r, ptr addrspace(1) %po
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)",
      [] {
        std::vector<int32_t> numbers(256);
        for (int i = 0; i < 256; ++i)
          numbers[i] = i;
        return numbers;
      }(),
      std::vector<int32_t>(256), [](int32_t x, int32_t) { return x + 11 * (x % 4 + 1); });
}

TEST(Compiled, HiddenArgumentsDescribeTheLaunch) {
  CodeObject code = load(compile_ir(R"(
target triple = "amdgcn-amd-amdhsa"
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %i = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %i
  store i32 %blocks, ptr addrspace(1) %out
  %p1 = getelementptr i8, ptr addrspace(4) %i, i32 12
  %size = load i16, ptr addrspace(4) %p1
  %wide = zext i16 %size to i32
  %o1 = getelementptr i32, ptr addrspace(1) %out, i32 1
  store i32 %wide, ptr addrspace(1) %o1
  %p2 = getelementptr i8, ptr addrspace(4) %i, i32 64
  %dims = load i16, ptr addrspace(4) %p2
  %wide2 = zext i16 %dims to i32
  %o2 = getelementptr i32, ptr addrspace(1) %out, i32 2
  store i32 %wide2, ptr addrspace(1) %o2
  %d = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %p3 = getelementptr i8, ptr addrspace(4) %d, i32 12
  %grid = load i32, ptr addrspace(4) %p3
  %o3 = getelementptr i32, ptr addrspace(1) %out, i32 3
  store i32 %grid, ptr addrspace(1) %o3
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)"));
  TestRun run("s_nop 0");
  run.code = code;
  Memory memory;
  uint64_t out = *memory.allocate(16);
  run.argument(out);
  run.launch.grid = {3, 2, 1};
  run.launch.block = {64, 1, 1};
  Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  uint32_t words[4];
  ASSERT_TRUE(memory.read(out, words, 16).ok());
  EXPECT_EQ(words[0], 3u);
  EXPECT_EQ(words[1], 64u);
  EXPECT_EQ(words[2], 2u);
  EXPECT_EQ(words[3], 192u);
}

} // namespace
} // namespace nereid::sim::test
