#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

TEST(Machine, AddsVectorsCompiledFromIr) {
  CodeObject code = load(compile_ir(R"(
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @add(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %n) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %g = call i32 @llvm.amdgcn.workgroup.id.x()
  %s = mul i32 %g, 128
  %i = add i32 %s, %t
  %in = icmp ult i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %i
  %pb = getelementptr i32, ptr addrspace(1) %b, i32 %i
  %pc = getelementptr i32, ptr addrspace(1) %c, i32 %i
  %x = load i32, ptr addrspace(1) %pa
  %y = load i32, ptr addrspace(1) %pb
  %z = add i32 %x, %y
  store i32 %z, ptr addrspace(1) %pc
  br label %end
end:
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)"));
  constexpr unsigned n = 1000;
  std::vector<uint32_t> a(n), b(n), c(n);
  std::iota(a.begin(), a.end(), 5u);
  std::iota(b.begin(), b.end(), 0xFFFFFF00u);
  Memory memory;
  uint64_t pa = *memory.allocate(4 * n), pb = *memory.allocate(4 * n), pc = *memory.allocate(4 * n);
  ASSERT_TRUE(memory.write(pa, a.data(), 4 * n).ok());
  ASSERT_TRUE(memory.write(pb, b.data(), 4 * n).ok());
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {128, 1, 1};
  launch.kernarg.resize(28);
  for (unsigned k = 0; k < 3; ++k)
    std::memcpy(launch.kernarg.data() + 8 * k, k == 0 ? &pa : k == 1 ? &pb : &pc, 8);
  std::memcpy(launch.kernarg.data() + 24, &n, 4);
  auto report = run(code, memory, launch);
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_FALSE(report->fault) << report->fault->error().text();
  ASSERT_TRUE(memory.read(pc, c.data(), 4 * n).ok());
  for (unsigned i = 0; i < n; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
  EXPECT_EQ(report->waves, 16u);
  EXPECT_EQ(report->counts.vmem_load, 32u);
  EXPECT_EQ(report->counts.vmem_store, 16u);
}

} // namespace
} // namespace nereid::sim::test
