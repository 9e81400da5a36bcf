// MFMA forms other than f8f6f4.

#include "sim/matrix.h"

#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "sim/lanes.h"
#include "sim/operations.h"

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

unsigned number(std::string_view text) { return static_cast<unsigned>(std::atoi(std::string(text).c_str())); }

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

namespace {

/// All shapes that rows refer to by index.
std::vector<MatrixShape> &shapes() {
  static std::vector<MatrixShape> list;
  return list;
}

unsigned element_bits(Element element) {
  switch (element) {
  case Element::F64:
    return 64;
  case Element::F32:
  case Element::I32:
    return 32;
  case Element::F16:
  case Element::Bf16:
    return 16;
  default:
    return 8;
  }
}

double element_value(Element element, uint64_t bits) {
  switch (element) {
  case Element::F64:
    return std::bit_cast<double>(bits);
  case Element::F16:
    return half_to_float(static_cast<uint32_t>(bits));
  case Element::Bf16:
    return bfloat_to_float(static_cast<uint32_t>(bits));
  case Element::I8:
    return static_cast<int8_t>(bits);
  case Element::Fp8:
    return small_to_float(fp8, static_cast<uint32_t>(bits));
  case Element::Bf8:
    return small_to_float(bf8, static_cast<uint32_t>(bits));
  default:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
}

} // namespace

double matrix_element(const Wave &wave, unsigned first, unsigned lane, unsigned j, Element element) {
  unsigned bits = element_bits(element);
  if (bits == 64)
    return element_value(element, wave.vgpr[first + 2 * j].word[lane] |
                                      uint64_t{wave.vgpr[first + 2 * j + 1].word[lane]} << 32);
  uint32_t word = wave.vgpr[first + j * bits / 32].word[lane];
  uint32_t field = word >> j * bits % 32;
  return element_value(element, bits == 32 ? field : field & ((1u << bits) - 1));
}

namespace {

constexpr unsigned most_rows = 32, most_k = 128;

struct Operands {
  double a[most_rows][most_k]; ///< [i][k]
  double b[most_k][most_rows]; ///< [k][j]
};

void gather(const Wave &wave, const Instruction &instruction, const MatrixShape &shape, unsigned block,
            Operands &out) {
  unsigned elements = shape.elements(), a_block = source_block(instruction, block);
  bool wide = shape.result == Element::F64;
  double a_sign = wide && instruction.blgp & 1 ? -1 : 1, b_sign = wide && instruction.blgp & 2 ? -1 : 1;
  for (unsigned k = 0; k < shape.k; ++k) {
    unsigned group = shape.m * shape.blocks * (k / elements);
    for (unsigned i = 0; i < shape.m; ++i) {
      unsigned lane = i + shape.m * a_block + group;
      out.a[i][k] = a_sign * matrix_element(wave, instruction.source[0].index, lane, k % elements, shape.a);
      unsigned b_lane = i + shape.n * block + group;
      if (!wide)
        b_lane = broadcast_lane(instruction.blgp, b_lane);
      out.b[k][i] = b_sign * matrix_element(wave, instruction.source[1].index, b_lane, k % elements, shape.b);
    }
  }
}

/// The sum over K of a row of results. f32 and f64 operands are multiplied and added one after the other with
/// one rounding each; products of narrower ones are summed in double and rounded once with C.
void multiply_row(const MatrixShape &shape, const Operands &operands, unsigned i, double *sums) {
  if (shape.a == Element::F32) {
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned j = 0; j < shape.n; ++j)
        sums[j] = std::fma(static_cast<float>(operands.a[i][k]), static_cast<float>(operands.b[k][j]),
                           static_cast<float>(sums[j]));
    return;
  }
  if (shape.a == Element::F64) {
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned j = 0; j < shape.n; ++j)
        sums[j] = std::fma(operands.a[i][k], operands.b[k][j], sums[j]);
    return;
  }
  double products[most_rows] = {};
  for (unsigned k = 0; k < shape.k; ++k) {
    double a = operands.a[i][k];
    for (unsigned j = 0; j < shape.n; ++j)
      products[j] += a * operands.b[k][j];
  }
  for (unsigned j = 0; j < shape.n; ++j)
    sums[j] += products[j];
}

double read_accumulator(const Wave &wave, const Instruction &instruction, const MatrixShape &shape,
                        ResultPlace place) {
  const Source &c = instruction.source[2];
  if (shape.result == Element::F64) {
    uint64_t bits = c.kind == Source::Kind::Vector
                        ? accumulator_word(wave, c, 2 * place.index, place.lane) |
                              uint64_t{accumulator_word(wave, c, 2 * place.index + 1, place.lane)} << 32
                        : c.value;
    double value = std::bit_cast<double>(bits);
    return instruction.blgp & 4 ? -value : value;
  }
  uint32_t word = accumulator_word(wave, c, place.index, place.lane);
  return shape.result == Element::I32 ? static_cast<int32_t>(word) : double{std::bit_cast<float>(word)};
}

struct Results {
  std::array<Lanes, 32> word;
};

void put_result(const MatrixShape &shape, ResultPlace place, double value, Results &out) {
  if (shape.result == Element::F64) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    out.word[2 * place.index].word[place.lane] = static_cast<uint32_t>(bits);
    out.word[2 * place.index + 1].word[place.lane] = static_cast<uint32_t>(bits >> 32);
  } else if (shape.result == Element::I32) {
    // Integer sums wrap; in double they are exact.
    out.word[place.index].word[place.lane] = static_cast<uint32_t>(static_cast<int64_t>(value));
  } else {
    out.word[place.index].word[place.lane] = std::bit_cast<uint32_t>(static_cast<float>(value));
  }
}

void run_matrix(Wave &wave, const Instruction &instruction) {
  const MatrixShape &shape = shapes()[instruction.operation->detail];
  Operands operands;
  Results results;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    gather(wave, instruction, shape, block, operands);
    for (unsigned i = 0; i < shape.m; ++i) {
      double sums[most_rows];
      for (unsigned j = 0; j < shape.n; ++j)
        sums[j] = read_accumulator(wave, instruction, shape, result_place(shape, block, i, j));
      multiply_row(shape, operands, i, sums);
      for (unsigned j = 0; j < shape.n; ++j)
        put_result(shape, result_place(shape, block, i, j), sums[j], results);
    }
  }
  for (unsigned r = 0; r < shape.result_registers(); ++r)
    wave.vgpr[instruction.destination + r] = results.word[r];
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
  auto add = [&](std::string name, Handler handler, OperandType accumulator, size_t detail) {
    Operation row =
        custom_operation(std::move(name), Category::Mfma, handler, OperandType::Bits32, OperandType::Bits32,
                         OperandType::Bits32, accumulator, Operation::IgnoresMode);
    row.detail = static_cast<uint32_t>(detail);
    rows.push_back(row);
  };
  for (const char *name : matrix_names) {
    MatrixShape shape = *parse_matrix_name(name);
    add(name, run_matrix, shape.result == Element::F64 ? OperandType::Float64 : OperandType::Float32,
        shapes().size());
    shapes().push_back(shape);
  }
  for (const char *prefix : {"v_mfma_", "v_mfma_scale_"}) {
    add(std::string(prefix) + "f32_16x16x128_f8f6f4", run_scaled_matrix<16>, OperandType::Float32, 0);
    add(std::string(prefix) + "f32_32x32x64_f8f6f4", run_scaled_matrix<32>, OperandType::Float32, 0);
  }
  return rows;
}

} // namespace nereid::sim
