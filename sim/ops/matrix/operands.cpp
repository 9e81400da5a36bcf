// Decodes the elements of an MFMA operand into numbers, for all lanes at once.

#include "sim/ops/matrix/operands.h"

#include <bit>

#include "sim/state/formats.h"
#include "sim/state/simd.h"

namespace nereid::sim {

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
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
    return 4;
  default:
    return 8;
  }
}

namespace {

#define NEREID_SIM_LANE inline __attribute__((always_inline))

/// The value of a code of at most 8 bits, without tables and branches.
template <SmallFormat Format> NEREID_SIM_LANE float small_value(uint32_t code) {
  constexpr uint32_t all = (1u << (Format.bits() - 1)) - 1, smallest_normal = 1u << Format.mantissa_bits;
  constexpr unsigned widening = 23 - Format.mantissa_bits;
  constexpr uint32_t exponents = static_cast<uint32_t>(127 - Format.bias) << 23;
  const uint32_t sign = code << (32 - Format.bits()) & 0x80000000;
  const uint32_t magnitude = code & all;
  // A denormal becomes a normal float once the smallest normal is added and taken away again.
  constexpr uint32_t hidden = exponents + (1u << 23);
  const float denormal = std::bit_cast<float>(magnitude << widening | hidden) - std::bit_cast<float>(hidden);
  uint32_t bits =
      magnitude < smallest_normal ? std::bit_cast<uint32_t>(denormal) : (magnitude << widening) + exponents;
  if constexpr (Format.has_infinity) {
    constexpr uint32_t infinity = all + 1 - smallest_normal;
    bits = magnitude == infinity ? 0x7F800000 : bits;
    bits = magnitude > infinity ? 0x7FC00000 : bits;
  } else if constexpr (Format.has_nan)
    bits = magnitude == all ? 0x7FC00000 : bits;
  return std::bit_cast<float>(sign | bits);
}

/// An element of at most 32 bits from a word that starts with it.
template <Element E> NEREID_SIM_LANE float value_of(uint32_t word) {
  if constexpr (E == Element::F16)
    return half_to_float(word & 0xFFFF);
  else if constexpr (E == Element::Bf16)
    return bfloat_to_float(word);
  else if constexpr (E == Element::I8)
    return static_cast<float>(static_cast<int32_t>(word << 24) >> 24);
  else if constexpr (E == Element::Fp8)
    return small_value<fp8>(word);
  else if constexpr (E == Element::Bf8)
    return small_value<bf8>(word);
  else if constexpr (E == Element::Fp6)
    return small_value<fp6>(word);
  else if constexpr (E == Element::Bf6)
    return small_value<bf6>(word);
  else if constexpr (E == Element::Fp4)
    return small_value<fp4>(word);
  else
    return std::bit_cast<float>(word);
}

template <Element E> constexpr unsigned bits_of() {
  return E == Element::F32                         ? 32
         : E == Element::F16 || E == Element::Bf16 ? 16
         : E == Element::Fp6 || E == Element::Bf6  ? 6
         : E == Element::Fp4                       ? 4
                                                   : 8;
}

template <class Real, Element E>
NEREID_SIM_LANE void read_all(const Lanes *registers, unsigned count, OperandValues<Real> &out) {
  for (unsigned j = 0; j < count; ++j) {
    const unsigned at = j * bits_of<E>(), shift = at % 32;
    const uint32_t *words = registers[at / 32].word;
    Real *values = out.value[j];
    if (shift + bits_of<E>() <= 32) {
      for (unsigned lane = 0; lane < lane_count; ++lane)
        values[lane] = value_of<E>(words[lane] >> shift);
    } else {
      const uint32_t *next = registers[at / 32 + 1].word;
      for (unsigned lane = 0; lane < lane_count; ++lane)
        values[lane] = value_of<E>(words[lane] >> shift | next[lane] << (32 - shift));
    }
  }
}

template <class Real, Element E>
void read_portable(const Lanes *registers, unsigned count, OperandValues<Real> &out) {
  read_all<Real, E>(registers, count, out);
}
template <class Real, Element E>
NEREID_SIM_AVX2 void read_avx2(const Lanes *registers, unsigned count, OperandValues<Real> &out) {
  read_all<Real, E>(registers, count, out);
}
template <class Real, Element E>
NEREID_SIM_AVX512 void read_avx512(const Lanes *registers, unsigned count, OperandValues<Real> &out) {
  read_all<Real, E>(registers, count, out);
}
template <class Real, Element E> void read(const Lanes *registers, unsigned count, OperandValues<Real> &out) {
  auto *host = uses_avx512() ? read_avx512<Real, E>
               : uses_avx2() ? read_avx2<Real, E>
                             : read_portable<Real, E>;
  host(registers, count, out);
}

void read_doubles(const Lanes *registers, unsigned count, OperandValues<double> &out) {
  for (unsigned j = 0; j < count; ++j)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      out.value[j][lane] = std::bit_cast<double>(registers[2 * j].word[lane] |
                                                 uint64_t{registers[2 * j + 1].word[lane]} << 32);
}

} // namespace

template <class Real>
void read_values(const Lanes *registers, Element element, unsigned count, OperandValues<Real> &out) {
  switch (element) {
  case Element::F64:
    if constexpr (std::is_same_v<Real, double>)
      read_doubles(registers, count, out);
    return;
  case Element::F16:
    return read<Real, Element::F16>(registers, count, out);
  case Element::Bf16:
    return read<Real, Element::Bf16>(registers, count, out);
  case Element::I8:
    return read<Real, Element::I8>(registers, count, out);
  case Element::Fp8:
    return read<Real, Element::Fp8>(registers, count, out);
  case Element::Bf8:
    return read<Real, Element::Bf8>(registers, count, out);
  case Element::Fp6:
    return read<Real, Element::Fp6>(registers, count, out);
  case Element::Bf6:
    return read<Real, Element::Bf6>(registers, count, out);
  case Element::Fp4:
    return read<Real, Element::Fp4>(registers, count, out);
  default:
    return read<Real, Element::F32>(registers, count, out);
  }
}

template void read_values(const Lanes *, Element, unsigned, OperandValues<float> &);
template void read_values(const Lanes *, Element, unsigned, OperandValues<double> &);

} // namespace nereid::sim
