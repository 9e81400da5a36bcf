// Launches that are executed step by step, looked into, changed and forked.

#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/execution.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

using State = Execution::State;

/// Adds 1 to the word at out + 4 * lane, `s20` times, over two workgroups of two waves that meet at a
/// barrier.
const char *counting = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                       "v_lshlrev_b32 v1, 2, v0\n"
                       "v_mov_b32 v2, 0\n"
                       "s_movk_i32 s20, 5\n"
                       "again:\n"
                       "v_add_u32 v2, v2, 1\n"
                       "s_sub_u32 s20, s20, 1\n"
                       "s_cmp_lg_u32 s20, 0\n"
                       "s_cbranch_scc1 again\n"
                       "s_barrier\n"
                       "s_waitcnt lgkmcnt(0)\n"
                       "global_store_dword v1, v2, s[4:5]\n";

class Stepping : public testing::Test {
protected:
  Memory memory;
  uint64_t out = *memory.allocate(4096);
  TestRun run{counting};

  void SetUp() override {
    ASSERT_TRUE(memory.fill(out, std::byte{0}, 4096).ok());
    run.argument(out);
    run.launch.block = {128, 1, 1};
    run.launch.grid = {2, 1, 1};
    run.launch.threads = 1;
  }
  Execution start() { return std::move(*Execution::start(run.code, memory, run.launch)); }
  static uint32_t word(Memory &memory, uint64_t address) {
    uint32_t value = 0;
    EXPECT_TRUE(memory.read(address, &value, 4).ok());
    return value;
  }
  static bool at_store(const Wave &, const Instruction &instruction) {
    return instruction.category == Category::VmemStore;
  }
};

TEST_F(Stepping, EndsAsARunDoes) {
  const Report whole = run(memory);
  Execution execution = start();
  EXPECT_EQ(execution.run(), State::Done);
  const Report stepped = execution.report();
  EXPECT_EQ(stepped.counts.total, whole.counts.total);
  EXPECT_EQ(stepped.counts.valu, whole.counts.valu);
  EXPECT_EQ(stepped.waves, 4u);
  EXPECT_EQ(word(memory, out + 4 * 127), 5u);
}

TEST_F(Stepping, ShowsEachInstructionAndItsRegisters) {
  Execution execution = start();
  EXPECT_EQ(execution.text(), "s_load_dwordx2 s[4:5], s[0:1], 0x0");
  EXPECT_EQ(execution.step(4), State::Running);
  EXPECT_EQ(execution.report().counts.total, 4u);
  EXPECT_EQ(execution.text(), "v_add_u32_e64 v2, v2, 1");
  EXPECT_EQ(execution.wave().sgpr[20], 5u);
  EXPECT_EQ(execution.wave().vgpr[2].word[63], 0u);
  execution.step(2);
  EXPECT_EQ(execution.wave().sgpr[20], 4u);
  EXPECT_EQ(execution.wave().vgpr[2].word[63], 1u);
  EXPECT_EQ(execution.wave().sgpr[4] | uint64_t{execution.wave().sgpr[5]} << 32, out);
}

