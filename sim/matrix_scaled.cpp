// v_mfma_f32_{16x16x128,32x32x64}_f8f6f4, scaled and unscaled: every pair of fp8, bf8, fp6, bf6 and fp4.
//
// Numbers: a block of 32 products is summed exactly, multiplied by the two scales, and added to the f32
// accumulator with one rounding, blocks in increasing k.

#include <bit>
#include <cstring>
#include <immintrin.h>

#include <fmt/format.h>

#include "sim/lanes.h"
#include "sim/matrix_product.h"
#include "sim/simd.h"

namespace nereid::sim {

namespace {

constexpr unsigned block_length = 32;

/// What CBSZ and BLGP name.
constexpr Element formats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6, Element::Fp4};
constexpr unsigned fp4_code = 4;

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

/// Scale bytes by (row, block), taken from one byte of a register.
template <unsigned Size> struct Scales {
  static constexpr unsigned blocks = lane_count / Size;
  uint8_t byte[blocks][Size];
  bool ordinary = true; ///< products of scales and sums stay normal floats
};

template <unsigned Size>
void read_scales(const Wave &wave, const Instruction &instruction, unsigned field, unsigned which,
                 Scales<Size> &out) {
  unsigned shift = scale_shift(instruction, which);
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t byte = 127;
    if (instruction.scaled && field >= 256)
      byte = wave.vgpr[field - 256].word[lane] >> shift & 0xFF;
    out.byte[lane / Size][lane % Size] = static_cast<uint8_t>(byte);
    out.ordinary &= byte >= 127 - 50 && byte <= 127 + 50;
  }
}

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
    ResultPlace first = result_place(shape, 0, i, 0);
    for (unsigned j = 0; j < Size; ++j)
      out.value[i][j] =
          std::bit_cast<float>(accumulator_word(wave, instruction.source[2], first.index, first.lane + j));
  }
}
template <unsigned Size>
void write_accumulator(Wave &wave, const Instruction &instruction, const Accumulator<Size> &in) {
  constexpr MatrixShape shape = shape_of<Size>();
  for (unsigned i = 0; i < Size; ++i) {
    ResultPlace first = result_place(shape, 0, i, 0);
    std::memcpy(wave.vgpr[instruction.destination + first.index].word + first.lane, in.value[i], 4 * Size);
  }
}

/// Scales as numbers.
template <unsigned Size> struct ScaleValues {
  double value[Scales<Size>::blocks][Size];

  explicit ScaleValues(const Scales<Size> &scales) {
    for (unsigned block = 0; block < Scales<Size>::blocks; ++block)
      for (unsigned i = 0; i < Size; ++i)
        value[block][i] = value_of(scales.byte[block][i]);
  }

private:
  /// 2^(byte - 127), or NaN for 255.
  static double value_of(uint32_t byte) {
    const uint64_t bits = byte == 255 ? 0x7FF8000000000000 : uint64_t{byte + 1023 - 127} << 52;
    return std::bit_cast<double>(bits);
  }
};

/// Adds scaled block sums to the accumulator; exact sums in, one rounding out.
template <class Real, unsigned Size>
inline __attribute__((always_inline)) void add_rows(const ProductSums<Real> &sums, const double *row_scales,
                                                    const double *column_scales,
                                                    Accumulator<Size> &accumulator) {
  for (unsigned i = 0; i < Size; ++i) {
    const double row_scale = row_scales[i];
    const Real *from = sums.value[i];
    float *row = accumulator.value[i];
    // Unrolled, the rows would be vectorised instead.
#pragma GCC ivdep
#pragma GCC unroll 1
    for (unsigned j = 0; j < Size; ++j)
      row[j] = static_cast<float>(row[j] + from[j] * row_scale * column_scales[j]);
  }
}
template <class Real, unsigned Size>
void add_block_portable(const ProductSums<Real> &sums, const double *row_scales, const double *column_scales,
                        Accumulator<Size> &accumulator) {
  add_rows(sums, row_scales, column_scales, accumulator);
}
template <class Real, unsigned Size>
NEREID_SIM_AVX2 void add_block_avx2(const ProductSums<Real> &sums, const double *row_scales,
                                    const double *column_scales, Accumulator<Size> &accumulator) {
  add_rows(sums, row_scales, column_scales, accumulator);
}

