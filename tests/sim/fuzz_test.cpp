// Damaged code objects and launch files: each is refused with an error of the user's or runs to an end.
// NEREID_LONG_TESTS=1 makes 10,000 of each kind.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>

#include "sim/launch_file.h"
#include "tests/sim/assembler.h"
#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

constexpr unsigned batches = 4;

/// Rounds of one batch: a slice of the 10,000, or all of them.
unsigned rounds() {
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return value && std::string(value) == "1" ? 10'000 / batches : 500 / batches;
}

/// Changes one to eight bytes: to anything, by one bit, or to bytes from elsewhere in the file.
template <class T> void damage(std::vector<T> &bytes, std::mt19937 &random, size_t begin, size_t end) {
  for (unsigned changes = 1 + (random() % 3 ? 0 : random() % 8); changes-- > 0;) {
    T &byte = bytes[begin + random() % (end - begin)];
    switch (random() % 3) {
    case 0:
      byte = static_cast<T>(random());
      break;
    case 1:
      byte = static_cast<T>(static_cast<unsigned>(byte) ^ 1u << random() % 8);
      break;
    default:
      byte = bytes[random() % bytes.size()];
    }
  }
}

class Fuzz : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Batch, Fuzz, testing::Range(0u, batches));

/// A launch in which every pointer that a kernel may take is valid, with little work and memory.
Launch small_launch(const KernelInfo &kernel, uint64_t buffer, unsigned round) {
  Launch launch;
  launch.kernel = kernel.name;
  launch.grid = {2, 1, 1};
  launch.block = {std::min(128u, std::max(1u, kernel.max_workgroup_size)), 1, 1};
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.hidden() || argument.size == 0 || argument.size > 64 || argument.offset > 4096)
      continue;
    launch.kernarg.resize(std::max<size_t>(launch.kernarg.size(), argument.offset + argument.size));
    const uint64_t value = argument.value_kind == "global_buffer" ? buffer : 64;
    std::memcpy(launch.kernarg.data() + argument.offset, &value, std::min<size_t>(argument.size, 8));
  }
  launch.instruction_budget = 4000;
  launch.threads = 1 + round % 2;
  if (round % 3 == 0) {
    launch.checks = Checks::all();
    launch.checks.race_global = round % 2 == 0;
  }
  return launch;
}

