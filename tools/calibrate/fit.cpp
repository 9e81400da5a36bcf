// Levenberg and Marquardt's method for the constants of the device model.
#include "tools/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/calibrate/parameters.h"

namespace nereid::calibrate {
namespace {

using sim::DeviceModel;
using Vector = std::vector<double>;

double huber(double error) {
  const double size = std::abs(error);
  return size <= linear_loss_from ? size * size / 2 : linear_loss_from * (size - linear_loss_from / 2);
}

/// The weight of an error's square with which it counts as Huber's loss does.
double weight(double error) {
  const double size = std::abs(error);
  return size <= linear_loss_from ? 1 : linear_loss_from / size;
}

/// Position of a parameter in its range, 0 to 1: all steps of the method are in these.
double position(const DeviceModel &model, const Parameter &parameter) {
  return (model.*parameter.member - parameter.lower) / (parameter.upper - parameter.lower);
}

void move(DeviceModel &model, const Parameter &parameter, double position) {
  model.*parameter.member =
      parameter.lower + std::clamp(position, 0.0, 1.0) * (parameter.upper - parameter.lower);
}

Vector errors(std::span<const Sample *const> samples, const DeviceModel &model) {
  Vector result;
  result.reserve(samples.size());
  for (const Sample *sample : samples)
    result.push_back(std::log(predicted_us(*sample, model) / sample->measured.us));
  return result;
}

double mean_loss(const Vector &errors) {
  double sum = 0;
  for (const double error : errors)
    sum += huber(error);
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

/// Derivative of all errors by the position of a parameter, from a step to the inside of the range.
Vector derivative(std::span<const Sample *const> samples, const DeviceModel &model, const Vector &here,
                  const Parameter &parameter) {
  const double from = position(model, parameter);
  const double step = from < 0.5 ? 1e-6 : -1e-6;
  DeviceModel moved = model;
  move(moved, parameter, from + step);
  Vector result = errors(samples, moved);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = (result[i] - here[i]) / step;
  return result;
}

/// Solves a symmetric positive system by Gauss's elimination with pivots; a parameter without influence
/// stays.
Vector solve(std::vector<Vector> a, Vector b) {
  const size_t n = b.size();
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column]))
        pivot = row;
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    if (a[column][column] == 0)
      continue;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (size_t i = column; i < n; ++i)
        a[row][i] -= factor * a[column][i];
      b[row] -= factor * b[column];
    }
  }
  Vector x(n, 0);
  for (size_t row = n; row-- > 0;) {
    double sum = b[row];
    for (size_t i = row + 1; i < n; ++i)
      sum -= a[row][i] * x[i];
    x[row] = a[row][row] == 0 ? 0 : sum / a[row][row];
  }
  return x;
}

/// The normal equations of the weighted squares: J^T W J and -J^T W e.
struct Equations {
  std::vector<Vector> matrix;
  Vector right;
};

Equations normal_equations(std::span<const Sample *const> samples, const DeviceModel &model,
                           const Vector &here) {
  std::vector<Vector> jacobian;
  for (const Parameter &parameter : parameters())
    jacobian.push_back(derivative(samples, model, here, parameter));
  const size_t n = jacobian.size();
  Equations result{std::vector<Vector>(n, Vector(n, 0)), Vector(n, 0)};
  for (size_t row = 0; row < n; ++row)
    for (size_t i = 0; i < here.size(); ++i) {
      const double weighted = jacobian[row][i] * weight(here[i]);
      result.right[row] -= weighted * here[i];
      for (size_t column = 0; column < n; ++column)
        result.matrix[row][column] += weighted * jacobian[column][i];
    }
  return result;
}

/// Takes parameters at an end of their range out of the equations when the step would leave it.
void hold_at_bounds(Equations &equations, const DeviceModel &model) {
  size_t i = 0;
  for (const Parameter &parameter : parameters()) {
    const double at = position(model, parameter);
    if ((at <= 0 && equations.right[i] < 0) || (at >= 1 && equations.right[i] > 0)) {
      for (size_t j = 0; j < equations.right.size(); ++j)
        equations.matrix[i][j] = equations.matrix[j][i] = 0;
      equations.right[i] = 0;
    }
    ++i;
  }
}

DeviceModel step_from(const DeviceModel &model, const Equations &equations, double damping) {
  Equations damped = equations;
  for (size_t i = 0; i < damped.right.size(); ++i)
    damped.matrix[i][i] *= 1 + damping;
  const Vector step = solve(std::move(damped.matrix), std::move(damped.right));
  DeviceModel result = model;
  size_t i = 0;
  for (const Parameter &parameter : parameters())
    move(result, parameter, position(model, parameter) + step[i++]);
  return result;
}

} // namespace

Fit fit(std::span<const Sample *const> samples, const DeviceModel &start) {
  constexpr unsigned max_iterations = 200;
  constexpr double settled = 1e-9; // relative gain of an iteration
  Fit result{start, 0, 0};
  Vector here = errors(samples, start);
  result.loss = mean_loss(here);
  double damping = 1e-3;
  while (!samples.empty() && result.iterations < max_iterations) {
    ++result.iterations;
    Equations equations = normal_equations(samples, result.model, here);
    hold_at_bounds(equations, result.model);
    double gain = -1;
    while (gain < 0 && damping < 1e9) {
      const DeviceModel next = step_from(result.model, equations, damping);
      Vector there = errors(samples, next);
      gain = result.loss - mean_loss(there);
      damping *= gain < 0 ? 10 : 0.1;
      if (gain < 0)
        continue;
      result.model = next;
      result.loss -= gain;
      here = std::move(there);
    }
    if (gain <= settled * result.loss)
      break;
    damping = std::max(damping, 1e-9);
  }
  return result;
}

std::vector<unsigned> fold_of_samples(std::span<const Sample> samples, unsigned folds) {
  using Pair = std::pair<size_t, size_t>;
  std::map<Pair, size_t> counts;
  for (const Sample &sample : samples)
    ++counts[{sample.measured.shape.n, sample.measured.shape.k}];
  std::vector<std::pair<Pair, size_t>> pairs(counts.begin(), counts.end());
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto &a, const auto &b) { return a.second > b.second; });
  std::vector<size_t> sizes(folds, 0);
  std::map<Pair, unsigned> folds_of_pairs;
  for (const auto &[pair, count] : pairs) {
    const auto smallest = std::min_element(sizes.begin(), sizes.end());
    *smallest += count;
    folds_of_pairs[pair] = static_cast<unsigned>(smallest - sizes.begin());
  }
  std::vector<unsigned> result;
  for (const Sample &sample : samples)
    result.push_back(folds_of_pairs[{sample.measured.shape.n, sample.measured.shape.k}]);
  return result;
}

std::vector<double> cross_validate(std::span<const Sample> samples, unsigned folds,
                                   const DeviceModel &start) {
  const std::vector<unsigned> fold_of = fold_of_samples(samples, folds);
  std::vector<double> result(samples.size(), 0);
  for (unsigned fold = 0; fold < folds; ++fold) {
    std::vector<const Sample *> others;
    for (size_t i = 0; i < samples.size(); ++i)
      if (fold_of[i] != fold)
        others.push_back(&samples[i]);
    const DeviceModel model = fit(others, start).model;
    for (size_t i = 0; i < samples.size(); ++i)
      if (fold_of[i] == fold)
        result[i] = predicted_us(samples[i], model);
  }
  return result;
}

} // namespace nereid::calibrate
