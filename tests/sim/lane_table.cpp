#include "tests/sim/lane_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {

float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
double as_double(uint32_t low, uint32_t high) { return std::bit_cast<double>(low | uint64_t{high} << 32); }
uint64_t bits_of(double value) { return std::bit_cast<uint64_t>(value); }

double half_value(uint32_t bits) {
  int exponent = bits >> 10 & 31;
  int mantissa = bits & 1023;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? std::nan("") : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

uint32_t nearest_half(double value) {
  uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7E00;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7C00;
  uint32_t low = 0, high = 0x7BFF; // the largest half at or below the magnitude
  while (low < high) {
    uint32_t middle = (low + high + 1) / 2;
    if (half_value(middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  double below = half_value(low), above = low == 0x7BFF ? 65536 : half_value(low + 1);
  double rest = magnitude - below, gap = above - below;
  bool up = rest > gap / 2 || (rest == gap / 2 && low & 1);
  return sign | (low + up);
}

namespace {

std::string replaced(std::string text, const std::string &what) {
  for (size_t at; (at = text.find('%')) != std::string::npos;)
    text.replace(at, 1, what);
  return text;
}

bool matches(Match match, uint64_t actual, uint64_t expected) {
  switch (match) {
  case Match::Bits:
    return actual == expected;
  case Match::Float:
    return actual == expected || (std::isnan(as_float(actual)) && std::isnan(as_float(expected)));
  case Match::FloatNear: {
    float a = as_float(actual), b = as_float(expected);
    if ((std::isnan(a) && std::isnan(b)) || a == b)
      return true;
    return std::nextafter(a, b) == b;
  }
  case Match::Half:
    return actual == expected ||
           ((actual & 0xFFFF0000) == (expected & 0xFFFF0000) && std::isnan(half_value(actual & 0xFFFF)) &&
            std::isnan(half_value(expected & 0xFFFF)));
  case Match::Double: {
    double a = std::bit_cast<double>(actual), b = std::bit_cast<double>(expected);
    return actual == expected || (std::isnan(a) && std::isnan(b));
  }
  }
  return false;
}

void expect_part(const LaneCase *cases, size_t count, const std::array<LaneInputs, 64> &inputs,
                 const std::string &prologue) {
  std::vector<uint32_t> words(8 * 64);
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned lane = 0; lane < 64; ++lane)
      words[r * 64 + lane] = inputs[lane][r];
  constexpr unsigned first = 16;
  std::string body = prologue + "\n";
  for (size_t k = 0; k < count; ++k) {
    unsigned d = first + 2 * static_cast<unsigned>(k);
    body += fmt::format("v_mov_b32 v{}, v{}\nv_mov_b32 v{}, v7\n", d, cases[k].words == 2 ? 6 : 7, d + 1);
    body += replaced(cases[k].text,
                     cases[k].words == 2 ? fmt::format("v[{}:{}]", d, d + 1) : fmt::format("v{}", d));
    body += "\n";
  }
  auto results = run_lanes(body, words, first, 2 * static_cast<unsigned>(count));
  for (size_t k = 0; k < count; ++k) {
    unsigned wrong = 0;
    for (unsigned lane = 0; lane < 64 && wrong < 3; ++lane) {
      uint64_t actual = results[2 * k * 64 + lane];
      if (cases[k].words == 2)
        actual |= uint64_t{results[(2 * k + 1) * 64 + lane]} << 32;
      uint64_t expected = cases[k].expected(inputs[lane]);
      if (matches(cases[k].match, actual, expected))
        continue;
      ++wrong;
      const LaneInputs &in = inputs[lane];
      ADD_FAILURE() << fmt::format(
          "{}\n  lane {}: {:#x}, expected {:#x}\n  v0..v7 = {:#x} {:#x} {:#x} {:#x} {:#x} "
          "{:#x} {:#x} {:#x}",
          cases[k].text, lane, actual, expected, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7]);
    }
  }
}

/// Special values in every pairing of the first registers, random ones elsewhere.
template <size_t N>
std::array<LaneInputs, 64> mixed(const uint32_t (&special)[N], unsigned seed, uint32_t (*any)(uint32_t)) {
  std::mt19937 random(seed);
  std::array<LaneInputs, 64> result;
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned r = 0; r < 8; ++r)
      result[lane][r] = random() % 3 ? special[random() % N] : any(random());
  for (unsigned lane = 0; lane < std::min<unsigned>(N, 48); ++lane)
    result[lane][0] = special[lane];
  return result;
}

} // namespace

void expect_lanes(const std::vector<LaneCase> &cases, const std::array<LaneInputs, 64> &inputs,
                  const std::string &prologue) {
  constexpr size_t part = 40;
  for (size_t at = 0; at < cases.size(); at += part)
    expect_part(cases.data() + at, std::min(part, cases.size() - at), inputs, prologue);
}

std::array<LaneInputs, 64> integer_inputs() {
  constexpr uint32_t special[] = {0,          1,          2,          3,          7,          8,
                                  15,         16,         31,         32,         33,         63,
                                  64,         255,        256,        0x7FFF,     0x8000,     0x8001,
                                  0xFFFF,     0x10000,    0x7FFFFF,   0x800000,   0xFFFFFF,   0x1000000,
                                  0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFF0, 0xFFFFFFFE,
                                  0xFFFFFFFF, 0x12345678, 0x80FF7F01, 0xFFFF0000};
  return mixed(special, 1, [](uint32_t word) { return word; });
}

std::array<LaneInputs, 64> float_inputs() {
  constexpr uint32_t special[] = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x00000001, 0x80000001,
                                  0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
                                  0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F000000, 0xBF000000, 0x3FC00000,
                                  0x40200000, 0xC0200000, 0x4B000001, 0x4AFFFFFF, 0x4F000000, 0xCF000000,
                                  0x4F800000, 0x40490FDB, 0x42F00000, 0xC2F00000, 0x3EAAAAAB, 0x447FE000,
                                  0x477FEFFF, 0x33800000, 0x38800001, 0x0D000000};
  // Ordinary numbers near 1.
  return mixed(special, 2, [](uint32_t word) { return (word & 0x80FFFFFF) | 0x3F000000; });
}