TEST_P(Fuzz, DamagedCodeObjects) {
  KernelOptions options;
  options.lds_size = 1024;
  options.scratch_size = 64;
  const std::string head =
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 63, v0\nv_lshlrev_b32 v1, 4, v0\n"
      "s_waitcnt lgkmcnt(0)\nglobal_load_dwordx4 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\n";
  // Small ones, of which many can be tried, and what clang makes.
  const std::vector<std::vector<std::byte>> originals = {
      assemble(
          head + "ds_write_b128 v1, v[4:7]\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read2_b64 v[8:11], v1 "
                 "offset1:1\n"
                 "ds_add_rtn_u32 v12, v0, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dwordx4 v1, v[8:11], s[4:5]",
          options),
      program_file("loops", "O3"),
      assemble(head + "v_mfma_f32_16x16x32_f16 v[8:11], v[4:7], v[4:7], 0\nv_cvt_f16_f32 v3, "
                      "v4\nv_pk_fma_f16 v3, v3, v4, v5\n"
                      "v_mov_b32_dpp v9, v4 row_shr:1 row_mask:0xf bank_mask:0xf\nv_add_u32_sdwa v10, v4, v5 "
                      "dst_sel:BYTE_1 "
                      "dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD\nv_readlane_b32 s8, v4, 3\n"
                      "v_permlane32_swap_b32 v9, v10\nglobal_atomic_add v0, v9, s[4:5]",
               options),
      program_file("calls", "O3"),
      assemble(head +
                   "s_mov_b32 s6, 0x1000\ns_mov_b32 s7, 0x27000\ns_and_b32 s5, s5, 0xffff\ns_mov_b32 m0, 0\n"
                   "buffer_load_dwordx4 v1, s[4:7], 0 offen lds\nbuffer_load_dword v9, v1, s[4:7], 0 offen "
                   "offset:4\n"
                   "s_waitcnt vmcnt(0)\nscratch_store_dword off, v9, off\nscratch_load_dword v9, off, off\n"
                   "s_mov_b32 s8, 4\n1:\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 "
                   "1b\ns_waitcnt vmcnt(0)\n"
                   "buffer_store_dword v9, v1, s[4:7], 0 offen\ns_getpc_b64 s[10:11]\ns_setreg_imm32_b32 "
                   "hwreg(HW_REG_MODE, 0, 8), 0xf0",
               options),
      program_file("matrix", "O3"),
  };
  unsigned loaded = 0, ran = 0;
  for (unsigned round = 0; round < rounds(); ++round) {
    std::mt19937 random(GetParam() * 100'000 + round);
    std::vector<std::byte> file = originals[round % originals.size()];
    // Half of the time in the first part: headers, notes, symbols, descriptors.
    damage(file, random, 0,
           round / originals.size() % 2 ? file.size() : std::min<size_t>(file.size(), 0x1000));
    const auto code = CodeObject::load(file);
    if (!code.ok()) {
      ASSERT_EQ(code.error().owner, Owner::User) << round;
      ASSERT_FALSE(code.error().message.empty()) << round;
      continue;
    }
    ++loaded;
    if (code->kernels().empty())
      continue;
    const KernelInfo &kernel = code->kernels()[random() % code->kernels().size()];
    Memory memory(uint64_t{64} << 20);
    const uint64_t buffer = *memory.allocate(1 << 16);
    ASSERT_TRUE(memory.fill(buffer, std::byte{3}, 1 << 16).ok());
    const auto report = run(*code, memory, small_launch(kernel, buffer, round));
    ran += report.ok() && report->counts.total > 0;
    if (report.ok() && report->fault) {
      ASSERT_FALSE(report->fault->error().message.empty());
    }
  }
  EXPECT_GT(loaded, rounds() / 4) << "most bytes belong to code and debug information";
  EXPECT_GT(ran, rounds() / 8);
}

TEST_P(Fuzz, DamagedLaunchFiles) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-fuzz", path));
  const std::string directory = path.str().str();
  ASSERT_FALSE(llvm::sys::fs::copy_file(NEREID_SIM_PROGRAMS "/lds.O3.hsaco", directory + "/k"));
  const std::string originals[] = {
      R"({"code_object": "k", "kernel": "block_sum", "grid": [4, 1, 1], "block": [256, 1, 1],
          "buffers": {"in": {"size": 20000, "fill": 1}, "out": {"size": 16}}, "checks": "all", "order": "id",
          "values": [{"buffer": "in"}, {"buffer": "out"}, {"u32": 5000}], "outputs": {"out": "out.bin"}})",
      R"({"code_object": "k", "kernel": "reverse_dynamic", "grid": [1, 2, 1], "block": [96, 1, 1],
          "buffers": {"in": {"size": 1002, "fill": 9}, "out": {"size": 1002, "fill": 255}}, "dynamic_lds": 1066,
          "args": [{"offset": 0, "buffer": "in", "at": 0}, {"offset": 8, "buffer": "out"}, {"offset": 16, "i32": 64},
                   {"offset": 20, "u32": 501}], "checks": ["undefined", "race_lds"], "timing": true})",
      R"({"code_object": "k", "kernel": "matrix_product", "grid": [1, 1, 1], "block": [16, 16, 1],
          "buffers": {"a": {"size": 1024, "fill": 0}, "c": {"size": 1024}}, "order": "any", "checks": "none",
          "args": [{"offset": 0, "buffer": "a"}, {"offset": 8, "buffer": "a"}, {"offset": 16, "buffer": "c"},
                   {"offset": 24, "i64": 16}, {"offset": 40, "f32": 1.5}, {"offset": 48, "f64": -2}]})"};
  unsigned parsed = 0, ran = 0;
  for (unsigned round = 0; round < rounds(); ++round) {
    std::mt19937 random(GetParam() * 100'000 + round);
    const std::string &original = originals[round % std::size(originals)];
    std::vector<char> text(original.begin(), original.end());
    if (round % 2)
      damage(text, random, 0, text.size());
    else // other numbers
      for (char &digit : text)
        if (digit >= '0' && digit <= '9' && random() % 20 == 0)
          digit = static_cast<char>('0' + random() % 10);
    auto file = parse_launch_file({text.data(), text.size()}, directory);
    if (!file) {
      ASSERT_EQ(file.error().owner, Owner::User) << round;
      continue;
    }
    ++parsed;
    file->outputs.clear(); // a damaged path may be any file of this machine
    const LaunchAnswer answer = run_launch_file(*file, 20'000);
    if (answer.error) {
      ASSERT_FALSE(answer.error->message.empty());
    }
    ran += answer.error ? 0 : 1;
  }
  llvm::sys::fs::remove_directories(directory);
  EXPECT_GT(parsed, rounds() / 5);
  EXPECT_GT(ran, rounds() / 20);
}

} // namespace
} // namespace nereid::sim::test
