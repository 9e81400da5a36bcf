#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/config.h"
#include "jit/device/launch.h"
#include "jit/tune/compile_function.h"
#include "jit/tune/tuning_record.h"

namespace nereid {

/// What became of a candidate.
struct TuneOutcome {
  TuningRecord record;
  bool stored = false; ///< the figure or reason is that of a table
  /// Rejected for what the code alone does not decide: by a hook, a budget, a missing figure, the machine. No
  /// table keeps it, and the next tuning tries it again.
  bool tried_again = false;
  bool untried = false; ///< mode off takes the first, and this is another
  /// The first candidate whose kernels have the same code, but for their names: what the configs differ in
  /// has no effect on it.
  std::optional<size_t> same_code_as;
  std::vector<LaunchInfo> launches; ///< of the last run here
  CompiledKernels kernels;          ///< as far as it compiled
};

/// What a tuning found, candidate by candidate.
struct TuneReport {
  std::string kernel;
  std::string key;
  std::string device;  ///< its name
  std::string ranking; ///< "device time", "simulated time", "estimate"; empty with mode off
  std::string caches;  ///< of simulated times: "rotating", "cold", "warm"
  std::string unit;
  std::vector<TuneOutcome> candidates; ///< in the order given
  std::optional<size_t> winner;        ///< index of a candidate; none when all were rejected

  /// The config of the winner; empty when there is none.
  std::string winning_config() const;
  /// The same as a config. Error (User): there is none, with each candidate's reason.
  template <ListedConfig C> Result<C> best() const {
    NEREID_TRY(const std::string text, winner_or_reasons());
    C config;
    NEREID_CHECK(config_parse(config, text));
    return config;
  }
  /// A line a candidate, for people: the least figure first, rejections last.
  std::string text() const;
  /// Winner, every figure and every rejection as one JSON object.
  std::string json() const;

private:
  Result<std::string> winner_or_reasons() const;
};

} // namespace nereid