TEST_F(Stepping, WavesMeetAtBarriersAndWorkgroupsFollow) {
  Execution execution = start();
  EXPECT_EQ(execution.waves().size(), 2u);
  EXPECT_EQ(execution.run_until(at_store), State::Running);
  // The first wave could only get here after the second one reached the barrier.
  EXPECT_EQ(execution.wave().index, 0u);
  EXPECT_EQ(execution.waves()[1]->vgpr[2].word[0], 5u);
  EXPECT_EQ(execution.workgroup(), (std::array<uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(execution.run_until(at_store), State::Running);
  EXPECT_EQ(execution.wave().index, 1u);
  EXPECT_EQ(execution.run_until(at_store), State::Running);
  EXPECT_EQ(execution.workgroup(), (std::array<uint32_t, 3>{1, 0, 0}));
  EXPECT_EQ(execution.run_until([](const Wave &, const Instruction &) { return false; }), State::Done);
  EXPECT_EQ(execution.step(), State::Done);
}

TEST_F(Stepping, ForksGoOnIndependently) {
  Execution original = start();
  ASSERT_EQ(original.run_until(at_store), State::Running);
  Execution changed = std::move(*original.fork());
  Execution third = std::move(*changed.fork());
  EXPECT_EQ(changed.text(), original.text());
  changed.wave().vgpr[2].word[3] = 77;
  third.waves()[1]->vgpr[2].word[0] = 99;
  ASSERT_EQ(changed.step(), State::Running);
  EXPECT_EQ(word(changed.memory(), out + 4 * 3), 77u);
  EXPECT_EQ(word(memory, out + 4 * 3), 0u) << "the original has not stored yet";
  // The second workgroup stores the same words again, so each is stopped before it.
  auto second_group = [](const Wave &wave, const Instruction &) { return wave.group->id[0] == 1; };
  EXPECT_EQ(original.run_until(second_group), State::Running);
  EXPECT_EQ(third.run_until(second_group), State::Running);
  EXPECT_EQ(word(memory, out + 4 * 3), 5u);
  EXPECT_EQ(word(memory, out + 4 * 64), 5u);
  EXPECT_EQ(word(third.memory(), out + 4 * 64), 99u);
  EXPECT_EQ(original.run(), State::Done);
  EXPECT_EQ(changed.run(), State::Done);
  EXPECT_EQ(changed.report().counts.total, original.report().counts.total);
}

TEST_F(Stepping, AForkOutlivesItsOriginal) {
  std::optional<Execution> fork;
  {
    Memory other;
    uint64_t at = *other.allocate(4096);
    TestRun again{counting};
    again.argument(at);
    again.launch.block = {64, 1, 1};
    Execution original = std::move(*Execution::start(again.code, other, again.launch));
    original.step(3);
    fork.emplace(std::move(*original.fork()));
  }
  EXPECT_EQ(fork->run(), State::Done);
}

TEST_F(Stepping, FaultsStayWhereTheyHappened) {
  TestRun bad("v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_load_dword v4, v[2:3], off\ns_nop 0\n");
  bad.launch.block = {64, 1, 1};
  Execution execution = std::move(*Execution::start(bad.code, memory, bad.launch));
  EXPECT_EQ(execution.step(2), State::Running);
  EXPECT_EQ(execution.step(), State::Faulted);
  ASSERT_TRUE(execution.fault());
  EXPECT_EQ(execution.fault()->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(execution.text(), execution.fault()->instruction);
  EXPECT_EQ(execution.step(), State::Faulted);
  EXPECT_EQ(execution.report().counts.total, 3u);
}

TEST_F(Stepping, BadLaunchesAreErrors) {
  run.launch.grid = {0, 1, 1};
  EXPECT_FALSE(Execution::start(run.code, memory, run.launch));
}

/// A program and, for the place of {}, what it lacks when it has the fault. At entry s[4:5] is a defined
/// buffer, s[6:7] one that nothing wrote; v1 = 4 * lane.
struct CheckedProgram {
  const char *name;
  FaultKind kind;
  bool Checks::*check;
  const char *body;
  const char *lacking;
};
void PrintTo(const CheckedProgram &program, std::ostream *out) { *out << program.name; }
class ForkWithChecks : public testing::TestWithParam<CheckedProgram> {};

TEST_P(ForkWithChecks, EndsAsItsOriginalFromEveryPoint) {
  for (const bool planted : {true, false}) {
    KernelOptions options;
    options.lds_size = 1024;
    TestRun run(std::string("s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
                            "s_waitcnt lgkmcnt(0)\n") +
                    fmt::format(fmt::runtime(GetParam().body), planted ? "" : GetParam().lacking),
                options);
    Memory memory;
    const uint64_t defined = *memory.allocate(4096), raw = *memory.allocate(4096);
    ASSERT_TRUE(memory.fill(defined, std::byte{0}, 4096).ok());
    run.argument(defined).argument(raw);
    run.launch.block = {128, 1, 1};
    run.launch.grid = {2, 1, 1};
    run.launch.checks.*GetParam().check = true;
    Execution original = std::move(*Execution::start(run.code, memory, run.launch));
    std::vector<Execution> forks;
    do
      forks.push_back(std::move(*original.fork()));
    while (original.step() == State::Running);
    EXPECT_EQ(original.state(), planted ? State::Faulted : State::Done);
    for (Execution &fork : forks) {
      ASSERT_EQ(fork.run(), original.state());
      if (!original.fault())
        continue;
      ASSERT_EQ(fork.fault()->kind, GetParam().kind) << fork.fault()->error().text();
      ASSERT_EQ(fork.fault()->error().text(), original.fault()->error().text());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForkWithChecks,
    testing::Values(
        CheckedProgram{"Wait", FaultKind::Wait, &Checks::wait,
                       "global_load_dword v2, v1, s[4:5]\ns_nop 0\n{}\nv_mov_b32 v3, v2",
                       "s_waitcnt vmcnt(0)"},
        CheckedProgram{"Registers", FaultKind::Undefined, &Checks::undefined,
                       "{}\nv_add_u32 v3, v2, v1\ns_nop 0\nglobal_store_dword v1, v3, s[4:5]",
                       "v_mov_b32 v2, 0"},
        CheckedProgram{"GlobalMemory", FaultKind::Undefined, &Checks::undefined,
                       "v_mov_b32 v2, 0\n{}\ns_waitcnt vmcnt(0)\nglobal_load_dword v3, v1, s[6:7]\n"
                       "s_waitcnt vmcnt(0)\nv_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[4:5]",
                       "global_store_dword v1, v2, s[6:7]"},
        CheckedProgram{"CopiesInLds", FaultKind::Undefined, &Checks::undefined,
                       "v_mov_b32 v2, v9\n{}\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v1\n"
                       "s_waitcnt lgkmcnt(0)\nv_add_u32 v3, 1, v3\nglobal_store_dword v1, v3, s[4:5]",
                       "v_mov_b32 v2, 0"},
        CheckedProgram{"LdsRace", FaultKind::RaceLds, &Checks::race_lds,
                       "v_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n{}\n"
                       "ds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)",
                       "s_barrier"},
        CheckedProgram{"Hazard", FaultKind::Hazard, &Checks::hazard,
                       "v_readfirstlane_b32 s20, v0\ns_nop 0\n{}\nv_mov_b32 v2, s20", "s_nop 0"},
        CheckedProgram{"GlobalRace", FaultKind::RaceGlobal, &Checks::race_global,
                       "s_lshl_b32 s20, s2, 9\nv_mov_b32 v2, v1\n{}\nglobal_store_dword v2, v0, s[4:5]",
                       "v_add_u32 v2, s20, v1"}),
    [](const auto &info) { return info.param.name; });

/// Large enough for pages that are mapped rather than written, both of content and of undefined bits.
TEST(MemoryFork, CopiesWhatIsFilledAndWhatIsUndefined) {
  constexpr size_t size = size_t{8} << 20;
  Memory memory;
  const uint64_t filled = *memory.allocate(size), raw = *memory.allocate(size), part = *memory.allocate(size);
  ASSERT_TRUE(memory.fill(filled, std::byte{7}, size).ok());
  ASSERT_TRUE(memory.fill(part, std::byte{9}, size / 2).ok());
  const uint32_t word = 5;
  ASSERT_TRUE(memory.write(filled + size / 2, &word, 4).ok());
  auto copy = memory.fork();
  ASSERT_TRUE(copy) << copy.error().text();
  auto byte = [&](uint64_t at) {
    std::byte result{};
    EXPECT_TRUE((*copy)->read(at, &result, 1).ok());
    return static_cast<unsigned>(result);
  };
  EXPECT_EQ(byte(filled), 7u);
  EXPECT_EQ(byte(filled + size - 1), 7u);
  EXPECT_EQ(byte(filled + size / 2), 5u);
  EXPECT_EQ(byte(filled + size / 2 + 4), 7u);
  EXPECT_EQ(byte(part + size / 2 - 1), 9u);
  EXPECT_EQ(byte(part + size / 2), 0u);
  const Memory::View view = (*copy)->view();
  EXPECT_FALSE(view.find(filled, size)->definedness().anything_undefined());
  EXPECT_TRUE(view.find(raw, size)->definedness().untouched());
  const std::byte *bits = view.find(part, size)->definedness().bits();
  EXPECT_EQ(bits[0], std::byte{0});
  EXPECT_EQ(bits[size / 2 - 1], std::byte{0});
  EXPECT_EQ(bits[size / 2], std::byte{0xFF});
  EXPECT_EQ(bits[size - 1], std::byte{0xFF});
  // What happens to one of them stays there.
  ASSERT_TRUE(memory.fill(part, std::byte{1}, size).ok());
  EXPECT_EQ(byte(part), 9u);
  EXPECT_EQ(bits[size - 1], std::byte{0xFF});
}

TEST(MemoryFork, CopiesWhatWasTouchedOfALargeBuffer) {
  constexpr size_t size = size_t{5} << 30;
  Memory memory;
  const uint64_t large = *memory.allocate(size), small = *memory.allocate(10);
  const uint64_t value = 0x1122334455667788;
  ASSERT_TRUE(memory.write(large + size - 8, &value, 8).ok());
  ASSERT_TRUE(memory.write(small + 2, &value, 8).ok());
  auto copy = memory.fork();
  ASSERT_TRUE(copy) << copy.error().text();
  auto read = [](const Memory &from, uint64_t at) {
    uint64_t result = 0;
    EXPECT_TRUE(from.read(at, &result, 8).ok());
    return result;
  };
  EXPECT_EQ(read(**copy, large + size - 8), value);
  EXPECT_EQ(read(**copy, large + size / 2), 0u);
  EXPECT_EQ(read(**copy, small + 2), value);
  const uint64_t other = 5;
  ASSERT_TRUE((*copy)->write(small + 2, &other, 8).ok());
  EXPECT_EQ(read(memory, small + 2), value);
  // Addresses that are given out later differ from those in use.
  EXPECT_NE(*(*copy)->allocate(64), small);
  ASSERT_TRUE((*copy)->free(large).ok());
  EXPECT_EQ(read(memory, large + size - 8), value);
}

} // namespace
} // namespace nereid::sim::test
