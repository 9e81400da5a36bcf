#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/tune/candidate.h"
#include "jit/tune/ranking.h"

namespace nereid {

/// What to choose among, and how it is told that a candidate is right.
struct TuneRequest {
  std::string kernel; ///< names the table
  std::string key;    ///< tuning_key() of the arguments that the choice depends on
  /// The first is the default: mode off takes it.
  std::vector<TuneCandidate> candidates;

  /// Memory, of the stream's device, that is set before runs. What candidates and `outputs` write is filled
  /// with 0xFF, a NaN or -1, before each run that is validated, so that no candidate is right by what an
  /// earlier one wrote. Memory that a kernel reads and writes belongs to the lists below, which go before.
  std::vector<MemoryRange> outputs;
  std::vector<MemoryRange> reset_to_zero; ///< zeroed before every run
  std::vector<MemoryRange> restore;       ///< set before every run to what it held when tuning began
  std::function<Status()> prepare;        ///< after that, before every run; may be empty

  /// Compares the outputs of the run just done with a reference.
  std::function<Status()> validate;
  /// Refuses a candidate by a kernel it compiled to, in addition to what the tuner refuses; may be empty.
  std::function<Status(const CompiledKernel &)> accept;
};

/// off: the first candidate is taken as it is, if it compiles. model: by simulated time. measure: by time on
/// a GPU.
enum class TuneMode : uint8_t { Off, Model, Measure };
inline constexpr std::string_view tune_mode_names[] = {"off", "model", "measure"};

/// How a tuning ranks its candidates, and where it keeps what it found.
struct TuneOptions {
  /// Unset: measure on a GPU, model on the simulator.
  std::optional<TuneMode> mode;
  /// What the caches hold when a launch starts whose time is simulated. Rotating is how a model calls a
  /// kernel: with other operands each time.
  sim::CacheState caches = sim::CacheState::Rotating;
  /// In place of the mode's own.
  const Ranking *ranking = nullptr;
  /// Directory of tables: figures are kept there, and those that hold still are not measured again. Empty:
  /// none.
  std::string table;
  unsigned workers = 0;        ///< processes that compile at a time; 0: one a core
  double compile_seconds = 60; ///< that the compile of a candidate may take
  /// Wave instructions that one run of a candidate may execute on the simulator.
  uint64_t instructions = uint64_t{1} << 27;
  /// Called on the calling thread after each step; a candidate has two: its compile, and what comes after.
  std::function<void(size_t done, size_t of)> progress;
};

} // namespace nereid
