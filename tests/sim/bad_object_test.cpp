// Code objects that must be refused, or that fault when the bad part is reached.

#include <cstring>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

void expect_refusal(const std::vector<std::byte> &file, const std::string &part) {
  const std::string message = refusal(file);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

size_t find_bytes(const std::vector<std::byte> &file, const void *bytes, size_t size) {
  const auto *first = static_cast<const std::byte *>(bytes);
  const auto found = std::search(file.begin(), file.end(), first, first + size);
  EXPECT_NE(found, file.end());
  return static_cast<size_t>(found - file.begin());
}

/// A kernel with sizes that occur nowhere else in the file.
KernelOptions marked() {
  KernelOptions options;
  options.lds_size = 100;
  options.scratch_size = 116;
  options.kernarg_size = 120;
  return options;
}
/// Overwrites the word at `offset` of the kernel descriptor.
std::vector<std::byte> with_descriptor_word(size_t offset, uint32_t value) {
  std::vector<std::byte> file = assemble("s_nop 0", marked());
  const uint32_t start[3] = {100, 116, 120};
  std::memcpy(file.data() + find_bytes(file, start, sizeof start) + offset, &value, 4);
  return file;
}
/// Overwrites the small number after a key of the metadata.
std::vector<std::byte> with_metadata(const std::string &key, uint8_t value) {
  std::vector<std::byte> file = assemble("s_nop 0", marked());
  file[find_bytes(file, key.data(), key.size()) + key.size()] = std::byte{value};
  return file;
}
/// Replaces a text by another one of the same length.
std::vector<std::byte> with_text(const std::string &from, const std::string &to) {
  std::vector<std::byte> file = assemble("s_nop 0", marked());
  EXPECT_EQ(from.size(), to.size());
  std::memcpy(file.data() + find_bytes(file, from.data(), from.size()), to.data(), to.size());
  return file;
}

TEST(BadObject, OfClangForAnotherMachine) {
  expect_refusal(program_file("loops", "gfx942"), "it is for another ISA than gfx950");
}

TEST(BadObject, CutOffAnywhere) {
  for (const char *level : {"O0", "O3"}) {
    const std::vector<std::byte> good = program_file("lds", level);
    ASSERT_TRUE(CodeObject::load(good).ok());
    for (size_t size = 0; size < good.size(); size += size < 1024 ? 7 : 251) {
      auto code = CodeObject::load(std::span(good).first(size));
      ASSERT_FALSE(code.ok()) << size;
      ASSERT_EQ(code.error().owner, Owner::User) << size;
      ASSERT_TRUE(code.error().message.starts_with("code object: ")) << code.error().message;
    }
    EXPECT_FALSE(CodeObject::load(std::span(good).first(good.size() - 1)).ok());
  }
}

TEST(BadObject, DescriptorAndMetadataDisagree) {
  expect_refusal(with_descriptor_word(0, 104),
                 "kernel 'k': the descriptor says 104 bytes of LDS, the metadata 100");
  expect_refusal(with_descriptor_word(4, 16),
                 "kernel 'k': the descriptor says 16 bytes of scratch memory, the metadata 116");
  expect_refusal(with_descriptor_word(8, 8),
                 "kernel 'k': the descriptor says 8 bytes of arguments, the metadata 120");
  expect_refusal(with_metadata(".group_segment_fixed_size", 96),
                 "kernel 'k': the descriptor says 100 bytes of LDS, the metadata 96");
  expect_refusal(with_metadata(".private_segment_fixed_size", 0),
                 "kernel 'k': the descriptor says 116 bytes of scratch memory, the metadata 0");
  expect_refusal(with_metadata(".kernarg_segment_size", 64),
                 "kernel 'k': the descriptor says 120 bytes of arguments, the metadata 64");
}

/// The same kernel, whose descriptor gives no size of the arguments, with a number of the metadata replaced.
std::vector<std::byte> without_kernarg_size(const std::string &key, uint8_t value) {
  std::vector<std::byte> file = with_metadata(key, value);
  const uint32_t start[3] = {100, 116, 120};
  std::memset(file.data() + find_bytes(file, start, sizeof start) + 8, 0, 4);
  return file;
}

TEST(BadObject, DescriptorWithoutTheSizeOfArgumentsLeavesItToTheMetadata) {
  EXPECT_EQ(load(without_kernarg_size(".offset", 0)).kernels().front().kernarg_size, 120u);
  EXPECT_EQ(load(without_kernarg_size(".kernarg_segment_size", 64)).kernels().front().kernarg_size, 64u);
  // Its last argument lies at 116 and takes 8 bytes.
  EXPECT_EQ(load(without_kernarg_size(".offset", 116)).kernels().front().kernarg_size, 124u);
}

TEST(BadObject, MetadataOfSomethingElse) {
  expect_refusal(with_metadata(".wavefront_size", 32), "kernel 'k' is compiled for waves of 32 lanes");
  // Argument p takes 8 bytes: at 116 it would end beyond 120.
  expect_refusal(with_metadata(".offset", 116),
                 "argument 'p' of kernel 'k' lies outside its 120 byte argument block");
  expect_refusal(with_metadata(".size", 127),
                 "argument 'p' of kernel 'k' lies outside its 120 byte argument block");
  expect_refusal(with_text("amdhsa.kernels", "amdhsa.colonel"), "lists no kernels");
  expect_refusal(with_text(".symbol", ".symbox"), "has no name or symbol");
  expect_refusal(with_text("AMDGPU", "AMDGPX"), "it has no AMDGPU metadata note");
  expect_refusal(with_text("amdhsa--gfx950", "amdhsa--gfx942"),
                 "metadata is for 'amdgcn-amd-amdhsa--gfx942', not for gfx950");
}

/// A code object whose note segment says that alignment.
std::vector<std::byte> with_note_alignment(uint64_t alignment) {
  std::vector<std::byte> file = assemble("s_nop 0");
  uint64_t headers;
  uint16_t count;
  std::memcpy(&headers, file.data() + 32, 8);
  std::memcpy(&count, file.data() + 56, 2);
  for (uint16_t i = 0; i < count; ++i) {
    std::byte *header = file.data() + headers + 56 * i;
    uint32_t type;
    std::memcpy(&type, header, 4);
    if (type == 4) // PT_NOTE
      std::memcpy(header + 48, &alignment, 8);
  }
  return file;
}

TEST(BadObject, NotesOfStrangeAlignment) {
  expect_refusal(with_note_alignment(12), "its notes are aligned to 12 bytes");
  for (const uint64_t usual : {0, 1, 4})
    EXPECT_TRUE(CodeObject::load(with_note_alignment(usual)).ok()) << usual;
}

TEST(BadObject, EntryOutsideTheText) {
  expect_refusal(with_descriptor_word(16, 0x00100000), "the entry of kernel 'k' is no instruction");
  expect_refusal(with_descriptor_word(20, 1), "the entry of kernel 'k' is no instruction");
}

TEST(BadObject, EntryWithinAnInstruction) {
  std::vector<std::byte> file = assemble("s_mov_b32 s0, 0x12345678", marked());
  const uint32_t start[3] = {100, 116, 120};
  std::byte *offset = file.data() + find_bytes(file, start, sizeof start) + 16; // of the entry
  uint64_t entry = 0;
  std::memcpy(&entry, offset, sizeof entry);
  entry += 4;
  std::memcpy(offset, &entry, sizeof entry);
  const CodeObject code = load(file);
  Memory memory;
  const auto report = run(code, memory, {.kernel = "k", .block = {64, 1, 1}});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().owner, Owner::User);
  EXPECT_EQ(report.error().message, "the entry of kernel 'k' lies within an instruction");
}

