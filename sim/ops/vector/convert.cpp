// Conversions between integers, f16, bf16, f32, f64 and unscaled fp8 and bf8.

#include <algorithm>
#include <cmath>

#include "sim/decode/operations.h"
#include "sim/ops/vector/float_math.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

constexpr RowFacts ignore_mode{.traits = Operation::IgnoresMode};
/// Conversions of two values to the halves of a register.
constexpr Taint two_halves = taint::elements(Taint::Elements::SourceByHalf);

/// Truncates; out of range saturates and NaN becomes 0.
template <class T, class F> T to_integer(F value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min()),
                   high = static_cast<double>(std::numeric_limits<T>::max());
  double wide = static_cast<double>(value);
  if (!(wide == wide))
    return 0;
  return wide <= low    ? std::numeric_limits<T>::min()
         : wide >= high ? std::numeric_limits<T>::max()
                        : static_cast<T>(wide);
}
template <class T> T narrow(int64_t value) {
  return static_cast<T>(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// [-1, 1] or [0, 1] to the whole range of a 16-bit integer, rounded.
int16_t signed_normal(float value) {
  return to_integer<int16_t>(round_half_even(double{std::clamp(value, -1.0f, 1.0f)} * 32767.0));
}
uint16_t unsigned_normal(float value) {
  return to_integer<uint16_t>(round_half_even(double{std::clamp(value, 0.0f, 1.0f)} * 65535.0));
}

uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xFFFF) | high << 16; }

template <unsigned Byte> float unsigned_byte(uint32_t word) {
  return static_cast<float>((word >> 8 * Byte) & 0xFF);
}

uint32_t insert_byte(float value, uint32_t place, uint32_t old) {
  unsigned shift = 8 * (place & 3);
  return (old & ~(0xFFu << shift)) | uint32_t{to_integer<uint8_t>(round_half_even(value))} << shift;
}

uint32_t truncated_halves(float a, float b) { return pack(double_to_half(a, 3), double_to_half(b, 3)); }
uint32_t bfloats(float a, float b) { return float_to_bfloat(a) | float_to_bfloat(b) << 16; }
/// The clamp bit: rounding keeps 0 and 1, so the values may be clamped before it.
float unit(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; }

uint32_t saturate_bytes(uint32_t word) {
  auto byte = [](uint32_t half) {
    return static_cast<uint32_t>(std::clamp<int>(static_cast<int16_t>(half), 0, 255));
  };
  return byte(word & 0xFFFF) | byte(word >> 16) << 8;
}

