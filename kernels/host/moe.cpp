// Reference of routing, sorting and the products of a mixture of experts.
#include "kernels/host/moe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/float_environment.h"
#include "kernels/host/formats.h"
#include "kernels/host/gemm.h"

namespace nereid::kernels::host {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

/// Indices of the largest values, the largest first; of equals the lower index.
std::vector<int64_t> best_of(std::span<const double> values, int64_t count) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] > values[b]; });
  order.resize(count);
  return order;
}

void lower_other_groups(const Routing &routing, std::vector<double> &keys) {
  const int64_t size = routing.experts / routing.groups;
  std::vector<double> of_group;
  for (int64_t group = 0; group < routing.groups; ++group) {
    const std::span<const double> members = std::span(keys).subspan(group * size, size);
    const std::vector<int64_t> best = best_of(members, 2);
    of_group.push_back(members[best[0]] + members[best[1]]);
  }
  const std::vector<int64_t> kept = best_of(of_group, routing.keep_groups);
  for (int64_t expert = 0; expert < routing.experts; ++expert)
    if (std::find(kept.begin(), kept.end(), expert / size) == kept.end())
      keys[expert] = lowest;
}

/// Row `row` of a matrix as a matrix of one row.
MxMatrix row_of(const MxMatrix &matrix, int64_t row) {
  MxMatrix result(1, matrix.k);
  std::copy_n(matrix.codes.begin() + row * (matrix.k / 2), matrix.k / 2, result.codes.begin());
  std::copy_n(matrix.scales.begin() + row * (matrix.k / 32), matrix.k / 32, result.scales.begin());
  return result;
}

double bias_of(const std::vector<uint16_t> &bias, int64_t index) {
  return bias.empty() ? 0.0 : bf16_to_float(bias[index]);
}

} // namespace

Routed route(const Routing &routing, std::span<const float> logits, std::span<const float> bias) {
  const FloatEnvironment environment;
  Routed result;
  for (size_t first = 0; first < logits.size(); first += routing.experts) {
    const std::span<const float> row = logits.subspan(first, routing.experts);
    const double largest = *std::max_element(row.begin(), row.end());
    std::vector<double> scores, keys;
    for (int64_t expert = 0; expert < routing.experts; ++expert) {
      const bool sigmoid = routing.scores == Scores::Sigmoid;
      scores.push_back(sigmoid ? 1 / (1 + std::exp(-double{row[expert]})) : std::exp(row[expert] - largest));
      keys.push_back(sigmoid ? scores.back() + bias[expert] : row[expert]);
    }
    if (routing.groups > 1)
      lower_other_groups(routing, keys);
    const std::vector<int64_t> chosen = best_of(keys, routing.top_k);
    double sum = 0;
    for (int64_t expert : chosen)
      sum += scores[expert];
    if (routing.scores == Scores::Softmax)
      sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    for (int64_t expert : chosen) {
      result.ids.push_back(static_cast<int32_t>(expert));
      result.weights.push_back(static_cast<float>(scores[expert] / sum * routing.scale));
    }
  }
  return result;
}

Sorted sort_by_expert(std::span<const int32_t> ids, int64_t experts, int64_t block, int64_t blocks) {
  Sorted result{std::vector<int32_t>(block * blocks, -1), std::vector<int32_t>(blocks, -1),
                std::vector<int32_t>(ids.size(), -1)};
  int64_t place = 0;
  for (int64_t expert = 0; expert < experts; ++expert) {
    const int64_t first = place;
    for (size_t index = 0; index < ids.size(); ++index)
      if (ids[index] == expert) {
        result.places[index] = static_cast<int32_t>(place);
        result.sorted[place++] = static_cast<int32_t>(index);
      }
    place = (place + block - 1) / block * block;
    for (int64_t at = first; at < place; at += block)
      result.block_experts[at / block] = static_cast<int32_t>(expert);
  }
  return result;
}

std::vector<double> mixture(const Experts &experts, std::span<const uint16_t> x, const Routed &routed,
                            int64_t rows) {
  const FloatEnvironment environment;
  const auto top_k = static_cast<int64_t>(routed.ids.size()) / rows;
  const int64_t width = experts.width, inner = experts.inner;
  const MxMatrix quantised = quantize_even(x, rows, width);
  std::vector<double> y(rows * width);
  for (int64_t index = 0; index < rows * top_k; ++index) {
    const int32_t expert = routed.ids[index];
    if (expert < 0)
      continue;
    const std::vector<double> both = gemm(row_of(quantised, index / top_k), experts.up[expert]);
    std::vector<float> hidden(inner);
    for (int64_t i = 0; i < inner; ++i)
      hidden[i] = static_cast<float>(
          activate(experts.gate, both[i] + bias_of(experts.up_bias, expert * inner * 2 + i),
                   both[inner + i] + bias_of(experts.up_bias, expert * inner * 2 + inner + i)));
    const std::vector<double> result = gemm(quantize(hidden, 1, inner, experts.rule), experts.down[expert]);
    for (int64_t column = 0; column < width; ++column)
      y[index / top_k * width + column] +=
          routed.weights[index] * (result[column] + bias_of(experts.down_bias, expert * width + column));
  }
  return y;
}

} // namespace nereid::kernels::host
