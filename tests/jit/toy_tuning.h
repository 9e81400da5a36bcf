#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {

/// What a toy kernel does wrong.
enum class Flaw : int { None, Wrong, WritesNothing, Endless };
constexpr auto nereid_config_names(Flaw) {
  return std::to_array<std::string_view>({"none", "wrong", "writes_nothing", "endless"});
}

struct ToyConfig {
  int block = 256;
  int waves = 4;
  int waves_per_eu = 0;
  Flaw flaw = Flaw::None;
  NEREID_CONFIG(ToyConfig, block, waves, waves_per_eu, flaw)
};

/// z = 2 x, n elements; a program a block.
inline void twice(const ToyConfig &c, Ptr<const f32> x, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  Tile<f32> value = load(x + i, in_range);
  if (c.flaw == Flaw::Endless)
    for ([[maybe_unused]] Int step : range(0, 2'000'000'000))
      store(z + i, value, in_range);
  if (c.flaw != Flaw::WritesNothing)
    store(z + i, c.flaw == Flaw::Wrong ? value : value + value, in_range);
}

/// Candidates of `twice` on a device of their own, with their reference.
class Toy {
public:
  explicit Toy(const SimulatorOptions &options = {}) : device(Device::simulator(options)) {
    for (int i = 0; i < n; ++i)
      host.push_back(static_cast<float>(i + 1));
    x = device.upload(host).value();
    z = device.allocate<float>(host.size()).value();
  }
  TuneCandidate toy(const ToyConfig &config) {
    return candidate(kernel, device.stream(), {cdiv(n, config.block)}, config, x, z, n);
  }
  TuneRequest request(const std::vector<ToyConfig> &configs) {
    TuneRequest made{.kernel = "twice", .key = tuning_key({{"n", n}})};
    for (const ToyConfig &config : configs)
      made.candidates.push_back(toy(config));
    made.validate = [this] { return check(); };
    return made;
  }
  Status check() const {
    const std::vector<float> result = z.to_host().value();
    for (size_t i = 0; i < result.size(); ++i)
      if (result[i] != 2 * host[i])
        return user_error("element " + std::to_string(i) + " differs");
    return {};
  }
  Result<TuneReport> tune(const TuneRequest &request, const TuneOptions &options = {}) const {
    return nereid::tune(request, device.stream(), options);
  }

  static constexpr int n = 2048;
  Device device;
  std::vector<float> host;
  Buffer<float> x, z;
  Kernel<twice> kernel;
};

/// Figures by a function of the config of a candidate's first launch and the number of runs.
class FakeRanking : public Ranking {
public:
  using Figure = std::function<double(const std::string &config, int runs)>;
  explicit FakeRanking(Figure figure, Rungs rungs = {}) : figure_(std::move(figure)), rungs_(rungs) {}

  std::string_view name() const override { return "fake time"; }
  std::string_view unit() const override { return "us"; }
  Rungs rungs() const override { return rungs_; }
  Result<double> figure(const RankedCandidate &candidate, int runs) const override {
    const std::string config = candidate.launches.at(0).config();
    asked.emplace_back(config, runs);
    return figure_(config, runs);
  }

  mutable std::vector<std::pair<std::string, int>> asked;

private:
  Figure figure_;
  Rungs rungs_;
};

/// Its reason where exactly one candidate is rejected, else all of the report.
inline std::string rejection(const Result<TuneReport> &report, size_t index) {
  return report ? report->candidates.at(index).record.rejected : "no report: " + report.error().text();
}

} // namespace nereid::test
