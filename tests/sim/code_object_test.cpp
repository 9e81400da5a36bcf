#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "sim/decode/program.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

void put(std::vector<std::byte> &file, size_t at, uint32_t value, size_t size) {
  std::memcpy(file.data() + at, &value, size);
}

TEST(CodeObject, DescribesItsKernel) {
  KernelOptions options;
  options.lds_size = 512;
  options.scratch_size = 16;
  CodeObject code = load(assemble("s_nop 0", options));
  ASSERT_EQ(code.kernels().size(), 1u);
  const KernelInfo &kernel = code.kernels().front();
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.kernarg_size, 64u);
  EXPECT_EQ(kernel.lds_size, 512u);
  EXPECT_EQ(kernel.scratch_size, 16u);
  EXPECT_EQ(kernel.vgpr_count, 192u);
  EXPECT_EQ(kernel.agpr_count, 64u);
  EXPECT_EQ(kernel.max_workgroup_size, 1024u);
  ASSERT_EQ(kernel.arguments.size(), 1u);
  EXPECT_EQ(kernel.arguments[0].name, "p");
  EXPECT_EQ(kernel.arguments[0].value_kind, "global_buffer");
  EXPECT_EQ(kernel.explicit_size(), 8u);
  EXPECT_TRUE(code.kernel("").ok());
  auto missing = code.kernel("other");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "there is no kernel 'other' in the code object");
  EXPECT_EQ(missing.error().remedy, "kernels: k");
}

TEST(CodeObject, RefusesOtherFiles) {
  EXPECT_NE(refusal({}).find("not an ELF file"), std::string::npos);
  EXPECT_NE(refusal(std::vector<std::byte>(100)).find("not an ELF file"), std::string::npos);
  std::vector<std::byte> good = assemble("s_nop 0");
  auto machine = good;
  put(machine, 18, 62, 2); // x86-64
  EXPECT_NE(refusal(machine).find("not AMDGPU"), std::string::npos);
  auto isa = good;
  put(isa, 48, 0x54C, 4); // gfx942
  EXPECT_NE(refusal(isa).find("another ISA than gfx950"), std::string::npos);
  auto relocatable = good;
  put(relocatable, 16, 1, 2);
  EXPECT_NE(refusal(relocatable).find("not linked"), std::string::npos);
  auto system = good;
  put(system, 7, 0, 1);
  EXPECT_NE(refusal(system).find("amdhsa"), std::string::npos);
}

TEST(CodeObject, RefusesEveryTruncation) {
  std::vector<std::byte> good = assemble("s_nop 0");
  for (size_t size = 0; size < good.size(); size += 37)
    EXPECT_FALSE(CodeObject::load(std::span(good).first(size)).ok()) << size;
}

TEST(CodeObject, SurvivesDamage) {
  std::vector<std::byte> good = assemble("v_add_u32 v1, v0, v0\ns_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                         "s_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v1, s[4:5]");
  std::mt19937 random(11);
  Memory memory;
  unsigned ran = 0;
  for (unsigned round = 0; round < 300; ++round) {
    auto file = good;
    for (unsigned k = 0; k <= round % 4; ++k)
      file[random() % file.size()] = static_cast<std::byte>(random());
    auto code = CodeObject::load(file);
    if (!code.ok() || code->kernels().empty())
      continue;
    Launch launch;
    launch.kernel = code->kernels().front().name;
    launch.block = {64, 1, 1};
    launch.instruction_budget = 10000;
    launch.threads = 1;
    auto report = run(*code, memory, launch);
    ran += report.ok();
  }
  EXPECT_GT(ran, 0u); // bytes that nobody reads were hit as well
}

/// The fault of a kernel that traps in line 42, with debug information of that version.
Fault trap_with_lines(unsigned dwarf_version) {
  TestRun run("s_nop 0");
  run.code = load(compile_ir(R"(
target triple = "amdgcn-amd-amdhsa"
declare void @llvm.trap()
define amdgpu_kernel void @k(i32 %n) !dbg !4 {
  %low = icmp slt i32 %n, 10, !dbg !7
  br i1 %low, label %fail, label %end, !dbg !7
fail:
  call void @llvm.trap(), !dbg !8
  unreachable, !dbg !8
end:
  ret void, !dbg !7
}
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!0, !9, !10}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "kernel.cpp", directory: "/")
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "k", file: !2, line: 10, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!7 = !DILocation(line: 17, scope: !4)
!8 = !DILocation(line: 42, scope: !4)
!9 = !{i32 1, !"amdhsa_code_object_version", i32 600}
!10 = !{i32 7, !"Dwarf Version", i32 )" +
                             std::to_string(dwarf_version) + "}\n"));
  run.launch.block = {64, 1, 1};
  Memory memory;
  Report report = run(memory);
  EXPECT_TRUE(report.fault) << dwarf_version;
  return report.fault.value_or(Fault());
}

