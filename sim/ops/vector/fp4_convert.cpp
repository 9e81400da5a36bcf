// Conversions of two values to a byte of fp4 codes, many lanes at a time.

#include "sim/ops/vector/fp4_convert.h"

#include <bit>
#include <cmath>
#include <immintrin.h>

#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

/// Operands and destination. `a` holds both values but for f32, whose second one is in `b`.
struct PairToFp4 {
  const uint32_t *a, *b, *scale;
  uint32_t *to;
  const uint32_t *mask;
  unsigned shift; ///< of the byte in the destination
};

/// The fp4 code of value * factor; comparisons order the ties of nearest-even (the even code wins), NaN is
/// code 7.
inline uint32_t fp4_code(float value, float factor) {
  uint32_t sign = std::bit_cast<uint32_t>(value) >> 31 << 3;
  float v = std::fabs(value) * factor;
  uint32_t code = static_cast<uint32_t>(v > 0.25f) + (v >= 0.75f) + (v > 1.25f) + (v >= 1.75f) + (v > 2.5f) +
                  (v >= 3.5f) + (v > 5.0f);
  return sign | (v == v ? code : 7u);
}

/// 2^(127 - byte); NaN for 255.
inline float inverse_scale(uint32_t byte) {
  uint32_t exponent = 254 - byte;
  uint32_t bits = exponent ? exponent << 23 : 0x00400000;
  return std::bit_cast<float>(byte == 255 ? 0x7FC00000 : bits);
}

template <Wide W> inline __attribute__((always_inline)) void convert_lanes(const PairToFp4 &p) {
  const uint32_t *a = p.a, *b = p.b, *scale = p.scale, *mask = p.mask;
  uint32_t *to = p.to;
  const unsigned shift = p.shift;
  const uint32_t part = 0xFFu << shift;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    float factor = inverse_scale(scale[lane] >> 23 & 0xFF), low, high;
    if constexpr (W == Wide::F32) {
      low = std::bit_cast<float>(a[lane]);
      high = std::bit_cast<float>(b[lane]);
    } else if constexpr (W == Wide::F16) {
      low = half_to_float(a[lane] & 0xFFFF);
      high = half_to_float(a[lane] >> 16);
    } else {
      low = bfloat_to_float(a[lane]);
      high = std::bit_cast<float>(a[lane] & 0xFFFF0000);
    }
    uint32_t byte = (fp4_code(low, factor) | fp4_code(high, factor) << 4) << shift;
    uint32_t keep = ~(part & mask[lane]);
    to[lane] = (to[lane] & keep) | (byte & ~keep);
  }
}
template <Wide W> void convert_portable(const PairToFp4 &p) { convert_lanes<W>(p); }
template <Wide W> NEREID_SIM_AVX2 void convert_avx2(const PairToFp4 &p) { convert_lanes<W>(p); }

constexpr unsigned vectors = lane_count / 8;

NEREID_SIM_AVX2 inline __m256i load_vector(const uint32_t *words, unsigned vector) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(words) + vector);
}

/// True when the magnitudes of all values are finite and the scales are at least 2^-123 and no NaN: their
/// quotients can then be found from the difference of the bf16 patterns as if these were logarithms (a
/// denormal becomes 0, as it should).
NEREID_SIM_AVX2 bool patterns_suffice(const PairToFp4 &p) {
  const __m256i magnitudes = _mm256_set1_epi32(0x7FFF7FFF);
  const __m256i exponents = _mm256_set1_epi32(0x7F800000);
  __m256i max_magnitude = _mm256_setzero_si256(), max_scale = max_magnitude, min_scale = exponents;
  for (unsigned v = 0; v < vectors; ++v) {
    const __m256i scale = _mm256_and_si256(load_vector(p.scale, v), exponents);
    max_magnitude = _mm256_max_epi16(max_magnitude, _mm256_and_si256(load_vector(p.a, v), magnitudes));
    max_scale = _mm256_max_epi32(max_scale, scale);
    min_scale = _mm256_min_epi32(min_scale, scale);
  }
  const __m256i bad =
      _mm256_or_si256(_mm256_cmpgt_epi16(max_magnitude, _mm256_set1_epi16(0x7F7F)),
                      _mm256_or_si256(_mm256_cmpgt_epi32(max_scale, _mm256_set1_epi32(254 << 23)),
                                      _mm256_cmpgt_epi32(_mm256_set1_epi32(4 << 23), min_scale)));
  return _mm256_testz_si256(bad, bad);
}

