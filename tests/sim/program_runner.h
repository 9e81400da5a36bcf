#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine.h"

namespace nereid::sim::test {

/// A launch of a kernel that clang 22 compiled from tests/sim/programs. Arguments are appended in the order
/// of the kernel's parameters; the metadata says where they go.
class ProgramRun {
public:
  /// `source` without its ending; `level` is "O0" or "O3".
  ProgramRun(const std::string &source, const std::string &kernel, const std::string &level);

  /// An argument that points to a copy of `content`; the result names the buffer.
  template <class T> size_t buffer(const std::vector<T> &content) {
    const size_t index = allocate(content.size() * sizeof(T));
    EXPECT_TRUE(memory_.write(buffers_[index], content.data(), content.size() * sizeof(T)).ok());
    return index;
  }
  /// An argument that points to undefined memory for `count` values.
  template <class T> size_t undefined(size_t count) { return allocate(count * sizeof(T)); }
  /// An argument that is a value.
  template <class T> void value(const T &value) { append(&value, sizeof value); }

  /// Runs on a grid of workgroups and expects no fault.
  void run(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block);
  /// Runs and gives the report, with a fault or not.
  Report report(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block);

  template <class T> std::vector<T> read(size_t buffer, size_t count) const {
    std::vector<T> result(count);
    EXPECT_TRUE(memory_.read(buffers_[buffer], result.data(), count * sizeof(T)).ok());
    return result;
  }

  Launch launch;

private:
  size_t allocate(size_t bytes);
  void append(const void *value, size_t bytes);

  CodeObject code_;
  const KernelInfo *kernel_;
  Memory memory_;
  std::vector<uint64_t> buffers_;
  size_t next_argument_ = 0;
};

/// The bytes of a code object that clang compiled from tests/sim/programs.
std::vector<std::byte> program_file(const std::string &source, const std::string &level);

/// A test that runs for each optimisation level: unoptimised code keeps everything in scratch memory and
/// spills scalars to lanes, optimised code is what people run.
class Programs : public testing::TestWithParam<const char *> {};
#define NEREID_PROGRAMS(suite)                                                                               \
  class suite : public Programs {};                                                                          \
  INSTANTIATE_TEST_SUITE_P(Clang, suite, testing::Values("O0", "O3"),                                        \
                           [](const auto &instance) { return std::string(instance.param); })

} // namespace nereid::sim::test
