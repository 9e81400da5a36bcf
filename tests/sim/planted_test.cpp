// Kernels of tests/sim/programs/planted.cl: clang compiled a mistake, the simulator names its kind and its
// line.

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(Planted);

/// The lines of a kernel whose comment says that the mistake is "here".
std::set<unsigned> marked_lines(const std::string &kernel) {
  std::ifstream file(NEREID_SIM_PROGRAM_SOURCES "/planted.cl");
  std::set<unsigned> result;
  bool inside = false;
  unsigned number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    if (line.starts_with("kernel "))
      inside = line.starts_with("kernel void " + kernel + "(");
    if (inside && line.ends_with("here"))
      result.insert(number);
  }
  return result;
}

class PlantedRun : public ProgramRun {
public:
  PlantedRun(const std::string &kernel, const std::string &level)
      : ProgramRun("planted", kernel, level), kernel_(kernel) {}

  Fault expect(FaultKind kind, uint32_t groups, uint32_t items) {
    launch.threads = 1;
    const Report result = report({groups, 1, 1}, {items, 1, 1});
    EXPECT_TRUE(result.fault) << kernel_;
    const Fault fault = result.fault.value_or(Fault());
    EXPECT_EQ(fault.kind, kind) << fault.error().message;
    // The budget may end in spills, which have no line.
    if (kind == FaultKind::Budget && !fault.line.known())
      return fault;
    EXPECT_EQ(fault.line.file, "planted.cl") << fault.error().message;
    EXPECT_TRUE(marked_lines(kernel_).contains(fault.line.line)) << fault.error().text();
    return fault;
  }

private:
  std::string kernel_;
};

TEST_P(Planted, NoBarrier) {
  PlantedRun run("no_barrier", GetParam());
  run.buffer(std::vector<int32_t>(128));
  run.undefined<int32_t>(128);
  run.expect(FaultKind::RaceLds, 1, 128);
}

TEST_P(Planted, OneElementBeyondABuffer) {
  PlantedRun run("one_beyond", GetParam());
  run.buffer(std::vector<int32_t>(100));
  run.undefined<int32_t>(100);
  run.value<uint32_t>(100);
  const Fault fault = run.expect(FaultKind::OutOfBounds, 2, 64);
  EXPECT_EQ(fault.workgroup[0], 1u);
  EXPECT_EQ(fault.lane, 99 - 64);
}

TEST_P(Planted, OneElementBeyondLds) {
  PlantedRun run("one_beyond_lds", GetParam());
  run.buffer(std::vector<int32_t>(64, 1));
  EXPECT_EQ(run.expect(FaultKind::OutOfBounds, 1, 64).lane, 63);
}

TEST_P(Planted, AnIndexFromLdsThatNothingWrote) {
  PlantedRun run("lds_index_never_written", GetParam());
  run.undefined<int32_t>(64);
  EXPECT_EQ(run.expect(FaultKind::Undefined, 1, 64).lane, 60);
}

TEST_P(Planted, AnIndexFromAPrivateArrayThatNothingWrote) {
  PlantedRun run("private_index_never_written", GetParam());
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = i % 16;
  in[33] = 20;
  run.buffer(in);
  run.undefined<int32_t>(64);
  run.value<uint32_t>(16);
  EXPECT_EQ(run.expect(FaultKind::Undefined, 1, 64).lane, 33);
}

TEST_P(Planted, ABranchOnMemoryThatNothingWrote) {
  PlantedRun run("branch_on_memory_never_written", GetParam());
  run.undefined<int32_t>(64);
  run.undefined<int32_t>(64);
  run.expect(FaultKind::Undefined, 1, 64);
}

TEST_P(Planted, ASumOfMemoryThatNothingWrote) {
  PlantedRun run("sum_of_memory_never_written", GetParam());
  run.undefined<int32_t>(64);
  run.undefined<int32_t>(64);
  run.expect(FaultKind::Undefined, 1, 64);
}

TEST_P(Planted, ABarrierThatOneOfTwoWavesReaches) {
  PlantedRun run("barrier_of_one_wave", GetParam());
  run.undefined<int32_t>(128);
  EXPECT_EQ(run.expect(FaultKind::Barrier, 1, 128).wave, 0u);
}

TEST_P(Planted, AnInstructionByHandWithoutItsWait) {
  PlantedRun run("no_wait", GetParam());
  run.buffer(std::vector<int32_t>(64));
  run.undefined<int32_t>(64);
  run.expect(FaultKind::Wait, 1, 64);
}

TEST_P(Planted, AnAtomicAtAnAddressThatIsNotAligned) {
  PlantedRun run("misplaced_atomic", GetParam());
  run.buffer(std::vector<int32_t>(4));
  run.expect(FaultKind::Misaligned, 1, 64);
}

TEST_P(Planted, ALoopThatNeverEnds) {
  PlantedRun run("never_ends", GetParam());
  run.buffer(std::vector<int32_t>(1));
  run.launch.instruction_budget = 10'000;
  run.expect(FaultKind::Budget, 1, 64);
}

TEST_P(Planted, ATrap) {
  PlantedRun run("trapped", GetParam());
  std::vector<int32_t> in(64);
  in[7] = -1;
  run.buffer(in);
  run.expect(FaultKind::Trap, 1, 64);
}

TEST_P(Planted, TwoWorkgroupsThatWriteTheSamePlace) {
  PlantedRun run("two_writers", GetParam());
  run.undefined<int32_t>(64);
  EXPECT_EQ(run.expect(FaultKind::RaceGlobal, 2, 64).workgroup[0], 1u);
}

} // namespace
} // namespace nereid::sim::test