/// For each of 16 values v / scale in 32nds of a binade above 1/4, with a bit less where a tie goes down:
/// code 1 begins at 0, 2 at 6, and the next ones at 9, 11, 13, 15 and 17.
NEREID_SIM_AVX2 inline __m256i steps_above_quarter(__m256i values, __m256i scales) {
  // Both halves of a word take the exponent of its scale to the bits where bf16 has it.
  const __m256i upper_halves =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15));
  const __m256i twice = _mm256_shuffle_epi8(scales, upper_halves);
  const __m256i exponents = _mm256_and_si256(twice, _mm256_set1_epi16(0x7F80));
  const __m256i quotient = _mm256_sub_epi16(_mm256_and_si256(values, _mm256_set1_epi16(0x7FFF)), exponents);
  // Ties are at multiples of 32; every second one goes down, to the even code.
  const __m256i goes_up = _mm256_and_si256(_mm256_srli_epi16(quotient, 6), _mm256_set1_epi16(1));
  const __m256i above = _mm256_add_epi16(_mm256_add_epi16(quotient, _mm256_set1_epi16(255)), goes_up);
  return _mm256_srai_epi16(above, 5);
}

/// The same codes as convert_lanes finds, of pairs of bf16 of which patterns_suffice.
NEREID_SIM_AVX2 void convert_patterns(const PairToFp4 &p) {
  const __m256i code_of_step =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6));
  const __m256i part = _mm256_set1_epi32(static_cast<int>(0xFFu << p.shift));
  const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(p.shift));
  for (unsigned v = 0; v < vectors; v += 2) {
    const __m256i first = load_vector(p.a, v), second = load_vector(p.a, v + 1);
    const __m256i steps = _mm256_packs_epi16(steps_above_quarter(first, load_vector(p.scale, v)),
                                             steps_above_quarter(second, load_vector(p.scale, v + 1)));
    // A negative index gives 0; steps 15 and 16 have the code 6, later ones 7.
    __m256i codes = _mm256_shuffle_epi8(code_of_step, _mm256_min_epi8(steps, _mm256_set1_epi8(15)));
    codes = _mm256_sub_epi8(codes, _mm256_cmpgt_epi8(steps, _mm256_set1_epi8(16)));
    const __m256i signs = _mm256_srli_epi16(_mm256_packs_epi16(first, second), 4);
    codes = _mm256_or_si256(codes, _mm256_and_si256(signs, _mm256_set1_epi8(8)));
    // Neighbouring codes become a byte: low + 16 * high.
    const __m256i bytes = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x1001));
    const __m256i words[2] = {_mm256_unpacklo_epi16(bytes, _mm256_setzero_si256()),
                              _mm256_unpackhi_epi16(bytes, _mm256_setzero_si256())};
    for (unsigned k = 0; k < 2; ++k) {
      auto *to = reinterpret_cast<__m256i *>(p.to) + v + k;
      const __m256i change = _mm256_and_si256(part, load_vector(p.mask, v + k));
      const __m256i kept = _mm256_andnot_si256(change, _mm256_loadu_si256(to));
      _mm256_storeu_si256(to,
                          _mm256_or_si256(kept, _mm256_and_si256(change, _mm256_sll_epi32(words[k], shift))));
    }
  }
}

