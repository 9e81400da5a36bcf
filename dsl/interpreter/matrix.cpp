// dot, dot_scaled and quantize.
#include <algorithm>
#include <cmath>

#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/packing.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/products.h"

namespace nereid::interpreter {
namespace {

constexpr size_t group = ir::scale_group;

/// One side of a product as tensors; rows of a, columns of b.
struct Side {
  const Tensor *codes;
  const Tensor *scales; ///< null without
  ir::Format format;
  bool is_decoded; ///< the tensor holds values, not codes
};

/// Decodes a side: value k of row (or column) r goes to out[r * row_step + k * k_step].
template <class T>
void decode_side(const Side &side, size_t rows, size_t k_count, bool is_a, size_t row_step, size_t k_step,
                 T *out) {
  if (side.is_decoded) {
    const float *values = side.codes->as<float>();
    for (size_t r = 0; r < rows; ++r)
      for (size_t k = 0; k < k_count; ++k)
        out[r * row_step + k * k_step] = values[is_a ? r * k_count + k : k * rows + r];
    return;
  }
  const unsigned bits = ir::facts(side.format).bits;
  T table[256];
  for (unsigned code = 0; code < 256; ++code)
    table[code] = decode(side.format, static_cast<uint8_t>(code));
  const auto *bytes = side.codes->as<uint8_t>();
  const size_t row_bytes = k_count * bits / 8;
  // b is packed along K too, so that a column's bytes are a row of b apart.
  const size_t byte_step = is_a ? 1 : rows;
  const auto decode_one = [&](size_t r, size_t k) {
    const uint8_t *row = bytes + (is_a ? r * row_bytes : r);
    out[r * row_step + k * k_step] = table[packed_code(row, byte_step, bits, k)];
  };
  if (is_a)
    for (size_t r = 0; r < rows; ++r)
      for (size_t k = 0; k < k_count; ++k)
        decode_one(r, k);
  else
    for (size_t k = 0; k < k_count; ++k)
      for (size_t r = 0; r < rows; ++r)
        decode_one(r, k);
}

/// The power of two of group g of row r at [r * groups + g], NaN for 255; 1 without scales.
std::vector<double> powers(const Side &side, size_t count) {
  std::vector<double> result(count, 1.0);
  for (size_t i = 0; side.scales != nullptr && i < count; ++i)
    result[i] = scale_value(side.scales->as<uint8_t>()[i]);
  return result;
}

/// The sum of each group of 32 products in T, times the two scales (exact in double), rounds to one f32 term;
/// terms are added in the order of K. T is float where every such sum is exact in it.
template <class T>
void multiply(const Side &a, const Side &b, size_t rows, size_t columns, size_t k_count, float *out) {
  Factors<T> factors(rows, columns, k_count);
  decode_side(a, rows, k_count, true, k_count, 1, factors.a.data());
  decode_side(b, columns, k_count, false, 1, factors.columns, factors.b.data());
  const size_t groups = k_count / group;
  const std::vector<double> power_a = powers(a, rows * groups), power_b = powers(b, columns * groups);
  for (size_t column = 0; column < columns; column += block_columns)
    for (size_t row = 0; row < rows; row += block_rows) {
      const size_t m_end = std::min(block_rows, rows - row),
                   n_end = std::min(block_columns, columns - column);
      float totals[block_rows][block_columns] = {};
      for (size_t g = 0; g < groups; ++g) {
        T sums[block_rows][block_columns] = {};
        add_products(factors, row, column, g * group, (g + 1) * group, sums);
        for (size_t m = 0; m < m_end; ++m)
          for (size_t n = 0; n < n_end; ++n) {
            const double power = power_a[(row + m) * groups + g] * power_b[(column + n) * groups + g];
            totals[m][n] += static_cast<float>(static_cast<double>(sums[m][n]) * power);
          }
      }
      for (size_t m = 0; m < m_end; ++m)
        std::copy_n(totals[m], n_end, out + (row + m) * columns + column);
    }
}

bool is_small(ir::Format format) { return ir::facts(format).bits <= 6; }

} // namespace

/// The values of one side of dot, codes decoded.
static void copy_factors(Frame &frame, const ir::Op &op, size_t operand, size_t count, float *out) {
  const char *format_name = operand == 0 ? "format_a" : "format_b";
  if (ir::is_float(frame.in_type(op, operand).element)) {
    std::copy_n(frame.in(op, operand).as<float>(), count, out);
    return;
  }
  const ir::Format format = *ir::format_named(op.string(format_name));
  const auto *codes = frame.in(op, operand).as<uint8_t>();
  std::transform(codes, codes + count, out, [&](uint8_t code) { return decode(format, code); });
}

static void run_integer_dot(Frame &frame, const ir::Op &op, size_t rows, size_t k_count, size_t columns) {
  const auto *a = frame.in(op, 0).as<int8_t>(), *b = frame.in(op, 1).as<int8_t>();
  auto *out = frame.out(op).as<int32_t>();
  for (size_t m = 0; m < rows; ++m)
    for (size_t n = 0; n < columns; ++n) {
      uint32_t sum = 0;
      for (size_t k = 0; k < k_count; ++k)
        sum += static_cast<uint32_t>(a[m * k_count + k] * b[k * columns + n]);
      out[m * columns + n] = static_cast<int32_t>(sum);
    }
}

void run_dot(Frame &frame, const ir::Op &op) {
  const auto rows = static_cast<size_t>(frame.in_type(op, 0).shape[0]);
  const auto k_count = static_cast<size_t>(frame.in_type(op, 0).shape[1]);
  const auto columns = static_cast<size_t>(frame.in_type(op, 1).shape[1]);
  if (frame.in_type(op, 0).element == ir::Element::I8) {
    run_integer_dot(frame, op, rows, k_count, columns);
    return propagate(frame, op);
  }
  auto *out = frame.out(op).as<float>();
  Factors<float> factors(rows, columns, k_count);
  copy_factors(frame, op, 0, rows * k_count, factors.a.data());
  std::vector<float> b(k_count * columns);
  copy_factors(frame, op, 1, b.size(), b.data());
  for (size_t k = 0; k < k_count; ++k)
    std::copy_n(&b[k * columns], columns, &factors.b[k * factors.columns]);
  for (size_t column = 0; column < columns; column += block_columns)
    for (size_t row = 0; row < rows; row += block_rows) {
      float sums[block_rows][block_columns] = {};
      add_products(factors, row, column, 0, k_count, sums);
      for (size_t m = 0; m < std::min(block_rows, rows - row); ++m)
        std::copy_n(sums[m], std::min(block_columns, columns - column), out + (row + m) * columns + column);
    }
  propagate(frame, op);
}

void run_dot_scaled(Frame &frame, const ir::Op &op) {
  size_t next = 0;
  const auto side = [&](const char *attribute) {
    const bool is_decoded = ir::is_float(frame.in_type(op, next).element);
    Side result{&frame.in(op, next++), nullptr, *ir::format_named(op.string(attribute)), is_decoded};
    if (ir::facts(result.format).scaled)
      result.scales = &frame.in(op, next++);
    return result;
  };
  const Side a = side("format_a"), b = side("format_b");
  auto *out = frame.out(op).as<float>();
  const auto rows = static_cast<size_t>(frame.out_type(op).shape[0]);
  const auto columns = static_cast<size_t>(frame.out_type(op).shape[1]);
  const auto packed = static_cast<size_t>(frame.in_type(op, 0).shape[1]);
  const size_t k_count = a.scales != nullptr ? packed * 8 / ir::facts(a.format).bits : packed;
  if (is_small(a.format) && is_small(b.format))
    multiply<float>(a, b, rows, columns, k_count, out);
  else
    multiply<double>(a, b, rows, columns, k_count, out);
  propagate(frame, op);
}

/// The code of e2m1 by counting the half ways that a magnitude lies above; ties go to the even code.
static uint8_t e2m1_code(float scaled) {
  const float m = std::fabs(scaled);
  const int code =
      (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
  return static_cast<uint8_t>(code | (std::signbit(scaled) ? 8 : 0));
}

void run_quantize(Frame &frame, const ir::Op &op) {
  const ir::Format format = *ir::format_named(op.string("format"));
  const ir::ScaleRule rule = *ir::scale_rule_named(op.string("rule"));
  const unsigned bits = ir::facts(format).bits;
  const size_t groups = frame.count(op) / group;
  auto *codes = frame.out(op, 0).as<uint8_t>();
  auto *scales = frame.out(op, 1).as<uint8_t>();
  std::fill_n(codes, groups * group * bits / 8, uint8_t{0});
  for (size_t g = 0; g < groups; ++g) {
    const float *x = frame.in(op, 0).as<float>() + g * group;
    float amax = 0;
    bool finite = true;
    for (size_t k = 0; k < group; ++k) {
      amax = std::max(amax, std::fabs(x[k]));
      finite = finite && std::isfinite(x[k]);
    }
    const uint8_t scale = finite ? group_scale(format, rule, amax) : 254;
    scales[g] = scale;
    // The reciprocal of every scale is a float, if a subnormal one.
    const float factor = std::ldexp(1.0f, 127 - scale);
    uint8_t *row = codes + g * group * bits / 8;
    for (size_t k = 0; k < group; ++k) {
      const bool fast = format == ir::Format::E2M1 && finite;
      const uint8_t code =
          fast ? e2m1_code(x[k] * factor)
               : encode(format, std::ldexp(static_cast<double>(x[k]), 127 - scale), Overflow::Saturate);
      pack_code(row, bits, k, code);
    }
  }
  propagate(frame, op);
}

} // namespace nereid::interpreter
