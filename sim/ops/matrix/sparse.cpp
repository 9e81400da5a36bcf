// v_smfmac: D += A * B where A keeps two of every four values along k and an index register says which.
//
// Every lane of A holds pairs; a pair stands for four positions of k. For each pair the index register of the
// lane has four bits, the position of the first value and that of the second one. Sums are rounded once, as
// in the dense forms. Where the pairs and the elements of B lie was measured on an MI350 by AMD's fpsan
// project.

#include <algorithm>
#include <bit>

#include "sim/decode/operations.h"
#include "sim/ops/matrix/product.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

unsigned pairs_of_lane(const MatrixShape &shape) { return shape.k / 4 / shape.groups(); }

/// Which four positions of k a pair of a lane group stands for.
unsigned quad_of_pair(const MatrixShape &shape, unsigned group, unsigned pair) {
  unsigned pairs = pairs_of_lane(shape), quads = shape.k / 4;
  if (shape.a == Element::F16 || shape.a == Element::Bf16)
    return pairs * group + pair;
  if (pairs == 4) // two pairs from the lower half of k, two from the upper
    return quads / 2 * (pair / 2) + 2 * group + pair % 2;
  unsigned within = pair % 2 + quads / 4 * (pair / 2 % 2) + 2 * (pair / 4);
  return shape.m == 16 ? within + 16 * (group / 2) + 4 * (group % 2) : within + 8 * group;
}

/// B is dealt in runs of eight elements to the lane groups in turn.
unsigned k_of_element(const MatrixShape &shape, unsigned group, unsigned element) {
  return 8 * shape.groups() * (element / 8) + 8 * group + element % 8;
}

void run_sparse(Wave &wave, const Instruction &instruction) {
  const MatrixShape &shape = *instruction.operation->matrix;
  const unsigned pairs = pairs_of_lane(shape);
  OperandValues<double> a, b;
  read_values(&wave.vgpr[instruction.source[0].index], shape.a, 2 * pairs, a);
  read_values(&wave.vgpr[instruction.source[1].index], shape.b, 4 * pairs, b);
  const double *row_of_b[most_k];
  for (unsigned group = 0; group < shape.groups(); ++group)
    for (unsigned e = 0; e < 4 * pairs; ++e)
      row_of_b[k_of_element(shape, group, e)] = b.value[e] + shape.n * group;
  // The register holds several sets of indices when one does not fill it; CBSZ other than 0 takes the first.
  const unsigned sets = 8 / pairs, set = instruction.cbsz ? 0 : instruction.abid % sets;
  ProductSums<double> sums;
  for (unsigned i = 0; i < shape.m; ++i)
    std::fill_n(sums.value[i], shape.n, 0.0);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t indices = accumulator_word(wave, instruction.source[2], 0, lane) >> 4 * pairs * set;
    double *row = sums.value[lane % shape.m];
    for (unsigned e = 0; e < 2 * pairs; ++e) {
      const unsigned position = indices >> 2 * e & 3;
      const double *column = row_of_b[4 * quad_of_pair(shape, lane / shape.m, e / 2) + position];
      for (unsigned j = 0; j < shape.n; ++j)
        row[j] += a.value[e][lane] * column[j];
    }
  }
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      ResultLocation place = result_location(shape, 0, i, j);
      uint32_t &word = wave.vgpr[instruction.destination + place.index].word[place.lane];
      const double sum = sums.value[i][j];
      if (shape.result == Element::I32)
        word += static_cast<uint32_t>(static_cast<int32_t>(sum));
      else
        word = std::bit_cast<uint32_t>(static_cast<float>(double{std::bit_cast<float>(word)} + sum));
    }
}

constexpr const char *sparse_names[] = {
    "v_smfmac_f32_16x16x32_f16",      "v_smfmac_f32_32x32x16_f16",      "v_smfmac_f32_16x16x32_bf16",
    "v_smfmac_f32_32x32x16_bf16",     "v_smfmac_f32_16x16x64_f16",      "v_smfmac_f32_32x32x32_f16",
    "v_smfmac_f32_16x16x64_bf16",     "v_smfmac_f32_32x32x32_bf16",     "v_smfmac_i32_16x16x64_i8",
    "v_smfmac_i32_32x32x32_i8",       "v_smfmac_i32_16x16x128_i8",      "v_smfmac_i32_32x32x64_i8",
    "v_smfmac_f32_16x16x64_bf8_bf8",  "v_smfmac_f32_16x16x64_bf8_fp8",  "v_smfmac_f32_16x16x64_fp8_bf8",
    "v_smfmac_f32_16x16x64_fp8_fp8",  "v_smfmac_f32_32x32x32_bf8_bf8",  "v_smfmac_f32_32x32x32_bf8_fp8",
    "v_smfmac_f32_32x32x32_fp8_bf8",  "v_smfmac_f32_32x32x32_fp8_fp8",  "v_smfmac_f32_16x16x128_bf8_bf8",
    "v_smfmac_f32_16x16x128_bf8_fp8", "v_smfmac_f32_16x16x128_fp8_bf8", "v_smfmac_f32_16x16x128_fp8_fp8",
    "v_smfmac_f32_32x32x64_bf8_bf8",  "v_smfmac_f32_32x32x64_bf8_fp8",  "v_smfmac_f32_32x32x64_fp8_bf8",
    "v_smfmac_f32_32x32x64_fp8_fp8",
};

} // namespace

std::vector<Operation> sparse_matrix_operations() {
  std::vector<Operation> rows;
  for (const char *name : sparse_names)
    rows.push_back(matrix_operation(name, run_sparse, OperandType::Bits32, *parse_matrix_name(name),
                                    Operation::SparseIndex));
  return rows;
}

} // namespace nereid::sim
