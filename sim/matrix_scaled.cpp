// v_mfma_f32_{16x16x128,32x32x64}_f8f6f4, scaled and unscaled: every pair of fp8, bf8, fp6, bf6 and fp4.
//
// Numbers: a block of 32 products is summed exactly, multiplied by the two scales, and added to the f32
// accumulator with one rounding, blocks in increasing k.

#include <bit>
#include <cmath>
#include <emmintrin.h>
#include <immintrin.h>

#include <fmt/format.h>

#include "sim/formats.h"
#include "sim/lanes.h"
#include "sim/matrix.h"
#include "sim/simd.h"

namespace nereid::sim {

namespace {

constexpr unsigned block_length = 32;

/// What CBSZ and BLGP name, with the factor that makes every value of a format of at most 6 bits an integer.
struct Format {
  SmallFormat format;
  unsigned registers;
  int integer_scale;
};
constexpr Format formats[] = {{fp8, 8, 0}, {bf8, 8, 0}, {fp6, 6, 8}, {bf6, 6, 16}, {fp4, 4, 2}};
constexpr unsigned fp4_code = 4;

/// The values of a format's codes as integers, and pairs of fp4 codes for a whole byte.
struct IntegerTables {
  int16_t value[std::size(formats)][64] = {};
  uint32_t fp4_pair[256] = {};

  IntegerTables() {
    for (unsigned f = 2; f < std::size(formats); ++f)
      for (unsigned code = 0; code < 1u << formats[f].format.bits(); ++code)
        value[f][code] = static_cast<int16_t>(small_to_float(formats[f].format, code) *
                                              static_cast<float>(formats[f].integer_scale));
    for (unsigned byte = 0; byte < 256; ++byte)
      fp4_pair[byte] = static_cast<uint16_t>(value[fp4_code][byte & 15]) |
                       static_cast<uint32_t>(static_cast<uint16_t>(value[fp4_code][byte >> 4])) << 16;
  }
};
const IntegerTables &integer_tables() {
  static const IntegerTables tables;
  return tables;
}

/// The fp8 and bf8 values.
struct ByteTables {
  float value[2][256];
  ByteTables() {
    for (unsigned code = 0; code < 256; ++code) {
      value[0][code] = small_to_float(fp8, code);
      value[1][code] = small_to_float(bf8, code);
    }
  }
};
const ByteTables &byte_tables() {
  static const ByteTables tables;
  return tables;
}

/// Element j of a lane: the code, from a format's packing.
uint32_t code_of(const Wave &wave, unsigned first, unsigned lane, unsigned j, unsigned bits) {
  unsigned at = j * bits;
  uint64_t words = wave.vgpr[first + at / 32].word[lane];
  if (at % 32 + bits > 32)
    words |= uint64_t{wave.vgpr[first + at / 32 + 1].word[lane]} << 32;
  return static_cast<uint32_t>(words >> at % 32) & ((1u << bits) - 1);
}

/// The k of element j of a lane in group g. 8-bit formats are dealt in two chunks of 16.
unsigned k_of(unsigned bits, unsigned groups, unsigned group, unsigned j) {
  if (bits != 8)
    return block_length * group + j;
  return j < 16 ? 16 * group + j : 16 * groups + 16 * group + (j - 16);
}

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

/// A by rows and B by columns as pairs of 16-bit integers along k.
template <unsigned Size> struct IntegerOperands {
  static constexpr unsigned k_pairs = (Size == 16 ? 128 : 64) / 2;
  alignas(32) uint32_t a[Size][k_pairs];
  alignas(32) uint32_t b[k_pairs][Size];
};

template <unsigned Size, class Put>
void gather_integers(const Wave &wave, unsigned first, unsigned format, Put put) {
  const IntegerTables &tables = integer_tables();
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    unsigned row = lane % Size, pair = lane / Size * (block_length / 2);
    if (format == fp4_code) {
      for (unsigned word = 0; word < 4; ++word) {
        uint32_t codes = wave.vgpr[first + word].word[lane];
        for (unsigned byte = 0; byte < 4; ++byte)
          put(row, pair + 4 * word + byte, tables.fp4_pair[codes >> 8 * byte & 0xFF]);
      }
      continue;
    }
    for (unsigned p = 0; p < block_length / 2; ++p) {
      uint16_t low = static_cast<uint16_t>(tables.value[format][code_of(wave, first, lane, 2 * p, 6)]);
      uint16_t high = static_cast<uint16_t>(tables.value[format][code_of(wave, first, lane, 2 * p + 1, 6)]);
      put(row, pair + p, low | uint32_t{high} << 16);
    }
  }
}

/// Sums of 16 pairs of products for a row and all columns.
template <unsigned Size>
NEREID_SIM_AVX2 void block_sums_avx2(const uint32_t *a, const uint32_t (*b)[Size], int32_t *sums) {
  __m256i sum[Size / 8];
  for (unsigned v = 0; v < Size / 8; ++v)
    sum[v] = _mm256_setzero_si256();
  for (unsigned p = 0; p < block_length / 2; ++p) {
    __m256i pair = _mm256_set1_epi32(static_cast<int>(a[p]));
    for (unsigned v = 0; v < Size / 8; ++v) {
      __m256i column = _mm256_load_si256(reinterpret_cast<const __m256i *>(b[p] + 8 * v));
      sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(pair, column));
    }
  }
  for (unsigned v = 0; v < Size / 8; ++v)
    _mm256_store_si256(reinterpret_cast<__m256i *>(sums + 8 * v), sum[v]);
}

