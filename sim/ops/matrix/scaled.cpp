// v_mfma_f32_{16x16x128,32x32x64}_f8f6f4, scaled and unscaled: every pair of fp8, bf8, fp6, bf6 and fp4.
//
// Numbers: a block of 32 products is summed exactly, multiplied by the two scales, and added to the f32
// accumulator with one rounding, blocks in increasing k.

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/ops/matrix/fp4.h"
#include "sim/ops/vector/lanes.h"
#include "sim/state/simd.h"

namespace nereid::sim {

namespace {

constexpr unsigned block_length = 32;

/// What CBSZ and BLGP name.
constexpr Element formats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6, Element::Fp4};

constexpr bool has_8_bits(Element format) { return format == Element::Fp8 || format == Element::Bf8; }

/// Where each position of k starts in the values of an operand. 8-bit formats are dealt to the lane groups in
/// two chunks of 16 elements.
template <unsigned Size> struct Positions {
  static constexpr unsigned groups = lane_count / Size, k = groups * block_length;
  uint16_t at[2][k] = {}; ///< [has_8_bits]

  constexpr Positions() {
    for (unsigned group = 0; group < groups; ++group)
      for (unsigned j = 0; j < block_length; ++j) {
        const auto place = static_cast<uint16_t>(j * lane_count + group * Size);
        at[0][block_length * group + j] = place;
        at[1][16 * groups * (j / 16) + 16 * group + j % 16] = place;
      }
  }
};
template <unsigned Size> constexpr Positions<Size> positions;

template <unsigned Size> constexpr unsigned blocks = lane_count / Size;

/// The scales of one side, from one byte of a register: `Size` rows or columns of each block in turn.
struct ScaleValues {
  double value[lane_count];
  float narrow[lane_count]; ///< the same when they are ordinary
  bool ordinary = true;     ///< products of sums and two of them are normal floats

  ScaleValues(const Wave &wave, const Instruction &instruction, unsigned field, unsigned side) {
    const unsigned shift = scale_shift(instruction, side);
    const bool scaled = instruction.scaled && field >= first_vector_field;
    const uint32_t *words = wave.vgpr[scaled ? field - first_vector_field : 0].word;
    uint32_t exponents[lane_count], extreme = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      exponents[lane] = scaled ? words[lane] >> shift & 0xFF : 127;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint32_t exponent = exponents[lane];
      extreme |= exponent - (127 - 50) > 100;
      narrow[lane] = std::bit_cast<float>(exponent << 23);
      const uint64_t bits = uint64_t{exponent + 1023 - 127} << 52;
      value[lane] = std::bit_cast<double>(exponent == 255 ? 0x7FF8000000000000 : bits);
    }
    ordinary = !extreme;
  }
};

/// The accumulator as a matrix.
template <unsigned Size> struct Accumulator {
  alignas(32) float value[Size][Size];
};

template <unsigned Size> constexpr MatrixShape shape_of() {
  return {Size, Size, Size == 16 ? 128u : 64u, 1, Element::F8F6F4, Element::F8F6F4, Element::F32};
}

template <unsigned Size>
void read_accumulator(const Wave &wave, const Instruction &instruction, Accumulator<Size> &out) {
  constexpr MatrixShape shape = shape_of<Size>();
  for (unsigned i = 0; i < Size; ++i) {
    ResultLocation first = result_location(shape, 0, i, 0);
    for (unsigned j = 0; j < Size; ++j)
      out.value[i][j] =
          std::bit_cast<float>(accumulator_word(wave, instruction.source[2], first.index, first.lane + j));
  }
}
template <unsigned Size>
void write_accumulator(Wave &wave, const Instruction &instruction, const Accumulator<Size> &in) {
  constexpr MatrixShape shape = shape_of<Size>();
  for (unsigned i = 0; i < Size; ++i) {
    ResultLocation first = result_location(shape, 0, i, 0);
    std::memcpy(wave.vgpr[instruction.destination + first.index].word + first.lane, in.value[i], 4 * Size);
  }
}

