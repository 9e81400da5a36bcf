#include "sim/ops/memory/vector_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace nereid::sim {

uint32_t extended(const ElementForm &element, const std::byte *bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes, element.bytes);
  if (!element.sign_extend)
    return value;
  return element.bytes == 1 ? static_cast<uint32_t>(static_cast<int8_t>(value))
                            : static_cast<uint32_t>(static_cast<int16_t>(value));
}

void put_loaded(Wave &wave, unsigned first, unsigned lane, const ElementForm &element,
                const std::byte *bytes) {
  if (element.bytes >= 4) {
    for (unsigned k = 0; k < element.words; ++k)
      std::memcpy(&wave.vgpr[first + k].word[lane], bytes + 4 * k, 4);
    return;
  }
  uint32_t value = extended(element, bytes);
  uint32_t &to = wave.vgpr[first].word[lane];
  if (!element.half)
    to = value;
  else if (element.high)
    to = (to & 0xFFFF) | value << 16;
  else
    to = (to & 0xFFFF0000) | (value & 0xFFFF);
}

void take_stored(const Wave &wave, unsigned first, unsigned lane, const ElementForm &element,
                 std::byte *bytes) {
  if (element.bytes >= 4) {
    for (unsigned k = 0; k < element.words; ++k)
      std::memcpy(bytes + 4 * k, &wave.vgpr[first + k].word[lane], 4);
    return;
  }
  uint32_t value = wave.vgpr[first].word[lane] >> (element.high ? 16 : 0);
  std::memcpy(bytes, &value, element.bytes);
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
    {.name = "swap", .bytes = 4, .apply = integer<u32, [](u32, u32 b) { return b; }>, .exchanges = true},
    {.name = "cmpswap", .bytes = 4, .apply = integer<u32, [](u32, u32 b) { return b; }>, .compares = true},
    {.name = "add", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return a + b; }>},
    {.name = "sub", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return a - b; }>},
    {.name = "smin", .bytes = 4, .apply = integer<i32, [](i32 a, i32 b) { return std::min(a, b); }>},
    {.name = "umin", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return std::min(a, b); }>},
    {.name = "smax", .bytes = 4, .apply = integer<i32, [](i32 a, i32 b) { return std::max(a, b); }>},
    {.name = "umax", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return std::max(a, b); }>},
    {.name = "and", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return a & b; }>},
    {.name = "or", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return a | b; }>},
    {.name = "xor", .bytes = 4, .apply = integer<u32, [](u32 a, u32 b) { return a ^ b; }>},
    {.name = "inc", .bytes = 4, .apply = integer<u32, increment<u32>>},
    {.name = "dec", .bytes = 4, .apply = integer<u32, decrement<u32>>},
    {.name = "swap_x2", .bytes = 8, .apply = integer<u64, [](u64, u64 b) { return b; }>, .exchanges = true},
    {.name = "cmpswap_x2", .bytes = 8, .apply = integer<u64, [](u64, u64 b) { return b; }>, .compares = true},
    {.name = "add_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return a + b; }>},
    {.name = "sub_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return a - b; }>},
    {.name = "smin_x2", .bytes = 8, .apply = integer<i64, [](i64 a, i64 b) { return std::min(a, b); }>},
    {.name = "umin_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return std::min(a, b); }>},
    {.name = "smax_x2", .bytes = 8, .apply = integer<i64, [](i64 a, i64 b) { return std::max(a, b); }>},
    {.name = "umax_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return std::max(a, b); }>},
    {.name = "and_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return a & b; }>},
    {.name = "or_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return a | b; }>},
    {.name = "xor_x2", .bytes = 8, .apply = integer<u64, [](u64 a, u64 b) { return a ^ b; }>},
    {.name = "inc_x2", .bytes = 8, .apply = integer<u64, increment<u64>>},
    {.name = "dec_x2", .bytes = 8, .apply = integer<u64, decrement<u64>>},
    {.name = "add_f32", .bytes = 4, .apply = add_float, .is_float = true},
    {.name = "add_f64",
     .bytes = 8,
     .apply = real<[](double a, double b) { return a + b; }>,
     .is_float = true},
    {.name = "min_f64",
     .bytes = 8,
     .apply = real<[](double a, double b) { return std::fmin(a, b); }>,
     .is_float = true},
    {.name = "max_f64",
     .bytes = 8,
     .apply = real<[](double a, double b) { return std::fmax(a, b); }>,
     .is_float = true},
    {.name = "pk_add_f16", .bytes = 4, .apply = add_halves, .is_float = true},
    {.name = "pk_add_bf16", .bytes = 4, .apply = add_bfloats, .is_float = true},
};

WaitCounter counter_of(Addressing addressing) {
  switch (addressing) {
  case Addressing::None:
    return WaitCounter::None;
  case Addressing::Scalar:
    return WaitCounter::Scalar;
  case Addressing::Flat:
    return WaitCounter::Flat;
  case Addressing::Lds:
  case Addressing::LdsByM0:
    return WaitCounter::Lds;
  case Addressing::Global:
  case Addressing::Scratch:
  case Addressing::Buffer:
    return WaitCounter::Vector;
  }
  return WaitCounter::None;
}

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

Operation memory_operation(std::string name, Category category, Handler handler, const MemoryForm &form) {
  Operation row = custom_operation(std::move(name), category, handler, OperandType::None);
  row.taint = taint::of_kind(Taint::Kind::Memory);
  row.counter = counter_of(form.addressing);
  row.memory = form;
  return row;
}

std::span<const AtomicAccess> global_atomics() { return atomics; }

void describe_atomic(Operation &row, const AtomicAccess &access) {
  row.detail = static_cast<uint32_t>(&access - atomics);
  row.memory.element.bytes = access.bytes;
  row.memory.exchanges = access.exchanges;
  row.traits |= access.is_float ? Operation::FloatAtomic : Operation::None;
}
const AtomicAccess &atomic_of(const Operation &row) { return atomics[row.detail]; }

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
