#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/run/machine.h"

namespace nereid::sim {

/// A buffer of a launch file: the content of a file, or `size` bytes, undefined where there is no fill.
struct BufferEntry {
  std::string name;
  std::string file; ///< empty: none
  uint64_t size = 0;
  std::optional<std::byte> fill;

  bool defined() const { return !file.empty() || fill.has_value(); }
};

/// One value of the argument block: a number, or the address of a byte in a buffer.
struct ArgumentEntry {
  std::string key;                ///< "args[2]" or "values[2]", for messages
  std::optional<uint32_t> offset; ///< none: the metadata has it
  uint32_t size = 8;
  std::array<std::byte, 8> bytes{}; ///< of a number
  std::string buffer;               ///< empty: a number
  uint64_t at = 0;                  ///< byte offset in the buffer
  bool integer = false;
};

/// A launch file as docs/simulator.md describes it. Paths are absolute or relative to the working directory.
struct LaunchFile {
  std::string path; ///< of the launch file itself; empty: there is none
  std::string code_object;
  std::string kernel; ///< empty: the only one
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint32_t dynamic_lds = 0;
  std::optional<uint32_t> kernarg_size;
  std::vector<BufferEntry> buffers;
  std::vector<ArgumentEntry> arguments;
  std::vector<std::pair<std::string, std::string>> outputs; ///< buffer, path
  std::vector<std::string> checks;                          ///< the kinds of fault that the run looks for
  Timing timing = Timing::Off;
  CacheState caches = CacheState::Cold;
  bool any_order = false;

  const BufferEntry *buffer(std::string_view name) const &;
  const BufferEntry *buffer(std::string_view name) const && = delete;
};

/// Reads the text of a launch file; `directory` is what its paths are relative to. Errors (User) name the
/// key.
Result<LaunchFile> parse_launch_file(std::string_view text, const std::string &directory);
/// Reads a launch file.
Result<LaunchFile> read_launch_file(const std::string &path);

/// What a launch file describes, ready to be run: its buffers lie in a memory of their own.
struct LoadedLaunch {
  std::vector<std::byte> file; ///< of the code object
  CodeObject code;
  std::unique_ptr<Memory> memory;
  Launch launch;
};

/// Loads the code object, allocates and fills the buffers, places the arguments. Outputs are not looked at.
/// Errors: user: a file, a kernel or an argument that is not there or does not fit.
Result<LoadedLaunch> load_launch_file(const LaunchFile &file);

/// The outcome of a launch file.
struct LaunchAnswer {
  Report report;
  /// Why there is no report, or why an output could not be written.
  std::optional<Error> error;

  /// "ok", "fault" or "error"
  const char *status() const { return error ? "error" : report.fault ? "fault" : "ok"; }
};

/// Loads, allocates, runs, and writes the outputs, also after a fault. An output that is an input, the launch
/// file or another output is an error (user) before anything runs.
LaunchAnswer run_launch_file(const LaunchFile &file, uint64_t instruction_budget);

} // namespace nereid::sim
