#pragma once

// Vector operations as functions of one lane: vector_operation<F>("v_name") makes a row of the table whose
// handler reads the operands by F's parameter types, applies F to 64 lanes, and stores by F's result type.

#include <cmath>
#include <cstring>
#include <type_traits>

#include "sim/ops/vector/truth_table.h"
#include "sim/state/formats.h"
#include "sim/state/simd.h"
#include "sim/state/wave.h"

namespace nereid::sim {

/// A bit a lane of a scalar mask operand.
struct LaneBit {
  uint32_t set;
};

/// A value with a bit a lane that goes to the scalar destination (carry, div_scale's VCC).
template <class T> struct WithMask {
  T value;
  bool bit;
};

/// Two halves of one register: low and high.
struct PackedHalf {
  float low, high;
};
struct PackedInt {
  int16_t low, high;
};
struct PackedUint {
  uint16_t low, high;
};
/// A register pair of two floats.
struct PackedFloat {
  float low, high;
};

/// The words of an operand for all lanes; `high` only for 64-bit types.
struct Operand {
  const uint32_t *low;
  const uint32_t *high;
};

/// Buffers that operands use which are not whole registers.
struct OperandBuffers {
  Lanes low, high;
};

/// Reads a source with its modifiers.
Operand fetch_modified(Wave &wave, const Instruction &instruction, const Source &source,
                       OperandBuffers &buffers);

inline void broadcast(Lanes &lanes, uint32_t value) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    lanes.word[lane] = value;
}

inline Operand fetch(Wave &wave, const Instruction &instruction, const Source &source,
                     OperandBuffers &buffers) {
  if (source.modified) [[unlikely]]
    return fetch_modified(wave, instruction, source, buffers);
  if (source.kind == Source::Kind::Vector)
    return {wave.vgpr[source.index].word, wave.vgpr[source.index + 1].word};
  if (source.kind == Source::Kind::Constant)
    return {source.lanes, source.lanes + lane_count};
  if (source.kind == Source::Kind::Scalar && source.type != OperandType::LaneBit) {
    broadcast(buffers.low, wave.sgpr[source.index % scalar_registers]);
    if (is_wide(source.type))
      broadcast(buffers.high, wave.sgpr[source.index % scalar_registers + 1]);
    return {buffers.low.word, buffers.high.word};
  }
  return fetch_modified(wave, instruction, source, buffers);
}

/// Applies clamp, omod, SDWA and half selection to a result and stores it in the active lanes.
void store_result(Wave &wave, const Instruction &instruction, OperandType type, const Lanes &low,
                  const Lanes &high);
/// Stores a mask in the scalar destination, and in EXEC for v_cmpx.
void store_mask(Wave &wave, const Instruction &instruction, const Lanes &bits);