std::array<LaneInputs, 64> half_inputs() {
  constexpr uint32_t halves[] = {0x0000, 0x8000, 0x3C00, 0xBC00, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF,
                                 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3800, 0x3E00, 0x4100, 0xC100, 0x6400,
                                 0x63FF, 0x3555, 0x1234, 0xA987, 0x5640, 0x3C01, 0x2E66, 0x4900};
  std::mt19937 random(3);
  std::array<LaneInputs, 64> result;
  auto half = [&] { return random() % 2 ? halves[random() % std::size(halves)] : random() & 0xFFFF; };
  for (auto &lane : result)
    for (auto &word : lane)
      word = half() | half() << 16;
  return result;
}

std::array<LaneInputs, 64> double_inputs() {
  constexpr double special[] = {
      0.0,          -0.0,          1.0,          -1.0,   0.5,     1.5,           2.5,      -2.5,      3.25,
      1e300,        -1e300,        1e-300,       5e-324, 1e-310,  1e308,         INFINITY, -INFINITY, NAN,
      4294967296.0, -2147483649.0, 2147483647.5, 0.1,    1.0 / 3, 123456789.125, 0x1p52,   0x1p-1022};
  std::mt19937 random(4);
  std::array<LaneInputs, 64> result;
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      double value = random() % 2
                         ? special[random() % std::size(special)]
                         : std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 40) - 40);
      if (k == 0 && lane < std::size(special))
        value = special[lane];
      uint64_t bits = bits_of(value);
      result[lane][2 * k] = static_cast<uint32_t>(bits);
      result[lane][2 * k + 1] = static_cast<uint32_t>(bits >> 32);
    }
  return result;
}

} // namespace nereid::sim::test
