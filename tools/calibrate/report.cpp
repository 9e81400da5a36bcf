// Figures of accuracy.
#include "tools/calibrate/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nereid::calibrate {
namespace {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]])
      ++end;
    for (size_t i = first; i < end; ++i)
      result[order[i]] = static_cast<double>(first + end - 1) / 2;
    first = end;
  }
  return result;
}

ErrorFigures figures(std::string name, std::span<const Prediction> predictions, auto belongs) {
  std::vector<double> sizes, errors;
  for (const Prediction &prediction : predictions)
    if (belongs(prediction.measured)) {
      errors.push_back(prediction.error());
      sizes.push_back(std::abs(prediction.error()));
    }
  ErrorFigures result;
  result.name = std::move(name);
  result.count = sizes.size();
  result.median = quantile(sizes, 0.5);
  result.p90 = quantile(sizes, 0.9);
  result.bias = quantile(errors, 0.5);
  if (!sizes.empty())
    result.mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
  return result;
}

} // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (position - static_cast<double>(below));
}

double spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2)
    return 1;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

Accuracy accuracy(std::span<const Prediction> predictions, size_t worst) {
  Accuracy result;
  const auto by_time = [&](const char *name, double from, double to) {
    result.classes.push_back(figures(name, predictions, [from, to](const Measurement &measured) {
      return measured.us >= from && measured.us < to;
    }));
  };
  by_time("all", 0, INFINITY);
  by_time("< 20 us", 0, 20);
  by_time("20-100 us", 20, 100);
  by_time("> 100 us", 100, INFINITY);
  std::map<Tile, bool> tiles;
  std::vector<double> measured, predicted;
  for (const Prediction &prediction : predictions) {
    tiles[prediction.measured.tile] = true;
    measured.push_back(prediction.measured.us);
    predicted.push_back(prediction.us);
  }
  for (const auto &[tile, there] : tiles)
    result.tiles.push_back(figures(tile.text(), predictions, [&tile = tile](const Measurement &measurement) {
      return measurement.tile == tile;
    }));
  result.spearman = spearman(measured, predicted);
  result.worst.assign(predictions.begin(), predictions.end());
  std::stable_sort(result.worst.begin(), result.worst.end(), [](const Prediction &a, const Prediction &b) {
    return std::abs(std::log(a.us / a.measured.us)) > std::abs(std::log(b.us / b.measured.us));
  });
  result.worst.resize(std::min(worst, result.worst.size()));
  return result;
}

} // namespace nereid::calibrate
