#include "tests/sim/program_runner.h"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {

std::vector<std::byte> program_file(const std::string &source, const std::string &level) {
  std::ifstream file(fmt::format("{}/{}.{}.hsaco", NEREID_SIM_PROGRAMS, source, level), std::ios::binary);
  EXPECT_TRUE(file.good()) << source;
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto first = reinterpret_cast<const std::byte *>(bytes.data());
  return {first, first + bytes.size()};
}

ProgramRun::ProgramRun(const std::string &source, const std::string &kernel, const std::string &level)
    : code_(load(program_file(source, level))) {
  kernel_ = code_.kernel(kernel).value();
  launch.kernel = kernel;
  launch.instruction_budget = 50'000'000;
  launch.checks = Checks::all();
  launch.checks.race_global = true;
}

size_t ProgramRun::allocate(size_t bytes) {
  buffers_.push_back(*memory_.allocate(bytes));
  append(&buffers_.back(), 8);
  return buffers_.size() - 1;
}

void ProgramRun::append(const void *value, size_t bytes) {
  ASSERT_LT(next_argument_, kernel_->arguments.size()) << "kernel " << kernel_->name;
  const KernelArgument &argument = kernel_->arguments[next_argument_++];
  ASSERT_FALSE(argument.hidden()) << "kernel " << kernel_->name;
  ASSERT_EQ(argument.size, bytes) << "argument " << next_argument_ << " of kernel " << kernel_->name;
  launch.kernarg.resize(std::max(launch.kernarg.size(), argument.offset + bytes));
  std::memcpy(launch.kernarg.data() + argument.offset, value, bytes);
}

Report ProgramRun::report(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block) {
  launch.grid = grid;
  launch.block = block;
  auto report = sim::run(code_, memory_, launch);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.ok() ? *report : Report();
}

void ProgramRun::run(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block) {
  const Report result = report(grid, block);
  ASSERT_FALSE(result.fault) << result.fault->error().text();
  ASSERT_GT(result.counts.total, 0u);
}

} // namespace nereid::sim::test
