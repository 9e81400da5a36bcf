// MFMA forms other than f8f6f4.

#include "sim/ops/matrix/matrix.h"

#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "sim/decode/operations.h"
#include "sim/ops/matrix/product.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

std::optional<Element> element_named(std::string_view name) {
  constexpr std::pair<std::string_view, Element> names[] = {
      {"f32", Element::F32},   {"f64", Element::F64}, {"f16", Element::F16},
      {"bf16", Element::Bf16}, {"i8", Element::I8},   {"fp8", Element::Fp8},
      {"bf8", Element::Bf8},   {"i32", Element::I32}, {"f8f6f4", Element::F8F6F4}};
  for (auto [text, element] : names)
    if (text == name)
      return element;
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

/// The number that `text` begins with, 0 where it begins with none.
unsigned number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

} // namespace

std::optional<MatrixShape> parse_matrix_name(std::string_view name) {
  bool known = false;
  for (std::string_view prefix : {"v_mfma_scale_", "v_mfma_", "v_smfmac_"})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      known = true;
      break;
    }
  if (!known)
    return std::nullopt;
  auto parts = split(name, '_');
  if (parts.size() < 3)
    return std::nullopt;
  auto extents = split(parts[1], 'x');
  auto result = element_named(parts[0]);
  if (extents.size() != 3 || !result)
    return std::nullopt;
  MatrixShape shape{number(extents[0]), number(extents[1]), number(extents[2]), 1, {}, {}, *result};
  size_t next = 2;
  if (parts[next].ends_with('b') && !element_named(parts[next]))
    shape.blocks = number(parts[next++]);
  auto a = next < parts.size() ? element_named(parts[next]) : std::nullopt;
  auto b = next + 1 < parts.size() ? element_named(parts[next + 1]) : a;
  if (!a || !b)
    return std::nullopt;
  shape.a = *a;
  shape.b = *b;
  return shape;
}

Operation matrix_operation(std::string name, Handler handler, OperandType third, const MatrixShape &shape,
                           uint32_t traits) {
  constexpr OperandType word = OperandType::Bits32;
  Operation row = custom_operation(
      std::move(name), Category::Mfma, handler, word, word, word, third,
      {.traits = Operation::IgnoresMode | traits, .taint = taint::of_kind(Taint::Kind::Matrix)});
  row.matrix = shape;
  return row;
}

namespace {

/// The registers of B with the lanes that a BLGP pattern picks.
void pick_lanes(const Lanes *registers, unsigned count, unsigned pattern, Lanes *out) {
  for (unsigned r = 0; r < count; ++r)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out[r].word[lane] = registers[r].word[broadcast_lane(pattern, lane)];
}

/// Both sides of a product, of all blocks.
template <class Real> struct Operands {
  OperandValues<Real> a, b;
  uint16_t at[max_k]; ///< where position k of the first block starts, on either side

  Operands(const Wave &wave, const Instruction &instruction, const MatrixShape &shape) {
    const unsigned elements = shape.elements();
    const Lanes *from_b = &wave.vgpr[instruction.source[1].index];
    const bool wide = shape.result == Element::F64;
    Lanes picked[4];
    if (!wide && instruction.blgp) {
      pick_lanes(from_b, (elements * element_bits(shape.b) + 31) / 32, instruction.blgp, picked);
      from_b = picked;
    }
    read_values(&wave.vgpr[instruction.source[0].index], shape.a, elements, a);
    read_values(from_b, shape.b, elements, b);
    if (wide && instruction.blgp & 1)
      negate(a);
    if (wide && instruction.blgp & 2)
      negate(b);
    for (unsigned k = 0; k < shape.k; ++k)
      at[k] = static_cast<uint16_t>(k % elements * lane_count + k / elements * shape.m * shape.blocks);
  }
  ProductSide<Real> side_a(unsigned first) const { return {a.value[0] + first, at}; }
  ProductSide<Real> side_b(unsigned first) const { return {b.value[0] + first, at}; }

private:
  static void negate(OperandValues<Real> &values) { // f64 has one element a lane
    for (Real &value : values.value[0])
      value *= -1;
  }
};

/// The registers of a result while those of C are still needed.
using Results = std::array<Lanes, 32>;

/// Calls `function(i, words of C, words of the result)` for each row of a block. The words are those of
/// columns 0 and on; those of f64 have their high halves in the next register.
template <class F>
void each_row(const Wave &wave, const Source &c, const MatrixShape &shape, unsigned block, Results &results,
              F function) {
  static constexpr uint32_t zeros[2 * lane_count] = {};
  const uint32_t *constant = c.lanes ? c.lanes : zeros;
  for (unsigned i = 0; i < shape.m; ++i) {
    const ResultLocation at = result_location(shape, block, i, 0);
    const unsigned index = at.index * (shape.result == Element::F64 ? 2 : 1);
    const uint32_t *from = c.kind == Source::Kind::Vector ? wave.vgpr[c.index + index].word : constant;
    function(i, from + at.lane, results[index].word + at.lane);
  }
}

template <class Real> Real from_words(const uint32_t *words) {
  if constexpr (sizeof(Real) == 4)
    return std::bit_cast<float>(words[0]);
  else
    return std::bit_cast<double>(words[0] | uint64_t{words[lane_count]} << 32);
}
void to_words(float value, uint32_t *words) { words[0] = std::bit_cast<uint32_t>(value); }
void to_words(double value, uint32_t *words) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  words[0] = static_cast<uint32_t>(bits);
  words[lane_count] = static_cast<uint32_t>(bits >> 32);
}

