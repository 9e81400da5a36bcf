// VOPC: comparisons that leave a bit a lane in VCC or a scalar pair; v_cmpx also writes EXEC.

#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

enum class Relation { Less, Equal, LessEqual, Greater, NotEqual, GreaterEqual, LessGreater, Ordered };

template <Relation R, class T> bool compare(T a, T b) {
  switch (R) {
  case Relation::Less:
    return a < b;
  case Relation::Equal:
    return a == b;
  case Relation::LessEqual:
    return a <= b;
  case Relation::Greater:
    return a > b;
  case Relation::NotEqual:
    return a != b;
  case Relation::GreaterEqual:
    return a >= b;
  case Relation::LessGreater:
    return a < b || a > b;
  case Relation::Ordered:
    return a == a && b == b;
  }
}
template <Relation R> bool compare(Half a, Half b) { return compare<R, float>(a.value, b.value); }

/// Adds v_cmp_NAME and v_cmpx_NAME.
template <auto F> void both(std::vector<Operation> &rows, const std::string &name) {
  rows.push_back(vector_operation<F>("v_cmp_" + name, {.traits = Operation::IgnoresMode}));
  rows.push_back(
      vector_operation<F>("v_cmpx_" + name, {.traits = Operation::IgnoresMode | Operation::WritesExec}));
}

template <class T, Relation R> void relation(std::vector<Operation> &rows, const std::string &name) {
  both<[](T a, T b) { return compare<R>(a, b); }>(rows, name);
}
template <class T, Relation R> void negation(std::vector<Operation> &rows, const std::string &name) {
  both<[](T a, T b) { return !compare<R>(a, b); }>(rows, name);
}

template <class T> void rows_integer(std::vector<Operation> &rows, const std::string &type) {
  both<[](T, T) { return false; }>(rows, "f_" + type);
  both<[](T, T) { return true; }>(rows, "t_" + type);
  relation<T, Relation::Less>(rows, "lt_" + type);
  relation<T, Relation::Equal>(rows, "eq_" + type);
  relation<T, Relation::LessEqual>(rows, "le_" + type);
  relation<T, Relation::Greater>(rows, "gt_" + type);
  relation<T, Relation::NotEqual>(rows, "ne_" + type);
  relation<T, Relation::GreaterEqual>(rows, "ge_" + type);
}

template <class T> void rows_float(std::vector<Operation> &rows, const std::string &type) {
  both<[](T, T) { return false; }>(rows, "f_" + type);
  both<[](T, T) { return true; }>(rows, "tru_" + type);
  relation<T, Relation::Less>(rows, "lt_" + type);
  relation<T, Relation::Equal>(rows, "eq_" + type);
  relation<T, Relation::LessEqual>(rows, "le_" + type);
  relation<T, Relation::Greater>(rows, "gt_" + type);
  relation<T, Relation::LessGreater>(rows, "lg_" + type);
  relation<T, Relation::GreaterEqual>(rows, "ge_" + type);
  relation<T, Relation::Ordered>(rows, "o_" + type);
  negation<T, Relation::Ordered>(rows, "u_" + type);
  negation<T, Relation::GreaterEqual>(rows, "nge_" + type);
  negation<T, Relation::LessGreater>(rows, "nlg_" + type);
  negation<T, Relation::Greater>(rows, "ngt_" + type);
  negation<T, Relation::LessEqual>(rows, "nle_" + type);
  negation<T, Relation::Equal>(rows, "neq_" + type);
  negation<T, Relation::Less>(rows, "nlt_" + type);
}

/// v_cmp_class: the second operand selects classes by bit: signalling and quiet NaN, -infinity, -normal,
/// -denormal, -0, +0, +denormal, +normal, +infinity.
bool in_class(uint64_t bits, unsigned exponent_bits, unsigned mantissa_bits, uint32_t classes) {
  uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
  uint64_t exponent = bits >> mantissa_bits & ((uint64_t{1} << exponent_bits) - 1);
  bool negative = bits >> (mantissa_bits + exponent_bits) & 1;
  unsigned bit;
  if (exponent == (uint64_t{1} << exponent_bits) - 1 && mantissa)
    bit = mantissa >> (mantissa_bits - 1) ? 1 : 0;
  else if (exponent == (uint64_t{1} << exponent_bits) - 1)
    bit = negative ? 2 : 9;
  else if (exponent)
    bit = negative ? 3 : 8;
  else if (mantissa)
    bit = negative ? 4 : 7;
  else
    bit = negative ? 5 : 6;
  return classes >> bit & 1;
}

} // namespace

std::vector<Operation> vector_compare_operations() {
  std::vector<Operation> rows;
  rows_integer<int16_t>(rows, "i16");
  rows_integer<uint16_t>(rows, "u16");
  rows_integer<int32_t>(rows, "i32");
  rows_integer<uint32_t>(rows, "u32");
  rows_integer<int64_t>(rows, "i64");
  rows_integer<uint64_t>(rows, "u64");
  rows_float<float>(rows, "f32");
  rows_float<double>(rows, "f64");
  rows_float<Half>(rows, "f16");
  both<[](float a, uint32_t classes) { return in_class(std::bit_cast<uint32_t>(a), 8, 23, classes); }>(
      rows, "class_f32");
  both<[](double a, uint32_t classes) { return in_class(std::bit_cast<uint64_t>(a), 11, 52, classes); }>(
      rows, "class_f64");
  both<[](uint16_t a, uint32_t classes) { return in_class(a, 5, 10, classes); }>(rows, "class_f16");
  return rows;
}

} // namespace nereid::sim
