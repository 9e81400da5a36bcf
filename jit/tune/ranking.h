#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"

namespace nereid {

/// One run of a candidate: its launches, in order.
using CandidateRun = std::function<Result<std::vector<LaunchInfo>>()>;

/// Puts candidates in order; less is better.
class Ranking {
public:
  virtual ~Ranking() = default;
  virtual std::string_view name() const = 0; ///< "device time" or "estimate"
  virtual std::string_view unit() const = 0; ///< of the figures
  /// The figure of a candidate whose results are right. `first` is the run that was checked.
  virtual Result<double> figure(const Stream &stream, const std::vector<LaunchInfo> &first,
                                const CandidateRun &run) const = 0;
};

/// The median of several runs between two events of the stream, in milliseconds; on a GPU.
class DeviceTime final : public Ranking {
public:
  explicit DeviceTime(int runs = 11) : runs_(runs) {}
  std::string_view name() const override { return "device time"; }
  std::string_view unit() const override { return "ms"; }
  Result<double> figure(const Stream &stream, const std::vector<LaunchInfo> &first,
                        const CandidateRun &run) const override;

private:
  int runs_;
};

/// A plain estimate where nothing can be timed: for each launch how often its workgroups fill 256 compute
/// units, times the instructions of its longest wave; summed.
class Estimate final : public Ranking {
public:
  std::string_view name() const override { return "estimate"; }
  std::string_view unit() const override { return "wave instructions"; }
  Result<double> figure(const Stream &stream, const std::vector<LaunchInfo> &first,
                        const CandidateRun &run) const override;
};

/// DeviceTime on a GPU, Estimate on the simulator.
std::unique_ptr<Ranking> ranking_for(const Device &device);

} // namespace nereid
