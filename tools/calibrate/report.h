#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/calibrate/measurement.h"

namespace nereid::calibrate {

/// Errors |predicted / measured - 1| of a class of measurements.
struct ErrorFigures {
  std::string name; ///< "all", "< 20 us", "20-100 us", "> 100 us" or a tile
  size_t count = 0;
  double median = 0, p90 = 0, mean = 0; ///< 0 when there are none
  double bias = 0;                      ///< median of predicted / measured - 1
};

/// A measurement and what was predicted for it.
struct Prediction {
  Measurement measured;
  double us = 0;
  double error() const { return us / measured.us - 1; }
};

/// How near predictions are.
struct Accuracy {
  std::vector<ErrorFigures> classes; ///< by measured time, "all" first
  std::vector<ErrorFigures> tiles;   ///< in ascending order of tiles
  double spearman = 0;               ///< rank correlation of predicted and measured times
  std::vector<Prediction> worst;     ///< by |log(predicted / measured)|, the worst first
};

Accuracy accuracy(std::span<const Prediction> predictions, size_t worst);

/// The value below which `share` of the values lie, between two of them by linear interpolation; 0 of none.
double quantile(std::vector<double> values, double share);

/// Correlation of the ranks of two lists of one length; equal values share their mean rank. 1 of fewer than
/// two.
double spearman(std::span<const double> a, std::span<const double> b);

} // namespace nereid::calibrate
