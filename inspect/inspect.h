#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/report.h"
#include "jit/compile/compiled_kernel.h"

namespace nereid::inspect {

/// An argument of a simulated launch.
struct RunArgument {
  uint64_t buffer_bytes = 0;    ///< device memory of so many bytes
  std::vector<std::byte> bytes; ///< of a number; of memory its first bytes, the rest is zero

  /// Device memory that holds zeros.
  static RunArgument buffer(uint64_t bytes) { return {bytes, {}}; }
  /// Device memory with the elements of `data`.
  template <class T> static RunArgument data(std::span<const T> data) {
    const auto view = std::as_bytes(data);
    return {view.size(), {view.begin(), view.end()}};
  }
  /// A number as the kernel takes it: int32_t, int64_t, float, ...
  template <class T> static RunArgument number(T value) {
    const auto view = std::as_bytes(std::span<const T, 1>(&value, 1));
    return {0, {view.begin(), view.end()}};
  }
};

/// A launch of which the report tells.
struct RunRequest {
  std::array<uint32_t, 3> grid{1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block{1, 1, 1}; ///< work-items of each; of Nereid's kernels set by the report
  std::vector<RunArgument> arguments;     ///< the explicit ones, in order
  std::string caches = "cold";            ///< what the launch finds in the caches: cold, warm, rotating
  std::string operands;                   ///< what the buffers hold, in words, for the report
};

/// A report of a kernel that Nereid compiled: tile IR, plan, LLVM IR and code beside the user's lines, and
/// with `run` what a simulated launch of it does. Errors: user: the kernel was built for the interpreter, the
/// arguments do not fit its parameters, an unknown state of the caches; device: the launch faults.
Result<Report> report_of(const CompiledKernel &kernel, const RunRequest *run = nullptr);

/// A report of a kernel of any gfx950 code object (ELF), which need not be Nereid's; `kernel` may be empty
/// where there is one. `path`: the code object's file, beside which a .lines file of NEREID_DUMP_DIR may lie,
/// with the source lines of a code object of Nereid; may be empty. Errors (user): no code object of gfx950,
/// no such kernel; then those above.
Result<Report> report_of(std::span<const std::byte> code_object, const std::string &kernel,
                         const RunRequest *run = nullptr, const std::string &path = {});

/// A report of the launch that a launch file describes (docs/simulator.md). Its outputs are not written.
/// `caches`: in place of the file's; may be empty. Errors: those of the file and those above.
Result<Report> report_of_launch_file(const std::string &path, const std::string &caches = {});

/// Adds what the tuning tables say, a file of them or a directory; `key` alone where it is not empty. Errors:
/// user: there is no such file or no record for the key; environment: a table is damaged.
Status add_tuning(Report &report, const std::string &path, const std::string &key = {});

} // namespace nereid::inspect
