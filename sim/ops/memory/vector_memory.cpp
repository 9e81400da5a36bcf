#include "sim/ops/memory/vector_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace nereid::sim {

uint32_t extended(const Access &access, const std::byte *bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes, access.bytes);
  if (!access.sign_extend)
    return value;
  return access.bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(value))
                           : static_cast<uint32_t>(static_cast<int16_t>(value));
}

void put_loaded(Wave &wave, unsigned first, unsigned lane, const Access &access, const std::byte *bytes) {
  if (access.bytes >= 4) {
    for (unsigned k = 0; k < access.words; ++k)
      std::memcpy(&wave.vgpr[first + k].word[lane], bytes + 4 * k, 4);
    return;
  }
  uint32_t value = extended(access, bytes);
  uint32_t &to = wave.vgpr[first].word[lane];
  if (!access.half)
    to = value;
  else if (access.high)
    to = (to & 0xFFFF) | value << 16;
  else
    to = (to & 0xFFFF0000) | (value & 0xFFFF);
}

void take_stored(const Wave &wave, unsigned first, unsigned lane, const Access &access, std::byte *bytes) {
  if (access.bytes >= 4) {
    for (unsigned k = 0; k < access.words; ++k)
      std::memcpy(bytes + 4 * k, &wave.vgpr[first + k].word[lane], 4);
    return;
  }
  uint32_t value = wave.vgpr[first].word[lane] >> (access.high ? 16 : 0);
  std::memcpy(bytes, &value, access.bytes);
}

namespace {

template <class T, auto F> uint64_t integer(uint64_t old, uint64_t operand) {
  return static_cast<std::make_unsigned_t<T>>(F(static_cast<T>(old), static_cast<T>(operand)));
}

float flush(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }

/// The f32 adder of the cache flushes denormals.
uint64_t add_float(uint64_t old, uint64_t operand) {
  float sum = flush(std::bit_cast<float>(static_cast<uint32_t>(old))) +
              flush(std::bit_cast<float>(static_cast<uint32_t>(operand)));
  return std::bit_cast<uint32_t>(flush(sum));
}
template <auto F> uint64_t real(uint64_t old, uint64_t operand) {
  return std::bit_cast<uint64_t>(F(std::bit_cast<double>(old), std::bit_cast<double>(operand)));
}
uint64_t add_halves(uint64_t old, uint64_t operand) {
  uint64_t result = 0;
  for (unsigned shift : {0u, 16u})
    result |= uint64_t{float_to_half(half_to_float(old >> shift & 0xFFFF) +
                                     half_to_float(operand >> shift & 0xFFFF))}
              << shift;
  return result;
}
uint64_t add_bfloats(uint64_t old, uint64_t operand) {
  uint64_t result = 0;
  for (unsigned shift : {0u, 16u})
    result |= uint64_t{float_to_bfloat(bfloat_to_float(old >> shift & 0xFFFF) +
                                       bfloat_to_float(operand >> shift & 0xFFFF))}
              << shift;
  return result;
}

template <class T> T increment(T old, T limit) { return old >= limit ? 0 : old + 1; }
template <class T> T decrement(T old, T limit) { return old == 0 || old > limit ? limit : old - 1; }

using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;

constexpr AtomicAccess atomics[] = {
    {"swap", 4, false, false, integer<u32, [](u32, u32 b) { return b; }>},
    {"cmpswap", 4, false, true, integer<u32, [](u32, u32 b) { return b; }>},
    {"add", 4, false, false, integer<u32, [](u32 a, u32 b) { return a + b; }>},
    {"sub", 4, false, false, integer<u32, [](u32 a, u32 b) { return a - b; }>},
    {"smin", 4, false, false, integer<i32, [](i32 a, i32 b) { return std::min(a, b); }>},
    {"umin", 4, false, false, integer<u32, [](u32 a, u32 b) { return std::min(a, b); }>},
    {"smax", 4, false, false, integer<i32, [](i32 a, i32 b) { return std::max(a, b); }>},
    {"umax", 4, false, false, integer<u32, [](u32 a, u32 b) { return std::max(a, b); }>},
    {"and", 4, false, false, integer<u32, [](u32 a, u32 b) { return a & b; }>},
    {"or", 4, false, false, integer<u32, [](u32 a, u32 b) { return a | b; }>},
    {"xor", 4, false, false, integer<u32, [](u32 a, u32 b) { return a ^ b; }>},
    {"inc", 4, false, false, integer<u32, increment<u32>>},
    {"dec", 4, false, false, integer<u32, decrement<u32>>},
    {"swap_x2", 8, false, false, integer<u64, [](u64, u64 b) { return b; }>},
    {"cmpswap_x2", 8, false, true, integer<u64, [](u64, u64 b) { return b; }>},
    {"add_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return a + b; }>},
    {"sub_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return a - b; }>},
    {"smin_x2", 8, false, false, integer<i64, [](i64 a, i64 b) { return std::min(a, b); }>},
    {"umin_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return std::min(a, b); }>},
    {"smax_x2", 8, false, false, integer<i64, [](i64 a, i64 b) { return std::max(a, b); }>},
    {"umax_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return std::max(a, b); }>},
    {"and_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return a & b; }>},
    {"or_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return a | b; }>},
    {"xor_x2", 8, false, false, integer<u64, [](u64 a, u64 b) { return a ^ b; }>},
    {"inc_x2", 8, false, false, integer<u64, increment<u64>>},
    {"dec_x2", 8, false, false, integer<u64, decrement<u64>>},
    {"add_f32", 4, true, false, add_float},
    {"add_f64", 8, true, false, real<[](double a, double b) { return a + b; }>},
    {"min_f64", 8, true, false, real<[](double a, double b) { return std::fmin(a, b); }>},
    {"max_f64", 8, true, false, real<[](double a, double b) { return std::fmax(a, b); }>},
    {"pk_add_f16", 4, true, false, add_halves},
    {"pk_add_bf16", 4, true, false, add_bfloats},
};

template <class T>
uint64_t exchange(const AtomicAccess &access, std::byte *at, uint64_t operand, uint64_t expected) {
  T *word = reinterpret_cast<T *>(at);
  T old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    if (access.compares && old != static_cast<T>(expected))
      return old;
    T changed = static_cast<T>(access.apply(old, operand));
    if (__atomic_compare_exchange_n(word, &old, changed, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return old;
  }
}

} // namespace

std::span<const AtomicAccess> global_atomics() { return atomics; }

uint64_t perform_atomic(const AtomicAccess &access, std::byte *at, uint64_t operand, uint64_t expected) {
  return access.bytes == 4 ? exchange<uint32_t>(access, at, operand, expected)
                           : exchange<uint64_t>(access, at, operand, expected);
}

uint64_t perform_atomic(const Wave &wave, const AtomicAccess &access, const Instruction &instruction,
                        unsigned lane, std::byte *at) {
  const unsigned bytes = access.bytes;
  const uint64_t expected = access.compares ? lane_value(wave, instruction.data + bytes / 4, lane, bytes) : 0;
  return perform_atomic(access, at, lane_value(wave, instruction.data, lane, bytes), expected);
}

} // namespace nereid::sim
