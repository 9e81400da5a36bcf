#pragma once

#include <span>
#include <vector>

#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// Errors log(predicted / measured) up to this count by their square, larger ones linearly (Huber's loss).
inline constexpr double linear_loss_from = 0.1;

struct Fit {
  sim::DeviceModel model;
  double loss = 0; ///< mean of Huber's loss, 0.5 * error^2 for small errors
  unsigned iterations = 0;
};

/// The model whose times are nearest to the measured ones: Levenberg and Marquardt's method on
/// log(predicted / measured) from `start`, each parameter kept in its range. The same samples in the same
/// order give the same bits. No samples: `start`.
Fit fit(std::span<const Sample *const> samples, const sim::DeviceModel &start = {});

/// Microseconds for each sample by a model that was fitted without it: samples are split into `folds` groups
/// by their (N,K), so that none of one pair is in two groups.
std::vector<double> cross_validate(std::span<const Sample> samples, unsigned folds,
                                   const sim::DeviceModel &start = {});

/// The group of each sample: pairs (N,K) in ascending order are dealt to the groups, the largest first to the
/// smallest group.
std::vector<unsigned> fold_of_samples(std::span<const Sample> samples, unsigned folds);

} // namespace nereid::calibrate