void rows_integer(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<to_integer<int32_t, float>>("v_cvt_i32_f32", ignore_mode),
          vector_operation<to_integer<uint32_t, float>>("v_cvt_u32_f32", ignore_mode),
          vector_operation<to_integer<int32_t, double>>("v_cvt_i32_f64", ignore_mode),
          vector_operation<to_integer<uint32_t, double>>("v_cvt_u32_f64", ignore_mode),
          vector_operation<[](Half a) { return to_integer<int16_t>(a.value); }>("v_cvt_i16_f16"),
          vector_operation<[](Half a) { return to_integer<uint16_t>(a.value); }>("v_cvt_u16_f16"),
          vector_operation<[](float a) { return to_integer<int32_t>(std::floor(a + 0.5f)); }>(
              "v_cvt_rpi_i32_f32", ignore_mode),
          vector_operation<[](float a) { return to_integer<int32_t>(std::floor(a)); }>("v_cvt_flr_i32_f32",
                                                                                       ignore_mode),
          vector_operation<[](int32_t a) { return static_cast<float>(a); }>("v_cvt_f32_i32"),
          vector_operation<[](uint32_t a) { return static_cast<float>(a); }>("v_cvt_f32_u32"),
          vector_operation<[](int32_t a) { return static_cast<double>(a); }>("v_cvt_f64_i32"),
          vector_operation<[](uint32_t a) { return static_cast<double>(a); }>("v_cvt_f64_u32"),
          vector_operation<[](int16_t a) { return Half{static_cast<float>(a)}; }>("v_cvt_f16_i16"),
          vector_operation<[](uint16_t a) { return Half{static_cast<float>(a)}; }>("v_cvt_f16_u16"),
          vector_operation<unsigned_byte<0>>("v_cvt_f32_ubyte0", {.taint = taint::on_bits(0xFFu << 0)}),
          vector_operation<unsigned_byte<1>>("v_cvt_f32_ubyte1", {.taint = taint::on_bits(0xFFu << 8)}),
          vector_operation<unsigned_byte<2>>("v_cvt_f32_ubyte2", {.taint = taint::on_bits(0xFFu << 16)}),
          vector_operation<unsigned_byte<3>>("v_cvt_f32_ubyte3", {.taint = taint::on_bits(0xFFu << 24)}),
          vector_operation<[](uint32_t a) {
            return static_cast<float>(static_cast<int32_t>(a << 28) >> 28) / 16.0f;
          }>("v_cvt_off_f32_i4"),
          vector_operation<[](Half a) { return signed_normal(a.value); }>("v_cvt_norm_i16_f16"),
          vector_operation<[](Half a) { return unsigned_normal(a.value); }>("v_cvt_norm_u16_f16"),
          vector_operation<[](float a, float b) {
            return pack(static_cast<uint16_t>(signed_normal(a)), static_cast<uint16_t>(signed_normal(b)));
          }>("v_cvt_pknorm_i16_f32", {.taint = two_halves}),
          vector_operation<[](float a, float b) { return pack(unsigned_normal(a), unsigned_normal(b)); }>(
              "v_cvt_pknorm_u16_f32", {.taint = two_halves}),
          vector_operation<[](Half a, Half b) {
            return pack(static_cast<uint16_t>(signed_normal(a.value)),
                        static_cast<uint16_t>(signed_normal(b.value)));
          }>("v_cvt_pknorm_i16_f16", {.taint = two_halves}),
          vector_operation<[](Half a, Half b) {
            return pack(unsigned_normal(a.value), unsigned_normal(b.value));
          }>("v_cvt_pknorm_u16_f16", {.taint = two_halves}),
          vector_operation<[](int32_t a, int32_t b) {
            return pack(static_cast<uint16_t>(narrow<int16_t>(a)), static_cast<uint16_t>(narrow<int16_t>(b)));
          }>("v_cvt_pk_i16_i32", {.taint = two_halves}),
          vector_operation<[](uint32_t a, uint32_t b) {
            return pack(narrow<uint16_t>(a), narrow<uint16_t>(b));
          }>("v_cvt_pk_u16_u32", {.taint = two_halves}),
          vector_operation<insert_byte>("v_cvt_pk_u8_f32"),
          vector_operation<saturate_bytes>("v_sat_pk_u8_i16"),
      });
}

void rows_float(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<[](float a) { return static_cast<double>(a); }>("v_cvt_f64_f32"),
          vector_operation<[](double a) { return static_cast<float>(a); }>("v_cvt_f32_f64"),
          vector_operation<[](Half a) { return a.value; }>("v_cvt_f32_f16", ignore_mode),
          vector_operation<[](float a) { return Half{a}; }>("v_cvt_f16_f32", ignore_mode),
          vector_operation<[](uint16_t a) { return bfloat_to_float(a); }>("v_cvt_f32_bf16", ignore_mode),
          saturating_operation<bfloats, [](float a, float b) { return bfloats(unit(a), unit(b)); }>(
              "v_cvt_pk_bf16_f32", {.traits = Operation::IgnoresMode, .taint = two_halves}),
          vector_operation<[](float a, float b) { return PackedHalf{a, b}; }>(
              "v_cvt_pk_f16_f32", {.traits = Operation::IgnoresMode, .taint = two_halves}),
          saturating_operation<truncated_halves,
                               [](float a, float b) { return truncated_halves(unit(a), unit(b)); }>(
              "v_cvt_pkrtz_f16_f32", {.traits = Operation::IgnoresMode, .taint = two_halves}),
      });
}

/// The old destination of each lane with a part replaced.
template <auto Part>
void replace_part(Wave &wave, const Instruction &instruction, unsigned shift, uint32_t part) {
  OperandBuffers buffers[2];
  const uint32_t *a = fetch(wave, instruction, instruction.source[0], buffers[0]).low;
  const uint32_t *b = fetch(wave, instruction, instruction.source[1], buffers[1]).low;
  const bool saturate = wave.mode & Wave::half_overflow;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t old = wave.vgpr[instruction.destination].word[lane];
    uint32_t value = Part(std::bit_cast<float>(a[lane]), b[lane], saturate);
    result.word[lane] = (old & ~(part << shift)) | value << shift;
  }
  store_result(wave, instruction, OperandType::Bits32, result, result);
}