namespace detail {

template <class T> constexpr OperandType operand_type() {
  if constexpr (std::is_same_v<T, float>)
    return OperandType::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return OperandType::Float64;
  else if constexpr (std::is_same_v<T, Half>)
    return OperandType::Float16;
  else if constexpr (std::is_same_v<T, LaneBit>)
    return OperandType::LaneBit;
  else if constexpr (std::is_same_v<T, PackedHalf>)
    return OperandType::PackedFloat16;
  else if constexpr (std::is_same_v<T, PackedInt> || std::is_same_v<T, PackedUint>)
    return OperandType::PackedBits16;
  else if constexpr (std::is_same_v<T, PackedFloat>)
    return OperandType::PackedFloat32;
  else if constexpr (sizeof(T) == 8)
    return OperandType::Bits64;
  else if constexpr (sizeof(T) == 2)
    return OperandType::Bits16;
  else
    return OperandType::Bits32;
}

inline float flush_half(float value, bool flush) {
  return flush && std::fabs(value) < 0x1p-14f ? std::copysign(0.0f, value) : value;
}

/// How half-precision values enter and leave under the wave's mode.
struct HalfMode {
  unsigned rounding;
  bool flush_inputs;
  bool flush_outputs;
  bool overflow_is_finite; ///< FP16_OVFL: a finite result too large for f16 becomes the largest number
  explicit HalfMode(uint32_t mode)
      : rounding(mode >> 2 & 3), flush_inputs(!(mode & 0x40)), flush_outputs(!(mode & 0x80)),
        overflow_is_finite(mode & Wave::half_overflow) {}
};

template <class T, bool Default>
inline __attribute__((always_inline)) T read_lane(const Operand &operand, unsigned lane,
                                                  const HalfMode &mode) {
  uint32_t low = operand.low[lane];
  if constexpr (std::is_same_v<T, Half>)
    return {Default ? half_to_float(low & 0xFFFF)
                    : flush_half(half_to_float(low & 0xFFFF), mode.flush_inputs)};
  else if constexpr (std::is_same_v<T, LaneBit>)
    return {low};
  else if constexpr (std::is_same_v<T, PackedHalf>) {
    if constexpr (Default)
      return {half_to_float(low & 0xFFFF), half_to_float(low >> 16)};
    else
      return {flush_half(half_to_float(low & 0xFFFF), mode.flush_inputs),
              flush_half(half_to_float(low >> 16), mode.flush_inputs)};
  } else if constexpr (std::is_same_v<T, PackedInt>)
    return {static_cast<int16_t>(low), static_cast<int16_t>(low >> 16)};
  else if constexpr (std::is_same_v<T, PackedUint>)
    return {static_cast<uint16_t>(low), static_cast<uint16_t>(low >> 16)};
  else if constexpr (std::is_same_v<T, PackedFloat>)
    return {std::bit_cast<float>(low), std::bit_cast<float>(operand.high[lane])};
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(low | uint64_t{operand.high[lane]} << 32);
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(low);
  else
    return std::bit_cast<T>(low);
}

template <class T> inline __attribute__((always_inline)) T both_halves(uint16_t value) {
  return {static_cast<decltype(T::low)>(value), static_cast<decltype(T::low)>(value)};
}

template <bool Default> inline uint32_t half_bits(float value, const HalfMode &mode) {
  if constexpr (Default)
    return float_to_half(value);
  const uint32_t bits = double_to_half(flush_half(value, mode.flush_outputs), mode.rounding);
  return mode.overflow_is_finite && std::isfinite(value) && (bits & 0x7FFF) == 0x7C00 ? bits - 1 : bits;
}

template <class T, bool Default>
inline __attribute__((always_inline)) void write_lane(uint32_t *low, uint32_t *high, unsigned lane, T value,
                                                      const HalfMode &mode) {
  if constexpr (std::is_same_v<T, Half>)
    low[lane] = half_bits<Default>(value.value, mode);
  else if constexpr (std::is_same_v<T, PackedHalf>)
    low[lane] = half_bits<Default>(value.low, mode) | half_bits<Default>(value.high, mode) << 16;
  else if constexpr (std::is_same_v<T, PackedInt> || std::is_same_v<T, PackedUint>)
    low[lane] = static_cast<uint16_t>(value.low) | uint32_t{static_cast<uint16_t>(value.high)} << 16;
  else if constexpr (std::is_same_v<T, PackedFloat>) {
    low[lane] = std::bit_cast<uint32_t>(value.low);
    high[lane] = std::bit_cast<uint32_t>(value.high);
  } else if constexpr (sizeof(T) == 8) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    low[lane] = static_cast<uint32_t>(bits);
    high[lane] = static_cast<uint32_t>(bits >> 32);
  } else if constexpr (sizeof(T) == 2)
    low[lane] = static_cast<uint16_t>(value);
  else
    low[lane] = std::bit_cast<uint32_t>(value);
}

/// Operations on these work on each half by itself.
template <class T>
inline constexpr bool is_packed_integer = std::is_same_v<T, PackedInt> || std::is_same_v<T, PackedUint>;
/// A half of a word in memory.
typedef uint16_t HalfWord __attribute__((may_alias));

template <class T> inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, PackedHalf>;
template <class T> struct MaskOf : std::false_type {};
template <class T> struct MaskOf<WithMask<T>> : std::true_type {
  using Value = T;
};

template <auto F, class Signature> struct VectorHandler;