/// Adds scaled block sums to the accumulator; exact sums in, one rounding out.
template <class Real, class Scale, unsigned Size>
inline __attribute__((always_inline)) void add_rows(const ProductSums<Real> &sums, const Scale *row_scales,
                                                    const Scale *column_scales,
                                                    Accumulator<Size> &accumulator) {
  for (unsigned i = 0; i < Size; ++i) {
    const Scale row_scale = row_scales[i];
    const Real *from = sums.value[i];
    float *row = accumulator.value[i];
    // Unrolled, the rows would be vectorised instead.
#pragma GCC ivdep
#pragma GCC unroll 1
    for (unsigned j = 0; j < Size; ++j)
      row[j] = static_cast<float>(row[j] + from[j] * row_scale * column_scales[j]);
  }
}
template <class Real, class Scale, unsigned Size>
void add_block_portable(const ProductSums<Real> &sums, const Scale *row_scales, const Scale *column_scales,
                        Accumulator<Size> &accumulator) {
  add_rows(sums, row_scales, column_scales, accumulator);
}
template <class Real, class Scale, unsigned Size>
NEREID_SIM_AVX2 void add_block_avx2(const ProductSums<Real> &sums, const Scale *row_scales,
                                    const Scale *column_scales, Accumulator<Size> &accumulator) {
  add_rows(sums, row_scales, column_scales, accumulator);
}
template <class Real, class Scale, unsigned Size>
NEREID_SIM_AVX512 void add_block_avx512(const ProductSums<Real> &sums, const Scale *row_scales,
                                        const Scale *column_scales, Accumulator<Size> &accumulator) {
  add_rows(sums, row_scales, column_scales, accumulator);
}

template <class Real, unsigned Size>
void add_block(const ProductSums<Real> &sums, const ScaleValues &rows, const ScaleValues &columns,
               unsigned block, Accumulator<Size> &accumulator) {
  auto add = [&]<class Scale>(const Scale *row_scales, const Scale *column_scales) {
    auto *host = uses_avx512() ? add_block_avx512<Real, Scale, Size>
                 : uses_avx2() ? add_block_avx2<Real, Scale, Size>
                               : add_block_portable<Real, Scale, Size>;
    host(sums, row_scales, column_scales, accumulator);
  };
  if (std::is_same_v<Real, float> && rows.ordinary && columns.ordinary)
    add(rows.narrow + block * Size, columns.narrow + block * Size);
  else
    add(rows.value + block * Size, columns.value + block * Size);
}

/// One product: where its operands are and how its results are scaled.
template <unsigned Size> struct ScaledProduct {
  Element format_a, format_b;
  const Lanes *a, *b;
  ScaleValues rows, columns;

  ScaledProduct(const Wave &wave, const Instruction &instruction)
      : format_a(formats[instruction.cbsz]), format_b(formats[instruction.blgp]),
        a(&wave.vgpr[instruction.source[0].index]), b(&wave.vgpr[instruction.source[1].index]),
        rows(wave, instruction, instruction.scale_a, 0), columns(wave, instruction, instruction.scale_b, 1) {}

  /// Any pair of formats, in numbers of a type in which block sums are exact. For pairs with a bf8 side that
  /// spans more than 53 bits double rounds them, in increasing k.
  template <class Real> void add_to(Accumulator<Size> &accumulator) const {
    OperandValues<Real> values_a, values_b;
    read_values(a, format_a, block_length, values_a);
    read_values(b, format_b, block_length, values_b);
    ProductSums<Real> sums;
    for (unsigned block = 0; block < blocks<Size>; ++block) {
      const unsigned first = block * block_length;
      sum_products<Real>({values_a.value[0], positions<Size>.at[has_8_bits(format_a)] + first},
                         {values_b.value[0], positions<Size>.at[has_8_bits(format_b)] + first}, block_length,
                         Size, Size, sums);
      add_block(sums, rows, columns, block, accumulator);
    }
  }
  void add_fp4_to(Accumulator<Size> &accumulator) const {
    ProductSums<float> sums;
    for (unsigned block = 0; block < blocks<Size>; ++block) {
      sum_fp4_products<Size>(a, b, block, sums);
      add_block(sums, rows, columns, block, accumulator);
    }
  }
};

} // namespace

template <unsigned Size> void run_scaled_matrix(Wave &wave, const Instruction &instruction) {
  if (instruction.cbsz >= std::size(formats) || instruction.blgp >= std::size(formats))
    return wave.raise(
        FaultKind::Unsupported, -1,
        fmt::format("cbsz {} and blgp {}: formats above 4 do not exist", instruction.cbsz, instruction.blgp));
  const ScaledProduct<Size> product(wave, instruction);
  Accumulator<Size> accumulator;
  read_accumulator<Size>(wave, instruction, accumulator);
  if (product.format_a == Element::Fp4 && product.format_b == Element::Fp4)
    product.add_fp4_to(accumulator);
  else if (has_8_bits(product.format_a) || has_8_bits(product.format_b))
    product.template add_to<double>(accumulator);
  else // 32 products of at most 6 bits a side are a multiple of 2^-8 below 2^15
    product.template add_to<float>(accumulator);
  write_accumulator<Size>(wave, instruction, accumulator);
}

template void run_scaled_matrix<16>(Wave &, const Instruction &);
template void run_scaled_matrix<32>(Wave &, const Instruction &);

} // namespace nereid::sim
