#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"
#include "jit/tune/candidate.h"

namespace nereid {

/// A candidate whose results are right, as a ranking sees it.
struct RankedCandidate {
  const Stream &stream;
  const std::vector<LaunchInfo> &launches; ///< of a run that is over
  std::function<Status()> before_run;      ///< sets memory; to be called before each run, and not timed
  CandidateRun run;
};

/// How often successive halving runs a candidate: `first` times at first, twice as often for each half that
/// is left, `last` times at most. 1 and 1: one run says all, and nothing is halved.
struct Rungs {
  int first = 1;
  int last = 1;
};

/// Puts candidates in order; less is better.
class Ranking {
public:
  virtual ~Ranking() = default;
  virtual std::string_view name() const = 0; ///< "device time", "simulated time", "estimate"
  virtual std::string_view unit() const = 0; ///< of the figures
  /// All that decides what the figure of given code is; a stored figure holds while it stays as it is.
  virtual std::string identity() const { return std::string(name()); }
  virtual Rungs rungs() const { return {}; }
  /// The state of the caches in which launches on a simulator are to be timed (LaunchInfo::time); nothing
  /// where no times are wanted.
  virtual std::optional<sim::CacheState> timed_with() const { return std::nullopt; }
  /// The figure of `runs` runs. One that is not finite or not above zero does not count.
  virtual Result<double> figure(const RankedCandidate &candidate, int runs) const = 0;
};

/// The median between two events of the stream, in microseconds; on a GPU.
class DeviceTime final : public Ranking {
public:
  explicit DeviceTime(Rungs rungs = {3, 24}) : rungs_(rungs) {}
  std::string_view name() const override { return "device time"; }
  std::string_view unit() const override { return "us"; }
  Rungs rungs() const override { return rungs_; }
  Result<double> figure(const RankedCandidate &candidate, int runs) const override;

private:
  Rungs rungs_;
};

/// The time that the simulator computes of each launch, summed, in microseconds.
class SimulatedTime final : public Ranking {
public:
  explicit SimulatedTime(sim::CacheState caches = sim::CacheState::Rotating) : caches_(caches) {}
  std::string_view name() const override { return "simulated time"; }
  std::string_view unit() const override { return "us"; }
  std::string identity() const override; ///< the caches, and a digest of the simulator
  std::optional<sim::CacheState> timed_with() const override { return caches_; }
  Result<double> figure(const RankedCandidate &candidate, int runs) const override;

private:
  sim::CacheState caches_;
};

/// A quick estimate by counted instructions, in issue slots of a SIMD: estimated_slots(), summed over the
/// launches.
class Estimate final : public Ranking {
public:
  std::string_view name() const override { return "estimate"; }
  std::string_view unit() const override { return "issue slots"; }
  std::string identity() const override { return "estimate 2"; } ///< the number: of its formula
  Result<double> figure(const RankedCandidate &candidate, int runs) const override;
};

/// DeviceTime on a GPU, SimulatedTime on a simulator.
std::unique_ptr<Ranking> ranking_for(const Device &device,
                                     sim::CacheState caches = sim::CacheState::Rotating);

} // namespace nereid
