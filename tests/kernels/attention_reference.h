#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "dsl/elements.h"
#include "kernels/attention_loop.h"
#include "kernels/host/random.h"

namespace nereid::kernels::test {

/// Values of a normal distribution.
template <class T> std::vector<T> normal_values(int64_t count, int seed) {
  std::vector<T> result;
  for (uint16_t pattern : host::normal_bf16(count, seed)) {
    bf16 value;
    static_assert(sizeof value == sizeof pattern);
    std::memcpy(&value, &pattern, sizeof value);
    result.push_back(T(float(value)));
  }
  return result;
}

/// The element of queries and output beside keys and values of C, and how the kernels call both.
template <class C> using QueryElement = std::conditional_t<std::is_same_v<C, fp8>, bf16, C>;
template <class C>
inline constexpr AttentionElement attention_element = std::is_same_v<C, fp8>   ? AttentionElement::Fp8
                                                      : std::is_same_v<C, f16> ? AttentionElement::F16
                                                                               : AttentionElement::Bf16;
/// Of the tensors of keys and values.
template <class C> inline constexpr float test_k_scale = std::is_same_v<C, fp8> ? 0.75F : 1;
template <class C> inline constexpr float test_v_scale = std::is_same_v<C, fp8> ? 0.5F : 1;

/// What an output may differ by whose values are normal: it is a mean of them times v_scale. Rounded to the
/// element are P and the output and, for fp8, queries.
template <class C>
inline constexpr double attention_tolerance = std::is_same_v<C, fp8>   ? 1.2e-1
                                              : std::is_same_v<C, f16> ? 4e-3
                                                                       : 3e-2;

/// Elements of a key and of a value.
struct AttentionWidths {
  int64_t key, value;
};

/// One row of attention in double precision: a query on the first `seen` keys, which `key(j)` and `value(j)`
/// point to; zeros without keys.
template <class T, class Key, class Value>
std::vector<double> attention_row(const T *query, int64_t seen, const AttentionWidths &width, double scale,
                                  const Key &key, const Value &value) {
  std::vector<double> scores(std::max<int64_t>(seen, 0)), out(width.value, 0);
  double highest = -INFINITY, total = 0;
  for (int64_t j = 0; j < seen; ++j) {
    for (int64_t e = 0; e < width.key; ++e)
      scores[j] += scale * float(query[e]) * float(key(j)[e]);
    highest = std::max(highest, scores[j]);
  }
  for (int64_t j = 0; j < seen; ++j) {
    const double weight = std::exp(scores[j] - highest);
    total += weight;
    for (int64_t e = 0; e < width.value; ++e)
      out[e] += weight * float(value(j)[e]);
  }
  for (double &element : out)
    element = seen > 0 ? element / total : 0;
  return out;
}

/// The larger of `worst` and the errors of a row; infinity if there is a NaN.
template <class T> double worst_error(double worst, const T *row, const std::vector<double> &expected) {
  for (size_t e = 0; e < expected.size(); ++e) {
    const double error = std::fabs(double(float(row[e])) - expected[e]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

} // namespace nereid::kernels::test
