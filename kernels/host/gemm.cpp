// Reference products on the host, and how results are compared with them.
#include "kernels/host/gemm.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>
#include <thread>

#include "base/float_environment.h"
#include "base/threads.h"
#include "kernels/host/formats.h"

namespace nereid::kernels::host {
namespace {

/// Twice the values of all codes of a matrix: integers from -12 to 12.
std::vector<int16_t> doubled_values(const MxMatrix &matrix) {
  std::vector<int16_t> values(matrix.rows * matrix.k);
  for (size_t byte = 0; byte < matrix.codes.size(); ++byte) {
    values[2 * byte] = static_cast<int16_t>(2 * e2m1_to_float(matrix.codes[byte] & 15));
    values[2 * byte + 1] = static_cast<int16_t>(2 * e2m1_to_float(matrix.codes[byte] >> 4));
  }
  return values;
}

/// Half of each scale: it undoes the doubling of the values.
std::vector<double> halved_scales(const MxMatrix &matrix) {
  std::vector<double> scales(matrix.scales.size());
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = e8m0_to_double(matrix.scales[i]) / 2;
  return scales;
}

int32_t group_dot(const int16_t *a, const int16_t *b) {
  int32_t sum = 0;
  for (int64_t i = 0; i < group_size; ++i)
    sum += static_cast<int32_t>(a[i]) * b[i];
  return sum;
}

template <class Body> void parallel_rows(int64_t rows, const Body &body) {
  const int64_t threads = std::max<int64_t>(1, std::min<int64_t>(std::thread::hardware_concurrency(), rows));
  std::atomic<int64_t> next = 0;
  run_on_threads(static_cast<unsigned>(threads), [&] {
    for (int64_t part = next++; part < threads; part = next++)
      body(rows * part / threads, rows * (part + 1) / threads);
  });
}

} // namespace

std::vector<double> gemm(const MxMatrix &a, const MxMatrix &b) {
  assert(a.k == b.k);
  const FloatEnvironment environment;
  const int64_t k = a.k;
  const int64_t groups = k / group_size;
  const std::vector<int16_t> a_values = doubled_values(a);
  const std::vector<int16_t> b_values = doubled_values(b);
  const std::vector<double> a_scales = halved_scales(a);
  const std::vector<double> b_scales = halved_scales(b);
  std::vector<double> result(a.rows * b.rows);
  // Rows of B outside: each is used against the whole of A while it is in the cache.
  parallel_rows(b.rows, [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n)
      for (int64_t m = 0; m < a.rows; ++m) {
        double sum = 0;
        for (int64_t g = 0; g < groups; ++g)
          sum += group_dot(&a_values[m * k + g * group_size], &b_values[n * k + g * group_size]) *
                 (a_scales[m * groups + g] * b_scales[n * groups + g]);
        result[m * b.rows + n] = sum;
      }
  });
  return result;
}

Comparison compare(std::span<const uint16_t> result, std::span<const double> exact, double relative,
                   double absolute) {
  assert(result.size() == exact.size());
  const FloatEnvironment environment;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Comparison comparison;
  for (size_t i = 0; i < result.size(); ++i) {
    const double got = bf16_to_float(result[i]);
    const double expected = bf16_to_float(bf16_from_double(exact[i]));
    bool right = false;
    if (std::isnan(expected) || std::isinf(expected)) {
      right = std::isnan(expected) ? std::isnan(got) : got == expected;
      if (std::isfinite(got))
        comparison.max_error = infinity;
    } else {
      const double error = std::isfinite(got) ? std::fabs(got - exact[i]) : infinity;
      const double bound = absolute + relative * std::fabs(exact[i]);
      if (error > comparison.max_error || comparison.bound_of_max_error == 0) {
        comparison.max_error = error;
        comparison.bound_of_max_error = bound;
      }
      right = error <= bound;
    }
    if (!right) {
      ++comparison.wrong;
      if (!comparison.first_wrong)
        comparison.first_wrong = static_cast<int64_t>(i);
    }
  }
  return comparison;
}

} // namespace nereid::kernels::host
