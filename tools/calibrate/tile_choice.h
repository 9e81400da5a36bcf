#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "tools/calibrate/measurement.h"
#include "tools/calibrate/samples.h"

namespace nereid::calibrate {

/// How good a tile is that the model chooses for a shape.
struct TileChoice {
  size_t shapes = 0;
  size_t best = 0;        ///< shapes whose chosen tile is the best
  size_t within = 0;      ///< whose chosen tile is within 5 % of the best
  double mean_regret = 0; ///< mean of chosen / best - 1
};

/// Over the shapes that have several tiles measured: the measured time of the tile with the smallest
/// predicted one against the smallest measured.
TileChoice choice_among_measured(std::span<const Sample> samples, std::span<const double> predicted);

/// Over `count` shapes of the table, evenly spaced in its order: the predicted time of the tile that was
/// measured, the winner of somebody's tuning, against the smallest predicted over all `tiles`. Where a tile's
/// counted profile says more than twice the smallest, it is not simulated.
Result<TileChoice> winner_among_all(std::span<const Sample> samples, std::span<const Tile> tiles,
                                    size_t count, const sim::DeviceModel &model, const ProfileSource &source,
                                    unsigned threads);

} // namespace nereid::calibrate
