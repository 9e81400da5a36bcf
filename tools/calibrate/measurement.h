#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/timing/device_model.h"
#include "sim/timing/launch_profile.h"

namespace nereid::calibrate {

/// Sizes of a product C[M,N] = A[M,K] B[N,K]^T.
struct Shape {
  size_t m = 0, n = 0, k = 0;
  auto operator<=>(const Shape &) const = default;
};

/// Rows and columns of C that a workgroup makes.
struct Tile {
  size_t m = 0, n = 0;
  auto operator<=>(const Tile &) const = default;
  std::string text() const { return std::to_string(m) + "x" + std::to_string(n); }
};

/// A time that somebody measured.
struct Measurement {
  Shape shape;
  Tile tile;
  double us = 0;
  bool early = false; ///< of the campaign that has an offset of its own (campaigns.h)
  SourceLine where;   ///< the line of the table
};

/// A measurement with what the simulator says of its launch.
struct Sample {
  Measurement measured;
  sim::LaunchProfile profile;
};

/// Microseconds that the model predicts for a sample: caches rotating, as the times were measured.
inline double predicted_us(const Sample &sample, const sim::DeviceModel &model) {
  sim::DeviceModel used = model;
  if (!sample.measured.early)
    used.campaign_us = 0;
  return sim::device_us(sample.profile, sim::CacheState::Rotating, used);
}

} // namespace nereid::calibrate