/// Any pair of formats, in numbers of a type in which block sums are exact. For pairs with a bf8 side that
/// spans more than 53 bits double rounds them, in increasing k.
template <class Real, unsigned Size>
void multiply(const Wave &wave, const Instruction &instruction, const Scales<Size> &scale_a,
              const Scales<Size> &scale_b, Accumulator<Size> &accumulator) {
  const Element format_a = formats[instruction.cbsz], format_b = formats[instruction.blgp];
  OperandValues<Real> a, b;
  read_values(&wave.vgpr[instruction.source[0].index], format_a, block_length, a);
  read_values(&wave.vgpr[instruction.source[1].index], format_b, block_length, b);
  const ScaleValues<Size> rows(scale_a), columns(scale_b);
  ProductSums<Real> sums;
  for (unsigned block = 0; block < Scales<Size>::blocks; ++block) {
    const unsigned first = block * block_length;
    sum_products<Real>({a.value[0], positions<Size>.at[has_8_bits(format_a)] + first},
                       {b.value[0], positions<Size>.at[has_8_bits(format_b)] + first}, block_length, Size,
                       Size, sums);
    if (uses_avx2())
      add_block_avx2<Real, Size>(sums, rows.value[block], columns.value[block], accumulator);
    else
      add_block_portable<Real, Size>(sums, rows.value[block], columns.value[block], accumulator);
  }
}

/// The same when nothing can leave the normal range: the scaled sum is a float, the addition rounds.
template <unsigned Size>
inline __attribute__((always_inline)) void
add_block_ordinary(const int32_t *sums, float row_scale, const float *column_scales, float *accumulator) {
  for (unsigned j = 0; j < Size; ++j)
    accumulator[j] += static_cast<float>(sums[j]) * (row_scale * column_scales[j]);
}

/// The scales of a block's columns as floats.
template <unsigned Size>
inline __attribute__((always_inline)) void float_scales(const Scales<Size> &scales, unsigned block,
                                                        float *out) {
  for (unsigned j = 0; j < Size; ++j)
    out[j] = std::bit_cast<float>(uint32_t{scales.byte[block][j]} << 23);
}

constexpr unsigned fours = block_length / 4;

/// Twice the fp4 values of a block of k, as bytes: `group[g][i]` holds elements 4g to 4g + 3 of row or column
/// i.
template <unsigned Size> struct ByteOperand {
  alignas(32) uint32_t group[fours][Size];
};

/// Eight lanes' four fp4 codes in the lower halves of words become four bytes each.
NEREID_SIM_AVX2 inline __m256i spread_codes(__m256i words, __m256i values) {
  const __m256i twice = _mm256_set1_epi64x(0x0505040401010000);
  const __m256i upper = _mm256_set1_epi64x(0x0D0D0C0C09090808);
  const __m256i bytes = _mm256_shuffle_epi8(words, _mm256_blend_epi32(twice, upper, 0xCC));
  const __m256i even = _mm256_and_si256(bytes, _mm256_set1_epi32(0x000F000F));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi32(0x0F000F00));
  return _mm256_shuffle_epi8(values, _mm256_or_si256(even, odd));
}

/// Reads a block of A or B, whose 32 codes of a row or column are one lane's four words. `offset` is added to
/// each value.
template <unsigned Size>
NEREID_SIM_AVX2 void read_bytes(const Wave &wave, unsigned first, unsigned block, int offset,
                                ByteOperand<Size> &out) {
  const __m128i positive = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  const __m256i values =
      _mm256_add_epi8(_mm256_broadcastsi128_si256(positive), _mm256_set1_epi8(static_cast<char>(offset)));
  for (unsigned word = 0; word < 4; ++word)
    for (unsigned lane = 0; lane < Size; lane += 8) {
      const __m256i codes = _mm256_load_si256(
          reinterpret_cast<const __m256i *>(wave.vgpr[first + word].word + block * Size + lane));
      auto *low = reinterpret_cast<__m256i *>(out.group[2 * word] + lane);
      auto *high = reinterpret_cast<__m256i *>(out.group[2 * word + 1] + lane);
      _mm256_store_si256(low, spread_codes(codes, values));
      _mm256_store_si256(high, spread_codes(_mm256_srli_epi32(codes, 16), values));
    }
}