TEST(CodeObject, MapsAddressesToLines) {
  for (unsigned version = 2; version <= 5; ++version) {
    const Fault fault = trap_with_lines(version);
    EXPECT_EQ(fault.kind, FaultKind::Trap);
    EXPECT_EQ(fault.instruction, "s_trap 2");
    EXPECT_EQ(fault.line.line, 42u) << "DWARF " << version;
    EXPECT_EQ(fault.line.file, "kernel.cpp") << "DWARF " << version;
    EXPECT_EQ(fault.error().owner, Owner::Device);
  }
}

TEST(CodeObject, AddressesInDataAreThoseOfTheImage) {
  // A table of pointers to values and to itself, each followed twice.
  const std::string ir = R"(
target triple = "amdgcn-amd-amdhsa"
@first = internal addrspace(1) global i32 11
@second = internal addrspace(1) global i32 22
@table = internal addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) @second, ptr addrspace(1) @first]
@far = internal addrspace(1) global ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @table, i64 8)
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %slot = load volatile ptr addrspace(1), ptr addrspace(1) @far
  %value = load volatile ptr addrspace(1), ptr addrspace(1) %slot
  %x = load volatile i32, ptr addrspace(1) %value
  store i32 %x, ptr addrspace(1) %out
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)";
  const std::vector<std::byte> file = compile_ir(ir);
  TestRun run("s_nop 0");
  run.code = load(file);
  EXPECT_EQ(run.code.relocations().size(), 3u);
  Memory memory;
  const uint64_t out = *memory.allocate(4);
  run.argument(out);
  run.launch.block = {64, 1, 1};
  const Report report = run(memory);
  ASSERT_FALSE(report.fault) << report.fault->error().text();
  uint32_t value = 0;
  ASSERT_TRUE(memory.read(out, &value, 4).ok());
  EXPECT_EQ(value, 11u);

  // Another type of relocation, and one outside the image: records of 24 bytes (offset, type and symbol,
  // addend).
  const Relocation &found = run.code.relocations().front();
  size_t record = 0;
  for (size_t at = 0; at + 24 <= file.size(); at += 8) {
    uint64_t words[3];
    std::memcpy(words, file.data() + at, sizeof words);
    if (words[0] == found.offset && words[1] == 13 && words[2] == found.value)
      record = at;
  }
  ASSERT_NE(record, 0u);
  auto type = file, outside = file;
  put(type, record + 8, 10, 4);
  EXPECT_NE(refusal(type).find("a relocation of type 10 is not supported"), std::string::npos);
  put(outside, record, 0x7FFFFFFF, 4);
  EXPECT_NE(refusal(outside).find("a relocation lies outside the image"), std::string::npos);
}

TEST(CodeObject, NamesWhatItExecutes) {
  EXPECT_NE(find_operation("v_mfma_scale_f32_16x16x128_f8f6f4"), nullptr);
  EXPECT_EQ(find_operation("v_made_up_f32"), nullptr);
  EXPECT_GT(supported_operations().size(), 1000u);
}

} // namespace
} // namespace nereid::sim::test