/// Both in one pass with AVX-512: false, and nothing done, when the scales do not permit it.
NEREID_SIM_AVX512 bool convert_patterns_avx512(const PairToFp4 &p) {
  alignas(64) static constexpr uint16_t code_of_step[32] = {0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5,
                                                            6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  constexpr int last_step = 18;
  constexpr unsigned parts = lane_count / 16;
  const __m512i codes_of_steps = _mm512_load_si512(code_of_step);
  const __m512i upper_halves = _mm512_set4_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302);
  __m512i bytes[parts];
  __mmask32 bad_scales = 0;
  for (unsigned k = 0; k < parts; ++k) {
    const __m512i values = _mm512_loadu_si512(p.a + 16 * k), scales = _mm512_loadu_si512(p.scale + 16 * k);
    const __m512i exponents =
        _mm512_and_si512(_mm512_shuffle_epi8(scales, upper_halves), _mm512_set1_epi16(0x7F80));
    bad_scales |= _mm512_cmpgt_epu16_mask(_mm512_sub_epi16(exponents, _mm512_set1_epi16(4 << 7)),
                                          _mm512_set1_epi16(250 << 7));
    const __m512i magnitudes = _mm512_and_si512(values, _mm512_set1_epi16(0x7FFF));
    // One more than steps_above_quarter, so that what is below the quarter is step 0.
    const __m512i quotient = _mm512_sub_epi16(magnitudes, exponents);
    const __m512i goes_up = _mm512_and_si512(_mm512_srli_epi16(quotient, 6), _mm512_set1_epi16(1));
    const __m512i above = _mm512_add_epi16(_mm512_add_epi16(quotient, _mm512_set1_epi16(287)), goes_up);
    const __m512i steps = _mm512_max_epi16(
        _mm512_min_epi16(_mm512_srai_epi16(above, 5), _mm512_set1_epi16(last_step)), _mm512_setzero_si512());
    const __mmask32 infinite = _mm512_cmpgt_epi16_mask(magnitudes, _mm512_set1_epi16(0x7F7F));
    const __m512i codes = _mm512_permutexvar_epi16(
        _mm512_mask_mov_epi16(steps, infinite, _mm512_set1_epi16(last_step)), codes_of_steps);
    const __m512i signs = _mm512_and_si512(_mm512_srli_epi16(values, 12), _mm512_set1_epi16(8));
    // Neighbouring codes become a byte: low + 16 * high.
    bytes[k] = _mm512_madd_epi16(_mm512_or_si512(codes, signs), _mm512_set1_epi32(0x00100001));
  }
  if (bad_scales)
    return false;
  const __m512i part = _mm512_set1_epi32(static_cast<int>(0xFFu << p.shift));
  for (unsigned k = 0; k < parts; ++k) {
    const __m512i change = _mm512_and_si512(part, _mm512_loadu_si512(p.mask + 16 * k));
    const __m512i shifted =
        _mm512_maskz_sllv_epi32(0xFFFF, bytes[k], _mm512_set1_epi32(static_cast<int>(p.shift)));
    constexpr int select = 0xCA; // of the second and the third operand by bits of the first
    _mm512_storeu_si512(
        p.to + 16 * k, _mm512_ternarylogic_epi32(change, shifted, _mm512_loadu_si512(p.to + 16 * k), select));
  }
  return true;
}

template <Wide W> void run(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  PairToFp4 p;
  p.a = fetch(wave, instruction, instruction.source[0], buffers[0]).low;
  p.b = fetch(wave, instruction, instruction.source[1], buffers[1]).low;
  p.scale = W == Wide::F32 ? fetch(wave, instruction, instruction.source[2], buffers[2]).low : p.b;
  p.to = wave.vgpr[instruction.destination].word;
  p.mask = wave.exec_mask.word;
  p.shift = 8 * (instruction.op_sel >> 2 & 3u);
  if (!uses_avx2())
    convert_portable<W>(p);
  else if (W == Wide::Bf16 && uses_avx512() && convert_patterns_avx512(p))
    return;
  else if (W == Wide::Bf16 && !uses_avx512() && patterns_suffice(p))
    convert_patterns(p);
  else
    convert_avx2<W>(p);
}

} // namespace

Handler pair_to_fp4(Wide wide) {
  return wide == Wide::F32 ? run<Wide::F32> : wide == Wide::F16 ? run<Wide::F16> : run<Wide::Bf16>;
}

} // namespace nereid::sim