template <const SmallFormat &F> uint32_t packed_small(float a, uint32_t b, bool saturate) {
  return float_to_small(F, a, saturate) | float_to_small(F, std::bit_cast<float>(b), saturate) << 8;
}
template <const SmallFormat &F> uint32_t stochastic_small(float a, uint32_t random, bool saturate) {
  return float_to_small_stochastic(F, a, saturate, random);
}
uint32_t stochastic_bfloat(float value, uint32_t random, bool) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::isfinite(value) ? (bits + (random >> 16)) >> 16 : float_to_bfloat(value);
}
uint32_t stochastic_half(float value, uint32_t random, bool) {
  if (!std::isfinite(value))
    return float_to_half(value);
  constexpr SmallFormat half{5, 10, 15, true, true};
  return float_to_small_stochastic(half, value, false, random);
}

/// The byte of the destination that the second source names.
void accumulate_byte(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[2];
  const uint32_t *a = fetch(wave, instruction, instruction.source[0], buffers[0]).low;
  const uint32_t *place = fetch(wave, instruction, instruction.source[1], buffers[1]).low;
  const uint32_t *old = wave.vgpr[instruction.destination].word;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    result.word[lane] = insert_byte(std::bit_cast<float>(a[lane]), place[lane], old[lane]);
  store_result(wave, instruction, OperandType::Bits32, result, result);
}

/// op_sel bit 3 picks the half of the destination.
template <auto Part> void replace_half(Wave &wave, const Instruction &instruction) {
  replace_part<Part>(wave, instruction, instruction.op_sel & 8 ? 16 : 0, 0xFFFF);
}
/// op_sel bits 2 and 3 pick the byte of the destination.
template <auto Part> void replace_byte(Wave &wave, const Instruction &instruction) {
  replace_part<Part>(wave, instruction, 8 * (instruction.op_sel >> 2 & 3), 0xFF);
}

template <const SmallFormat &F> PackedFloat unpack_small(uint16_t pair) {
  return {small_to_float(F, pair & 0xFF), small_to_float(F, (pair >> 8) & 0xFF)};
}
template <const SmallFormat &F> float single_small(uint32_t word) { return small_to_float(F, word & 0xFF); }

void rows_small(std::vector<Operation> &rows) {
  const auto row = [&](const char *name, Handler handler, OperandType second, RegisterPart part,
                       HazardClass hazard = HazardClass::None) {
    rows.push_back(custom_operation(
        name, Category::Valu, handler, OperandType::Bits32, OperandType::Float32, second, OperandType::None,
        {.traits = Operation::IgnoresMode, .taint = taint::to_part(part), .hazard = hazard}));
  };
  constexpr OperandType word = OperandType::Bits32, value = OperandType::Float32;
  constexpr RegisterPart half = RegisterPart::SelectedHalf, byte = RegisterPart::SelectedByte;
  constexpr HazardClass selected = HazardClass::SelectedByteResult;
  row("v_cvt_pkaccum_u8_f32", accumulate_byte, word, RegisterPart::Whole);
  row("v_cvt_pk_fp8_f32", replace_half<packed_small<fp8>>, value, half, selected);
  row("v_cvt_pk_bf8_f32", replace_half<packed_small<bf8>>, value, half, selected);
  row("v_cvt_sr_fp8_f32", replace_byte<stochastic_small<fp8>>, word, byte, selected);
  row("v_cvt_sr_bf8_f32", replace_byte<stochastic_small<bf8>>, word, byte, selected);
  row("v_cvt_sr_bf16_f32", replace_half<stochastic_bfloat>, word, half);
  row("v_cvt_sr_f16_f32", replace_half<stochastic_half>, word, half);
  rows.push_back(vector_operation<unpack_small<fp8>>("v_cvt_pk_f32_fp8", ignore_mode));
  rows.push_back(vector_operation<unpack_small<bf8>>("v_cvt_pk_f32_bf8", ignore_mode));
  rows.push_back(vector_operation<single_small<fp8>>(
      "v_cvt_f32_fp8", {.traits = Operation::IgnoresMode, .taint = taint::on_bits(0xFF)}));
  rows.push_back(vector_operation<single_small<bf8>>(
      "v_cvt_f32_bf8", {.traits = Operation::IgnoresMode, .taint = taint::on_bits(0xFF)}));
}

} // namespace

std::vector<Operation> vector_convert_operations() {
  std::vector<Operation> rows;
  rows_integer(rows);
  rows_float(rows);
  rows_small(rows);
  return rows;
}

} // namespace nereid::sim
