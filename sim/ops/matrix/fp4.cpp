// Matrix products of fp4: values are small integers when doubled, so that blocks are summed exactly in 16-bit
// lanes.

#include "sim/ops/matrix/fp4.h"

#include <immintrin.h>

#include "sim/state/formats.h"
#include "sim/state/simd.h"

namespace nereid::sim {

namespace {

constexpr unsigned block_length = 32, fours = block_length / 4, pairs = block_length / 2;

/// Twice the values of both codes of a byte, as 16-bit integers.
struct PairTable {
  uint32_t pair[256];

  PairTable() {
    for (uint32_t byte = 0; byte < 256; ++byte)
      pair[byte] = doubled(byte & 15) | doubled(byte >> 4) << 16;
  }

private:
  static uint32_t doubled(uint32_t code) {
    return static_cast<uint16_t>(static_cast<int16_t>(2 * small_to_float(fp4, code)));
  }
};

/// Twice the values of a block by pairs along k: `pair[p][i]` holds elements 2p and 2p + 1 of row or column
/// i.
template <unsigned Size> struct PairOperand {
  alignas(16) uint32_t pair[pairs][Size];

  PairOperand(const Lanes *registers, unsigned block) {
    static const PairTable table;
    for (unsigned p = 0; p < pairs; ++p) {
      const uint32_t *words = registers[p / 4].word + block * Size;
      for (unsigned i = 0; i < Size; ++i)
        pair[p][i] = table.pair[words[i] >> 8 * (p % 4) & 0xFF];
    }
  }
};

template <unsigned Size>
void sum_portable(const Lanes *a, const Lanes *b, unsigned block, ProductSums<float> &sums) {
  constexpr unsigned vectors = Size / 4;
  const PairOperand<Size> rows(a, block), columns(b, block);
  for (unsigned row = 0; row < Size; ++row) {
    __m128i sum[vectors];
    for (unsigned v = 0; v < vectors; ++v)
      sum[v] = _mm_setzero_si128();
    for (unsigned p = 0; p < pairs; ++p) {
      const __m128i pair = _mm_set1_epi32(static_cast<int>(rows.pair[p][row]));
      for (unsigned v = 0; v < vectors; ++v) {
        const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i *>(columns.pair[p] + 4 * v));
        sum[v] = _mm_add_epi32(sum[v], _mm_madd_epi16(pair, four));
      }
    }
    for (unsigned v = 0; v < vectors; ++v)
      _mm_store_ps(sums.value[row] + 4 * v, _mm_mul_ps(_mm_cvtepi32_ps(sum[v]), _mm_set1_ps(0.25f)));
  }
}

/// The same as bytes: `group[g][i]` holds elements 4g to 4g + 3 of row or column i.
template <unsigned Size> struct ByteOperand {
  alignas(32) uint32_t group[fours][Size];
};

/// Eight lanes' four codes in the lower halves of words become four bytes each.
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
NEREID_SIM_AVX2 void read_bytes(const Lanes *registers, unsigned block, int offset, ByteOperand<Size> &out) {
  const __m128i positive = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  const __m256i values =
      _mm256_add_epi8(_mm256_broadcastsi128_si256(positive), _mm256_set1_epi8(static_cast<char>(offset)));
  for (unsigned word = 0; word < 4; ++word)
    for (unsigned lane = 0; lane < Size; lane += 8) {
      const __m256i codes =
          _mm256_load_si256(reinterpret_cast<const __m256i *>(registers[word].word + block * Size + lane));
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

/// Bytes multiply as unsigned times signed, so A is raised by 12 and 12 times the column's sum taken away
/// again; partial sums of a block stay below 2^13.
template <unsigned Size>
NEREID_SIM_AVX2 void sum_avx2(const Lanes *a, const Lanes *b, unsigned block, ProductSums<float> &sums) {
  constexpr unsigned vectors = Size / 8;
  constexpr int raised = 12;
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256 quarter = _mm256_set1_ps(0.25f);
  ByteOperand<Size> rows, columns;
  read_bytes<Size>(a, block, raised, rows);
  read_bytes<Size>(b, block, 0, columns);
  __m256i start[vectors];
  for (unsigned v = 0; v < vectors; ++v) {
    start[v] = _mm256_setzero_si256();
    for (unsigned g = 0; g < fours; ++g)
      start[v] = _mm256_sub_epi16(
          start[v], _mm256_maddubs_epi16(_mm256_set1_epi8(raised), eight_columns(columns, g, v)));
  }
  for (unsigned row = 0; row < Size; ++row) {
    __m256i sum[vectors];
    for (unsigned v = 0; v < vectors; ++v)
      sum[v] = start[v];
    for (unsigned g = 0; g < fours; ++g) {
      const __m256i four = _mm256_set1_epi32(static_cast<int>(rows.group[g][row]));
      for (unsigned v = 0; v < vectors; ++v)
        sum[v] = _mm256_add_epi16(sum[v], _mm256_maddubs_epi16(four, eight_columns(columns, g, v)));
    }
    for (unsigned v = 0; v < vectors; ++v)
      _mm256_store_ps(sums.value[row] + 8 * v,
                      _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_madd_epi16(sum[v], ones)), quarter));
  }
}

} // namespace

template <unsigned Size>
void sum_fp4_products(const Lanes *a, const Lanes *b, unsigned block, ProductSums<float> &sums) {
  uses_avx2() ? sum_avx2<Size>(a, b, block, sums) : sum_portable<Size>(a, b, block, sums);
}

template void sum_fp4_products<16>(const Lanes *, const Lanes *, unsigned, ProductSums<float> &);
template void sum_fp4_products<32>(const Lanes *, const Lanes *, unsigned, ProductSums<float> &);

} // namespace nereid::sim