/// f32 and f64 operands are multiplied and added one after the other with one rounding each.
template <class Real>
void multiply_wide(const Wave &wave, const Instruction &instruction, const MatrixShape &shape,
                   Results &results) {
  const Operands<Real> operands(wave, instruction, shape);
  const bool negative = shape.result == Element::F64 && instruction.blgp & 4;
  ProductSums<Real> sums;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    each_row(wave, instruction.source[2], shape, block, results,
             [&](unsigned i, const uint32_t *c, uint32_t *) {
               for (unsigned j = 0; j < shape.n; ++j) {
                 const Real value = from_words<Real>(c + j);
                 sums.value[i][j] = negative ? -value : value;
               }
             });
    fuse_products(operands.side_a(shape.m * source_block(instruction, block)),
                  operands.side_b(shape.n * block), shape.k, shape.m, shape.n, sums);
    each_row(wave, instruction.source[2], shape, block, results,
             [&](unsigned i, const uint32_t *, uint32_t *to) {
               for (unsigned j = 0; j < shape.n; ++j)
                 to_words(sums.value[i][j], to + j);
             });
  }
}

/// Products of narrower operands are summed in double and rounded once with C; sums of integers wrap.
void multiply_narrow(const Wave &wave, const Instruction &instruction, const MatrixShape &shape,
                     Results &results) {
  const Operands<double> operands(wave, instruction, shape);
  ProductSums<double> sums;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    sum_products(operands.side_a(shape.m * source_block(instruction, block)),
                 operands.side_b(shape.n * block), shape.k, shape.m, shape.n, sums);
    each_row(wave, instruction.source[2], shape, block, results,
             [&](unsigned i, const uint32_t *c, uint32_t *to) {
               const double *row = sums.value[i];
               if (shape.result == Element::I32)
                 for (unsigned j = 0; j < shape.n; ++j)
                   to[j] = c[j] + static_cast<uint32_t>(static_cast<int32_t>(row[j]));
               else
                 for (unsigned j = 0; j < shape.n; ++j)
                   to_words(static_cast<float>(double{std::bit_cast<float>(c[j])} + row[j]), to + j);
             });
  }
}

void run_matrix(Wave &wave, const Instruction &instruction) {
  const MatrixShape &shape = *instruction.operation->matrix;
  Results results;
  if (shape.a == Element::F64)
    multiply_wide<double>(wave, instruction, shape, results);
  else if (shape.a == Element::F32)
    multiply_wide<float>(wave, instruction, shape, results);
  else
    multiply_narrow(wave, instruction, shape, results);
  for (unsigned r = 0; r < shape.result_registers(); ++r)
    wave.vgpr[instruction.destination + r] = results[r];
}

constexpr const char *matrix_names[] = {
    "v_mfma_f32_32x32x1_2b_f32",   "v_mfma_f32_16x16x1_4b_f32",   "v_mfma_f32_4x4x1_16b_f32",
    "v_mfma_f32_32x32x2_f32",      "v_mfma_f32_16x16x4_f32",      "v_mfma_f32_32x32x4_2b_f16",
    "v_mfma_f32_16x16x4_4b_f16",   "v_mfma_f32_4x4x4_16b_f16",    "v_mfma_f32_32x32x8_f16",
    "v_mfma_f32_16x16x16_f16",     "v_mfma_f32_32x32x4_2b_bf16",  "v_mfma_f32_16x16x4_4b_bf16",
    "v_mfma_f32_4x4x4_16b_bf16",   "v_mfma_f32_32x32x8_bf16",     "v_mfma_f32_16x16x16_bf16",
    "v_mfma_f32_16x16x32_f16",     "v_mfma_f32_16x16x32_bf16",    "v_mfma_f32_32x32x16_f16",
    "v_mfma_f32_32x32x16_bf16",    "v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x32_fp8_bf8",
    "v_mfma_f32_16x16x32_bf8_fp8", "v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_f32_32x32x16_fp8_fp8",
    "v_mfma_f32_32x32x16_fp8_bf8", "v_mfma_f32_32x32x16_bf8_fp8", "v_mfma_f32_32x32x16_bf8_bf8",
    "v_mfma_i32_32x32x4_2b_i8",    "v_mfma_i32_16x16x4_4b_i8",    "v_mfma_i32_4x4x4_16b_i8",
    "v_mfma_i32_32x32x16_i8",      "v_mfma_i32_16x16x32_i8",      "v_mfma_i32_16x16x64_i8",
    "v_mfma_i32_32x32x32_i8",      "v_mfma_f64_16x16x4_f64",      "v_mfma_f64_4x4x4_4b_f64",
};

} // namespace

std::vector<Operation> matrix_operations() {
  std::vector<Operation> rows;
  const auto add = [&](std::string name, Handler handler) {
    const MatrixShape shape = *parse_matrix_name(name);
    const OperandType accumulator =
        shape.result == Element::F64 ? OperandType::Float64 : OperandType::Float32;
    rows.push_back(matrix_operation(std::move(name), handler, accumulator, shape));
  };
  for (const char *name : matrix_names)
    add(name, run_matrix);
  for (const char *prefix : {"v_mfma_", "v_mfma_scale_"}) {
    add(std::string(prefix) + "f32_16x16x128_f8f6f4", run_scaled_matrix<16>);
    add(std::string(prefix) + "f32_32x32x64_f8f6f4", run_scaled_matrix<32>);
  }
  return rows;
}

} // namespace nereid::sim
