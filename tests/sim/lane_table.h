#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid::sim::test {

/// What one lane holds in v0 .. v7 before the instructions of a table run.
using LaneInputs = std::array<uint32_t, 8>;

/// How a result is compared: as bits, or as numbers whose NaNs are all equal.
enum class Match { Bits, Float, Half, Double, FloatNear };

/// One instruction and what it must leave in its result register. In `text` % stands for the result: a
/// register, or a pair when `words` is 2, which holds v7 (v6 and v7) before. Sources are v0 .. v7.
struct LaneCase {
  std::string text;
  std::function<uint64_t(const LaneInputs &)> expected;
  unsigned words = 1;
  Match match = Match::Bits;
};

/// Runs the cases on 64 lanes of inputs and compares every lane.
void expect_lanes(const std::vector<LaneCase> &cases, const std::array<LaneInputs, 64> &inputs,
                  const std::string &prologue = "");

/// 64 lanes of integers: small ones, extremes, and random words.
std::array<LaneInputs, 64> integer_inputs();
/// 64 lanes of floats: zeros, denormals, infinities, NaN, ties, ordinary numbers.
std::array<LaneInputs, 64> float_inputs();
/// As words whose halves are f16 values.
std::array<LaneInputs, 64> half_inputs();
/// v[0:1], v[2:3], v[4:5] as doubles.
std::array<LaneInputs, 64> double_inputs();

float as_float(uint64_t bits);
uint32_t bits_of(float value);
double as_double(uint32_t low, uint32_t high);
uint64_t bits_of(double value);
/// The value of a half by its definition.
double half_value(uint32_t bits);
/// The half nearest to a value, ties to even, by search.
uint32_t nearest_half(double value);

} // namespace nereid::sim::test