template <auto F, class R, class... A> struct VectorHandler<F, R (*)(A...)> {
  static constexpr OperandType sources[3 + 1] = {operand_type<A>()...};
  static constexpr bool has_mask = MaskOf<R>::value;
  static constexpr bool has_signed_pair = (std::is_same_v<A, int64_t> || ...);
  static constexpr OperandType result_type() {
    if constexpr (std::is_same_v<R, bool>)
      return OperandType::LaneBit;
    else if constexpr (MaskOf<R>::value)
      return operand_type<typename MaskOf<R>::Value>();
    else
      return operand_type<R>();
  }

  /// `low` and `high` may be registers that are also operands: a lane depends on no other one.
  template <bool Default, size_t... I>
  static __attribute__((always_inline)) void each_lane(const Operand *operands, uint32_t *low, uint32_t *high,
                                                       uint32_t *bits, HalfMode mode,
                                                       std::index_sequence<I...>) {
    Operand local[sizeof...(A) + 1] = {operands[I]...};
    if constexpr ((is_packed_integer<R> && ... && is_packed_integer<A>)) {
      const HalfWord *from[] = {reinterpret_cast<const HalfWord *>(local[I].low)...};
      auto *to = reinterpret_cast<HalfWord *>(low);
#pragma GCC ivdep
      for (unsigned half = 0; half < 2 * lane_count; ++half)
        to[half] = static_cast<uint16_t>(F(both_halves<A>(from[I][half])...).low);
      return;
    }
#pragma GCC ivdep
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if constexpr (std::is_same_v<R, bool>)
        bits[lane] = F(read_lane<A, Default>(local[I], lane, mode)...);
      else if constexpr (MaskOf<R>::value) {
        R result = F(read_lane<A, Default>(local[I], lane, mode)...);
        write_lane<typename MaskOf<R>::Value, Default>(low, high, lane, result.value, mode);
        bits[lane] = result.bit;
      } else
        write_lane<R, Default>(low, high, lane, F(read_lane<A, Default>(local[I], lane, mode)...), mode);
    }
  }

  using Indices = std::index_sequence_for<A...>;
  template <bool Default>
  static void lanes_portable(const Operand *operands, uint32_t *low, uint32_t *high, uint32_t *bits,
                             HalfMode mode) {
    each_lane<Default>(operands, low, high, bits, mode, Indices());
  }
  template <bool Default>
  NEREID_SIM_AVX2 static void lanes_avx2(const Operand *operands, uint32_t *low, uint32_t *high,
                                         uint32_t *bits, HalfMode mode) {
    each_lane<Default>(operands, low, high, bits, mode, Indices());
  }

  static void run(Wave &wave, const Instruction &instruction) {
    OperandBuffers buffers[sizeof...(A) + 1];
    Operand operands[sizeof...(A) + 1];
    for (unsigned i = 0; i < sizeof...(A); ++i)
      operands[i] = fetch(wave, instruction, instruction.source[i], buffers[i]);
    Lanes low, high, bits;
    uint32_t *to_low = low.word, *to_high = high.word;
    const bool in_place = !std::is_same_v<R, bool> && instruction.plain_result && wave.exec() == ~uint64_t{0};
    if (in_place) {
      to_low = wave.vgpr[instruction.destination].word;
      to_high = wave.vgpr[instruction.destination + 1].word;
    }
    const HalfMode mode(wave.mode);
    auto lanes = [&]<bool Default>(std::bool_constant<Default>) {
      if (uses_avx2()) [[likely]]
        lanes_avx2<Default>(operands, to_low, to_high, bits.word, mode);
      else
        lanes_portable<Default>(operands, to_low, to_high, bits.word, mode);
    };
    constexpr bool has_half = is_half<R> || (is_half<A> || ...);
    if (has_half && !wave.default_float)
      lanes(std::bool_constant<!has_half>());
    else
      lanes(std::true_type());
    if constexpr (std::is_same_v<R, bool>)
      store_mask(wave, instruction, bits);
    else {
      if (!in_place)
        store_result(wave, instruction, result_type(), low, high);
      if constexpr (MaskOf<R>::value)
        store_mask(wave, instruction, bits);
    }
  }
};

template <auto F> using HandlerOf = VectorHandler<F, decltype(+F)>;

} // namespace detail

/// A table row from a function of one lane.
template <auto F> Operation vector_operation(std::string name, const RowFacts &facts = {}) {
  using Row = detail::HandlerOf<F>;
  Operation row = custom_operation(std::move(name), Category::Valu, Row::run, Row::result_type(),
                                   Row::sources[0], Row::sources[1], Row::sources[2], facts);
  row.traits |= (Row::has_mask ? Operation::MaskResult : Operation::None) |
                (Row::has_signed_pair ? Operation::SignedLiteral : Operation::None);
  return row;
}

/// The same from a function that works bit by bit: it tells its own truth table.
template <auto F> Operation logic_operation(std::string name) {
  return vector_operation<F>(std::move(name), {.taint = taint::logic(truth_table<F>)});
}

/// The same with a second function for the clamp bit of an integer operation.
template <auto F, auto Clamped> Operation saturating_operation(std::string name, const RowFacts &facts = {}) {
  Operation row = vector_operation<F>(std::move(name), facts);
  row.clamped = detail::HandlerOf<Clamped>::run;
  return row;
}

/// The same with a second function for waves whose IEEE mode is off.
template <auto F, auto Relaxed> Operation ieee_operation(std::string name, const RowFacts &facts = {}) {
  Operation row = vector_operation<F>(std::move(name), facts);
  row.handler = [](Wave &wave, const Instruction &instruction) {
    constexpr uint32_t ieee = 1u << 9;
    if (wave.mode & ieee) [[likely]]
      detail::HandlerOf<F>::run(wave, instruction);
    else
      detail::HandlerOf<Relaxed>::run(wave, instruction);
  };
  return row;
}

} // namespace nereid::sim
