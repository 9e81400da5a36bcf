#include "tests/kernels/quant_values.h"

#include <cmath>

#include "kernels/host/formats.h"
#include "kernels/host/random.h"

namespace nereid::kernels::test {
namespace {

/// All finite patterns, by magnitude, positive before negative.
std::vector<uint16_t> finite_patterns() {
  std::vector<uint16_t> patterns;
  for (uint32_t magnitude = 0; magnitude < 0x7f80; ++magnitude) {
    patterns.push_back(static_cast<uint16_t>(magnitude));
    patterns.push_back(static_cast<uint16_t>(magnitude | 0x8000));
  }
  return patterns;
}

constexpr int64_t group = 32;

/// Rows of 32 groups; the last is filled up with zeros.
QuantData in_rows(std::string name, std::vector<uint16_t> values) {
  constexpr int64_t columns = 32 * group;
  const int64_t rows = (static_cast<int64_t>(values.size()) + columns - 1) / columns;
  values.resize(rows * columns);
  return {std::move(name), rows, columns, std::move(values)};
}

/// Groups with that largest magnitude: alone at four positions, and among random smaller values.
void add_groups_with(std::vector<uint16_t> &values, uint16_t largest, host::Random &random) {
  for (int64_t position : {0, 1, 15, 31}) {
    for (uint16_t sign : {0x0000, 0x8000}) {
      const size_t first = values.size();
      values.resize(first + group);
      if (position % 2 == 1)
        for (int64_t i = 0; i < group; ++i) {
          const double smaller = host::bf16_to_float(largest) * (2 * random.uniform() - 1);
          values[first + i] = host::bf16_from_double(std::isfinite(smaller) ? smaller : 1.0);
        }
      values[first + position] = static_cast<uint16_t>(largest | sign);
    }
  }
}

} // namespace

QuantData normal_data(int exponent) {
  constexpr int64_t rows = 37;
  constexpr int64_t columns = 352;
  return {
      "normal 2^" + std::to_string(exponent), rows, columns,
      host::normal_bf16(rows * columns, static_cast<uint64_t>(exponent + 1000), std::ldexp(1.0, exponent))};
}

QuantData rotated_patterns() {
  const std::vector<uint16_t> patterns = finite_patterns();
  std::vector<uint16_t> values;
  for (size_t first = 0; first < patterns.size(); first += group)
    for (int64_t rotation = 0; rotation < group; ++rotation)
      for (int64_t i = 0; i < group; ++i)
        values.push_back(patterns[first + (i + rotation) % group]);
  return in_rows("rotated patterns", std::move(values));
}

QuantData lone_patterns(int shift) {
  const std::vector<uint16_t> patterns = finite_patterns();
  std::vector<uint16_t> values(patterns.size() * group);
  for (size_t i = 0; i < patterns.size(); ++i)
    values[i * group + (i + shift) % group] = patterns[i];
  return in_rows("lone patterns, shift " + std::to_string(shift), std::move(values));
}

QuantData special_groups() {
  std::vector<uint16_t> values;
  host::Random random(5);
  for (uint16_t largest :
       {0x0000, 0x0001, 0x0002, 0x003f, 0x007f, 0x0080, 0x7f7f, 0x7f80, 0x7fc0, 0x7f81, 0x7fff})
    add_groups_with(values, largest, random);
  // 1.5 and 1.75 times every power of two, and one unit in the last place around.
  for (int exponent = 1; exponent < 255; ++exponent)
    for (int mantissa : {0x3f, 0x40, 0x41, 0x5f, 0x60, 0x61})
      add_groups_with(values, static_cast<uint16_t>(exponent << 7 | mantissa), random);
  return in_rows("special groups", std::move(values));
}

} // namespace nereid::kernels::test
