#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "jit/compile/compiled_kernel.h"
#include "jit/device/device.h"
#include "jit/kernel.h"
#include "jit/tune/ranking.h"

namespace nereid {

/// One configuration to try: how to compile what it launches, and how to run it once.
struct TuneCandidate {
  std::string config; ///< "block=1024,waves=4"
  std::function<Result<std::vector<std::shared_ptr<const CompiledKernel>>>()> compile;
  CandidateRun run;
};

/// What became of a candidate.
struct TuneOutcome {
  std::string config;
  std::string rejected;         ///< why it may not win; empty when it may
  std::optional<double> figure; ///< of those that were right
  std::vector<LaunchInfo> launches;
  std::vector<std::shared_ptr<const CompiledKernel>> kernels; ///< as far as it compiled
};

struct TuneReport {
  std::string kernel;
  std::string key;     ///< the arguments that were tuned for: "M=16,N=2112,K=7168"
  std::string device;  ///< its name
  std::string ranking; ///< "device time" or "estimate"
  std::string unit;
  std::vector<TuneOutcome> candidates; ///< in the order given
  std::optional<size_t> winner;        ///< index of a candidate; none when all were rejected

  /// The config of the winner; empty when there is none.
  std::string winning_config() const;
  /// Winner, every figure and every rejection as one readable JSON object.
  std::string json() const;
};

struct TuneRequest {
  std::string kernel;
  std::string key;
  std::vector<TuneCandidate> candidates;
  /// Before each checked run: poison the outputs. May be empty.
  std::function<Status()> prepare;
  /// Compares the outputs of the run just done with a reference.
  std::function<Status()> validate;
  unsigned threads = 0; ///< that compile; 0: one a core
};

/// Finds the best candidate: compiles all in parallel, rejects by what was compiled (scratch, spills, a
/// workgroup that does not fit, fewer waves than the config's waves_per_eu), runs and checks each, ranks what
/// is right. Within 2 % of the best the first in the list wins.
Result<TuneReport> tune(const TuneRequest &request, const Stream &stream, const Ranking &ranking);

/// Reports as files, one for each (kernel, key), in a directory.
class TuningStore {
public:
  explicit TuningStore(std::string directory) : directory_(std::move(directory)) {}

  std::string path(const std::string &kernel, const std::string &key) const;
  Status store(const TuneReport &report) const;
  /// The winner's config of an earlier report for this device; none when there is no report or no winner.
  std::optional<std::string> winner(const std::string &kernel, const std::string &key,
                                    const std::string &device) const;

private:
  std::string directory_;
};

namespace jit {
/// How a candidate keeps an argument: numbers and pointers by value; a buffer, which cannot be copied, by
/// reference.
template <class A> using KeptArgument = std::conditional_t<std::is_copy_constructible_v<A>, A, const A &>;
} // namespace jit

/// A candidate that is one launch of one kernel. Buffers must outlive it.
template <class Config, class... P, class... A>
TuneCandidate candidate(const Kernel<Config, P...> &kernel, const Stream &stream, Grid grid,
                        const Config &config, A &&...arguments) {
  static_assert(((std::is_lvalue_reference_v<A> || std::is_copy_constructible_v<A>) && ...),
                "a candidate refers to its buffers: they have to outlive it");
  using Kept = std::tuple<jit::KeptArgument<std::remove_cvref_t<A>>...>;
  TuneCandidate result;
  result.config = config_text(config);
  result.compile = [=, facts = Kernel<Config, P...>::facts(
                           arguments...)]() -> Result<std::vector<std::shared_ptr<const CompiledKernel>>> {
    NEREID_TRY(auto compiled, kernel.compile(config, facts, stream.device()));
    return std::vector{compiled};
  };
  result.run = [=, kept = Kept(arguments...)]() -> Result<std::vector<LaunchInfo>> {
    const auto launch = [&](const auto &...values) { return kernel(stream, grid, config, values...); };
    NEREID_TRY(LaunchInfo launched, std::apply(launch, kept));
    return std::vector{launched};
  };
  return result;
}

} // namespace nereid
