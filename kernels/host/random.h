#pragma once

#include <cstdint>
#include <vector>

#include "kernels/host/quantize.h"

namespace nereid::kernels::host {

/// A seeded source of test data (SplitMix64: Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits();
  /// Uniform in [0, 1).
  double uniform();
  /// Standard normal, by Box and Muller's transform.
  double normal();

private:
  uint64_t state_;
};

/// `count` bf16 values of a normal distribution with standard deviation `scale`.
std::vector<uint16_t> normal_bf16(int64_t count, uint64_t seed, double scale = 1.0);

/// A quantised normal matrix: random weights as a test's B.
MxMatrix normal_mx(int64_t rows, int64_t k, uint64_t seed);

} // namespace nereid::kernels::host
