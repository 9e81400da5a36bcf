// Random numbers that are the same on every machine.
#include "kernels/host/random.h"

#include <cmath>
#include <numbers>

#include "base/float_environment.h"
#include "kernels/host/formats.h"

namespace nereid::kernels::host {

uint64_t Random::bits() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<uint16_t> normal_bf16(int64_t count, uint64_t seed, double scale) {
  const FloatEnvironment environment;
  Random random(seed);
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = bf16_from_double(random.normal() * scale);
  return values;
}

MxMatrix normal_mx(int64_t rows, int64_t k, uint64_t seed) {
  return quantize_even(normal_bf16(rows * k, seed), rows, k);
}

} // namespace nereid::kernels::host