template <unsigned Size> void block_sums_sse2(const uint32_t *a, const uint32_t (*b)[Size], int32_t *sums) {
  __m128i sum[Size / 4];
  for (unsigned v = 0; v < Size / 4; ++v)
    sum[v] = _mm_setzero_si128();
  for (unsigned p = 0; p < block_length / 2; ++p) {
    __m128i pair = _mm_set1_epi32(static_cast<int>(a[p]));
    for (unsigned v = 0; v < Size / 4; ++v) {
      __m128i column = _mm_load_si128(reinterpret_cast<const __m128i *>(b[p] + 4 * v));
      sum[v] = _mm_add_epi32(sum[v], _mm_madd_epi16(pair, column));
    }
  }
  for (unsigned v = 0; v < Size / 4; ++v)
    _mm_store_si128(reinterpret_cast<__m128i *>(sums + 4 * v), sum[v]);
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

/// Adds scaled block sums to a row of the accumulator; exact sums in, one rounding out.
template <unsigned Size, class Sum>
void add_block(const Sum *sums, double factor, const Scales<Size> &a, const Scales<Size> &b, unsigned block,
               unsigned row, float *accumulator) {
  double row_scale = e8m0_value(a.byte[block][row]) * factor;
  for (unsigned j = 0; j < Size; ++j) {
    double scaled = static_cast<double>(sums[j]) * row_scale * e8m0_value(b.byte[block][j]);
    accumulator[j] = static_cast<float>(static_cast<double>(accumulator[j]) + scaled);
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

template <unsigned Size>
void multiply_integers(const Wave &wave, const Instruction &instruction, const Scales<Size> &scale_a,
                       const Scales<Size> &scale_b, Accumulator<Size> &accumulator) {
  IntegerOperands<Size> operands;
  gather_integers<Size>(wave, instruction.source[0].index, instruction.cbsz,
                        [&](unsigned row, unsigned pair, uint32_t value) { operands.a[row][pair] = value; });
  gather_integers<Size>(wave, instruction.source[1].index, instruction.blgp,
                        [&](unsigned row, unsigned pair, uint32_t value) { operands.b[pair][row] = value; });
  float factor = 1.0f / static_cast<float>(formats[instruction.cbsz].integer_scale *
                                           formats[instruction.blgp].integer_scale);
  // Sums of fp4 and fp6 products fit a float; those of bf6 pairs may need 25 bits.
  bool ordinary = scale_a.ordinary && scale_b.ordinary && formats[instruction.cbsz].integer_scale < 16 &&
                  formats[instruction.blgp].integer_scale < 16;
  alignas(32) int32_t sums[Size];
  for (unsigned block = 0; block < Scales<Size>::blocks; ++block) {
    float column_scales[Size];
    if (ordinary)
      float_scales<Size>(scale_b, block, column_scales);
    for (unsigned row = 0; row < Size; ++row) {
      const uint32_t *a = operands.a[row] + block * (block_length / 2);
      const auto *b = operands.b + block * (block_length / 2);
      if (uses_avx2())
        block_sums_avx2<Size>(a, b, sums);
      else
        block_sums_sse2<Size>(a, b, sums);
      if (ordinary) {
        float row_scale = std::bit_cast<float>(uint32_t{scale_a.byte[block][row]} << 23) * factor;
        add_block_ordinary<Size>(sums, row_scale, column_scales, accumulator.value[row]);
      } else {
        add_block<Size>(sums, factor, scale_a, scale_b, block, row, accumulator.value[row]);
      }
    }
  }
}

template <unsigned Size> struct FloatOperands {
  static constexpr unsigned k = Size == 16 ? 128 : 64;
  double a[Size][k];
  double b[k][Size];
};

template <unsigned Size, class Put>
void gather_floats(const Wave &wave, unsigned first, unsigned format, Put put) {
  unsigned bits = formats[format].format.bits();
  for (unsigned lane = 0; lane < lane_count; ++lane)
    for (unsigned j = 0; j < block_length; ++j) {
      uint32_t code = code_of(wave, first, lane, j, bits);
      double value = bits == 8 ? double{byte_tables().value[format][code]}
                               : double{small_to_float(formats[format].format, code)};
      put(lane % Size, k_of(bits, lane_count / Size, lane / Size, j), value);
    }
}

/// With an 8-bit side. Sums of products are exact in double but for pairs of bf8 that span more than 53 bits.
template <unsigned Size>
void multiply_floats(const Wave &wave, const Instruction &instruction, const Scales<Size> &scale_a,
                     const Scales<Size> &scale_b, Accumulator<Size> &accumulator) {
  FloatOperands<Size> operands;
  gather_floats<Size>(wave, instruction.source[0].index, instruction.cbsz,
                      [&](unsigned row, unsigned k, double value) { operands.a[row][k] = value; });
  gather_floats<Size>(wave, instruction.source[1].index, instruction.blgp,
                      [&](unsigned row, unsigned k, double value) { operands.b[k][row] = value; });
  for (unsigned block = 0; block < Scales<Size>::blocks; ++block)
    for (unsigned row = 0; row < Size; ++row) {
      double sums[Size] = {};
      for (unsigned k = block * block_length; k < (block + 1) * block_length; ++k) {
        double a = operands.a[row][k];
        for (unsigned j = 0; j < Size; ++j)
          sums[j] += a * operands.b[k][j];
      }
      add_block<Size>(sums, 1.0, scale_a, scale_b, block, row, accumulator.value[row]);
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
  bool integers = formats[instruction.cbsz].integer_scale && formats[instruction.blgp].integer_scale;
  if (uses_avx2() && instruction.cbsz == fp4_code && instruction.blgp == fp4_code && scale_a.ordinary &&
      scale_b.ordinary)
    multiply_fp4_avx2<Size>(wave, instruction, scale_a, scale_b, accumulator);
  else if (integers)
    multiply_integers<Size>(wave, instruction, scale_a, scale_b, accumulator);
  else
    multiply_floats<Size>(wave, instruction, scale_a, scale_b, accumulator);
  write_accumulator<Size>(wave, instruction, accumulator);
}

template void run_scaled_matrix<16>(Wave &, const Instruction &);
template void run_scaled_matrix<32>(Wave &, const Instruction &);

} // namespace nereid::sim