TEST(BadObject, InstructionsThatAreNoneFaultOnlyWhenReached) {
  for (const char *bad : {".long 0xffffffff", ".long 0xbf9f0000\n.long 0xffffffff", "s_rfe_b64 s[4:5]"}) {
    for (const bool reached : {false, true}) {
      TestRun run(std::string(reached ? "s_nop 1\n" : "s_branch 1f\n") + bad + "\n1:");
      run.launch.block = {64, 1, 1};
      Memory memory;
      const Report report = run(memory);
      ASSERT_EQ(report.fault.has_value(), reached) << bad;
      if (reached) {
        EXPECT_EQ(report.fault->kind, FaultKind::Unsupported);
        EXPECT_EQ(report.fault->address, run.code.kernels().front().entry + 4) << "after s_nop";
        EXPECT_EQ(report.fault->lane, -1);
        EXPECT_EQ(report.fault->error().owner, Owner::Device);
      }
    }
  }
}

TEST(BadObject, RunsOffTheEndOfTheText) {
  // The padding after the kernel is s_nop or s_code_end; a wave that runs through it must end with a fault.
  TestRun run("s_cmp_eq_u32 0, 0\ns_cbranch_scc1 over\ns_endpgm\nover:\ns_getpc_b64 s[4:5]\n"
              "s_add_u32 s4, s4, 0x100000\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]");
  run.launch.block = {64, 1, 1};
  Memory memory;
  const Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::OutOfBounds);
  EXPECT_NE(report.fault->text.find("where no instruction of this code object starts"), std::string::npos);
}

} // namespace
} // namespace nereid::sim::test