template <unsigned Size>
NEREID_SIM_AVX2 inline __m256i eight_columns(const ByteOperand<Size> &b, unsigned group, unsigned vector) {
  return _mm256_load_si256(reinterpret_cast<const __m256i *>(b.group[group] + 8 * vector));
}

/// Both sides fp4 and ordinary scales. Bytes multiply as unsigned times signed, so A is raised by 12 and 12
/// times the column's sum taken away again; partial sums of a block stay below 2^13.
template <unsigned Size>
NEREID_SIM_AVX2 void multiply_fp4_avx2(const Wave &wave, const Instruction &instruction,
                                       const Scales<Size> &scale_a, const Scales<Size> &scale_b,
                                       Accumulator<Size> &accumulator) {
  constexpr unsigned vectors = Size / 8;
  constexpr int raised = 12;
  const __m256i ones = _mm256_set1_epi16(1);
  ByteOperand<Size> a, b;
  alignas(32) int32_t sums[Size];
  float column_scales[Size];
  for (unsigned block = 0; block < Scales<Size>::blocks; ++block) {
    read_bytes<Size>(wave, instruction.source[0].index, block, raised, a);
    read_bytes<Size>(wave, instruction.source[1].index, block, 0, b);
    float_scales<Size>(scale_b, block, column_scales);
    __m256i excess[vectors];
    for (unsigned v = 0; v < vectors; ++v) {
      excess[v] = _mm256_setzero_si256();
      for (unsigned g = 0; g < fours; ++g)
        excess[v] = _mm256_add_epi16(excess[v],
                                     _mm256_maddubs_epi16(_mm256_set1_epi8(raised), eight_columns(b, g, v)));
    }
    for (unsigned row = 0; row < Size; ++row) {
      __m256i sum[vectors];
      for (unsigned v = 0; v < vectors; ++v)
        sum[v] = _mm256_sub_epi16(_mm256_setzero_si256(), excess[v]);
      for (unsigned g = 0; g < fours; ++g) {
        const __m256i four = _mm256_set1_epi32(static_cast<int>(a.group[g][row]));
        for (unsigned v = 0; v < vectors; ++v)
          sum[v] = _mm256_add_epi16(sum[v], _mm256_maddubs_epi16(four, eight_columns(b, g, v)));
      }
      for (unsigned v = 0; v < vectors; ++v)
        _mm256_store_si256(reinterpret_cast<__m256i *>(sums + 8 * v), _mm256_madd_epi16(sum[v], ones));
      const float row_scale = std::bit_cast<float>(uint32_t{scale_a.byte[block][row]} << 23) * 0.25f;
      add_block_ordinary<Size>(sums, row_scale, column_scales, accumulator.value[row]);
    }
  }
}

} // namespace

template <unsigned Size> void run_scaled_matrix(Wave &wave, const Instruction &instruction) {
  if (instruction.cbsz >= std::size(formats) || instruction.blgp >= std::size(formats))
    return wave.raise(
        FaultKind::Unsupported, -1,
        fmt::format("cbsz {} and blgp {}: formats above 4 do not exist", instruction.cbsz, instruction.blgp));
  Scales<Size> scale_a, scale_b;
  read_scales<Size>(wave, instruction, instruction.scale_a, 0, scale_a);
  read_scales<Size>(wave, instruction, instruction.scale_b, 1, scale_b);
  Accumulator<Size> accumulator;
  read_accumulator<Size>(wave, instruction, accumulator);
  const bool bytes = has_8_bits(formats[instruction.cbsz]) || has_8_bits(formats[instruction.blgp]);
  if (uses_avx2() && instruction.cbsz == fp4_code && instruction.blgp == fp4_code && scale_a.ordinary &&
      scale_b.ordinary)
    multiply_fp4_avx2<Size>(wave, instruction, scale_a, scale_b, accumulator);
  else if (bytes)
    multiply<double, Size>(wave, instruction, scale_a, scale_b, accumulator);
  else // 32 products of at most 6 bits a side are a multiple of 2^-8 below 2^15
    multiply<float, Size>(wave, instruction, scale_a, scale_b, accumulator);
  write_accumulator<Size>(wave, instruction, accumulator);
}

template void run_scaled_matrix<16>(Wave &, const Instruction &);
template void run_scaled_matrix<32>(Wave &, const Instruction &);

} // namespace nereid::sim
