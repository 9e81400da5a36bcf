#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "tools/calibrate/measurement.h"
#include "tools/calibrate/objects.h"
#include "tools/calibrate/profile_store.h"

namespace nereid::calibrate {

/// A launch that a profile is wanted of.
struct WantedLaunch {
  Tile tile;
  Shape shape;
};

/// Where profiles come from.
using ProfileSource = std::function<Result<sim::LaunchProfile>(const WantedLaunch &)>;

/// Profiles by the simulator from the kernels of tiles, each launch once per `store`. Error (User): no kernel
/// of the tile.
ProfileSource simulated_profiles(const std::map<Tile, TileKernel> &kernels, ProfileStore &store);

/// Profiles by counting, without code (kernels/tiled_product.h).
Result<sim::LaunchProfile> counted_profile(const WantedLaunch &launch);

/// The profiles of all launches, in their order, made on `threads` host threads. Says on stderr how far it is
/// when that takes long. The error of the first launch that has one.
Result<std::vector<sim::LaunchProfile>> profiles_of(std::span<const WantedLaunch> launches,
                                                    const ProfileSource &source, unsigned threads);

/// Measurements with their profiles.
Result<std::vector<Sample>> samples_of(std::vector<Measurement> measurements, const ProfileSource &source,
                                       unsigned threads);

} // namespace nereid::calibrate
