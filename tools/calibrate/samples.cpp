// Gets the profiles of many launches.
#include "tools/calibrate/samples.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/threads.h"
#include "kernels/tiled_product.h"
#include "sim/run/profile_launch.h"
#include "tools/calibrate/product_launch.h"

namespace nereid::calibrate {
namespace {

Result<sim::LaunchProfile> simulate(const TileKernel &kernel, const WantedLaunch &wanted) {
  sim::Memory memory;
  NEREID_TRY(sim::Launch launch, product_launch(kernel.name, wanted.tile, wanted.shape, memory));
  launch.threads = 1; // launches run side by side
  auto profiled = sim::profile_launch(kernel.code, memory, launch);
  if (profiled && !profiled->fault)
    return std::move(profiled->profile);
  Error error = profiled ? profiled->fault->error() : profiled.error();
  error.message = fmt::format("tile {}, M {}, N {}, K {}: {}", wanted.tile.text(), wanted.shape.m,
                              wanted.shape.n, wanted.shape.k, error.message);
  return error;
}

/// A line on stderr every five seconds.
class Progress {
public:
  explicit Progress(size_t count) : count_(count) {}
  void advance() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(5))
      return;
    said_ = now;
    fmt::print(stderr, "nereid-calibrate: {} of {} launches\n", done_, count_);
  }

private:
  size_t count_, done_ = 0;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

} // namespace

ProfileSource simulated_profiles(const std::map<Tile, TileKernel> &kernels, ProfileStore &store) {
  return [&](const WantedLaunch &wanted) -> Result<sim::LaunchProfile> {
    const auto kernel = kernels.find(wanted.tile);
    if (kernel == kernels.end())
      return user_error(fmt::format("tile {}: there is no code object of it", wanted.tile.text()),
                        "add it to the folder of --objects, or leave the tile out of the table");
    const std::string key = fmt::format("{} {} {}x{}x{}", sim::profile_version, kernel->second.digest,
                                        wanted.shape.m, wanted.shape.n, wanted.shape.k);
    if (auto known = store.find(key))
      return *std::move(known);
    NEREID_TRY(sim::LaunchProfile profile, simulate(kernel->second, wanted));
    NEREID_CHECK(store.add(key, profile));
    return profile;
  };
}

Result<sim::LaunchProfile> counted_profile(const WantedLaunch &launch) {
  const auto [m, n, k] = launch.shape;
  return kernels::counted_profile(
      {.size = {static_cast<int64_t>(m), static_cast<int64_t>(n), static_cast<int64_t>(k)},
       .block_m = static_cast<int64_t>(launch.tile.m),
       .block_n = static_cast<int64_t>(launch.tile.n),
       .block_k = 256,
       .column_group = 32});
}

Result<std::vector<sim::LaunchProfile>> profiles_of(std::span<const WantedLaunch> launches,
                                                    const ProfileSource &source, unsigned threads) {
  std::vector<std::optional<Result<sim::LaunchProfile>>> found(launches.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  Progress progress(launches.size());
  const auto work = [&] {
    for (size_t i = next++; i < launches.size() && !failed; i = next++) {
      found[i].emplace(source(launches[i]));
      if (!*found[i])
        failed = true;
      const std::lock_guard lock(mutex);
      progress.advance();
    }
  };
  run_on_threads(threads, work);
  for (const auto &result : found)
    if (result && !*result)
      return result->error();
  std::vector<sim::LaunchProfile> profiles;
  for (auto &result : found)
    profiles.push_back(*std::move(*result));
  return profiles;
}

Result<std::vector<Sample>> samples_of(std::vector<Measurement> measurements, const ProfileSource &source,
                                       unsigned threads) {
  std::vector<WantedLaunch> launches;
  for (const Measurement &row : measurements)
    launches.push_back({row.tile, row.shape});
  NEREID_TRY(std::vector<sim::LaunchProfile> profiles, profiles_of(launches, source, threads));
  std::vector<Sample> samples;
  for (size_t i = 0; i < measurements.size(); ++i)
    samples.push_back({std::move(measurements[i]), std::move(profiles[i])});
  return samples;
}

} // namespace nereid::calibrate
