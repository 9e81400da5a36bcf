// VOP1, VOP2, VOP3: integer and bit operations of 16, 32 and 64 bits.

#include <algorithm>
#include <bit>
#include <limits>

#include "sim/decode/operations.h"
#include "sim/ops/vector/lanes.h"

namespace nereid::sim {

namespace {

using u8 = uint8_t;
using i16 = int16_t;
using u16 = uint16_t;
using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;

template <class T, class Wide> T saturate(Wide value) {
  return static_cast<T>(
      std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

i32 signed_24(u32 value) { return static_cast<i32>(value << 8) >> 8; }
u32 unsigned_24(u32 value) { return value & 0xFFFFFF; }

u32 extract_unsigned(u32 value, u32 offset, u32 width) {
  width &= 31;
  return value >> (offset & 31) & ((1u << width) - 1);
}
i32 extract_signed(u32 value, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  i32 shifted = static_cast<i32>(value) >> offset;
  unsigned unused = 32 - width;
  i32 narrow = static_cast<i32>(static_cast<u32>(shifted) << (unused & 31)) >> (unused & 31);
  return width == 0 ? 0 : offset + width < 32 ? narrow : shifted;
}

/// v_perm_b32: byte k of the result is named by byte k of the selector; 0..3 are bytes of the second
/// source, 4..7 of the first, 8..11 a sign repeated, 12 zero, from 13 ones.
u32 permute_bytes(u32 first, u32 second, u32 selector) {
  u64 bytes = second | u64{first} << 32;
  u32 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    u32 select = selector >> 8 * k & 0xFF;
    u32 byte = static_cast<u32>(bytes >> 8 * (select & 7)) & 0xFF;
    u32 sign = (bytes >> (16 * (select & 3) + 15) & 1) ? 0xFF : 0;
    u32 value = select < 8 ? byte : select < 12 ? sign : select == 12 ? 0 : 0xFF;
    result |= value << 8 * k;
  }
  return result;
}

template <class T> T median(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

u32 reverse_bits(u32 value) {
  value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
  value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
  value = (value >> 4 & 0x0F0F0F0F) | (value & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(value);
}

WithMask<u32> add_carry(u32 a, u32 b, u32 carry) {
  u64 sum = u64{a} + b + carry;
  return {static_cast<u32>(sum), sum >> 32 != 0};
}
WithMask<u32> add_carry_clamped(u32 a, u32 b, u32 carry) {
  WithMask<u32> sum = add_carry(a, b, carry);
  return {sum.bit ? ~0u : sum.value, sum.bit};
}
WithMask<u32> subtract_borrow(u32 a, u32 b, u32 borrow) { return {a - b - borrow, u64{b} + borrow > a}; }

WithMask<u32> subtract_borrow_clamped(u32 a, u32 b, u32 borrow) {
  WithMask<u32> difference = subtract_borrow(a, b, borrow);
  return {difference.bit ? 0 : difference.value, difference.bit};
}

WithMask<u64> multiply_add_wide(u32 a, u32 b, u64 c) {
  u64 product = u64{a} * b, sum = product + c;
  return {sum, sum < product};
}
WithMask<u64> multiply_add_wide_clamped(u32 a, u32 b, u64 c) {
  WithMask<u64> sum = multiply_add_wide(a, b, c);
  return {sum.bit ? ~u64{0} : sum.value, sum.bit};
}
WithMask<i64> multiply_add_signed(i32 a, i32 b, i64 c) {
  i64 sum;
  bool overflow = __builtin_add_overflow(i64{a} * b, c, &sum);
  return {sum, overflow};
}
WithMask<i64> multiply_add_signed_clamped(i32 a, i32 b, i64 c) {
  WithMask<i64> sum = multiply_add_signed(a, b, c);
  // The sum overflows towards the sign that both terms have.
  i64 limit = c < 0 ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
  return {sum.bit ? limit : sum.value, sum.bit};
}

u32 clamp_byte(i32 value, i32 low, i32 high) { return static_cast<u32>(std::clamp(value, low, high)) & 0xFF; }

constexpr uint32_t preserve = Operation::PreservesHigh;

constexpr Taint on_24_bits = taint::on_bits(0xFFFFFF, 0xFFFFFF);
/// LLVM adds words in these operations and leaves the upper ones undefined.
constexpr Taint upward = taint::elements(Taint::Elements::Upward);
constexpr Taint byte_permute = [] {
  Taint taint = taint::move_by({2}, ~u32{0});
  taint.is_byte_permute = true;
  return taint;
}();
constexpr Taint select = [] {
  Taint taint = taint::move_by({2}, ~u32{0});
  taint.is_select = true;
  return taint;
}();
constexpr Taint shift_then_or = [] {
  Taint taint = taint::controlled(Taint::Kind::Logic, {1}, 31);
  taint.truth_table = table_a | table_c;
  taint.shifts_first = true;
  return taint;
}();

void rows_32(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          vector_operation<[](u32 a) { return a; }>("v_mov_b32", {.taint = taint::move}),
          logic_operation<[](u32 a) { return ~a; }>("v_not_b32"),
          vector_operation<reverse_bits>("v_bfrev_b32", {.taint = taint::move}),
          vector_operation<[](u32 a) { return a ? u32(std::countl_zero(a)) : ~0u; }>("v_ffbh_u32"),
          vector_operation<[](u32 a) { return a ? u32(std::countr_zero(a)) : ~0u; }>("v_ffbl_b32"),
          vector_operation<[](i32 a) {
            u32 bits = static_cast<u32>(a < 0 ? ~a : a);
            return bits ? u32(std::countl_zero(bits)) : ~0u;
          }>("v_ffbh_i32"),
          saturating_operation<[](u32 a, u32 b) { return a + b; },
                               [](u32 a, u32 b) { return saturate<u32>(i64{a} + i64{b}); }>("v_add_u32"),
          saturating_operation<[](u32 a, u32 b) { return a - b; },
                               [](u32 a, u32 b) { return saturate<u32>(i64{a} - i64{b}); }>("v_sub_u32"),
          saturating_operation<[](u32 a, u32 b) { return b - a; },
                               [](u32 a, u32 b) { return saturate<u32>(i64{b} - i64{a}); }>("v_subrev_u32"),
          saturating_operation<[](u32 a, u32 b) { return a + b; },
                               [](i32 a, i32 b) { return saturate<i32>(i64{a} + i64{b}); }>("v_add_i32"),
          saturating_operation<[](u32 a, u32 b) { return a - b; },
                               [](i32 a, i32 b) { return saturate<i32>(i64{a} - i64{b}); }>("v_sub_i32"),
          logic_operation<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
          logic_operation<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
          logic_operation<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
          logic_operation<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
          vector_operation<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32",
                                                                       {.taint = taint::move_by({0}, 31)}),
          vector_operation<[](u32 a, u32 b) { return (b >> (a & 31)); }>("v_lshrrev_b32",
                                                                         {.taint = taint::move_by({0}, 31)}),
          vector_operation<[](u32 a, i32 b) { return (b >> (a & 31)); }>("v_ashrrev_i32",
                                                                         {.taint = taint::move_by({0}, 31)}),
          vector_operation<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
          vector_operation<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
          vector_operation<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
          vector_operation<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
          saturating_operation<[](u32 a, u32 b) { return u32(signed_24(a)) * u32(signed_24(b)); },
                               [](u32 a, u32 b) { return saturate<i32>(i64{signed_24(a)} * signed_24(b)); }>(
              "v_mul_i32_i24", {.taint = on_24_bits}),
          vector_operation<[](u32 a, u32 b) {
            return static_cast<u32>(i64{signed_24(a)} * signed_24(b) >> 32);
          }>("v_mul_hi_i32_i24", {.taint = on_24_bits}),
          saturating_operation<[](u32 a, u32 b) { return unsigned_24(a) * unsigned_24(b); },
                               [](u32 a, u32 b) {
                                 return saturate<u32>(i64{unsigned_24(a)} * unsigned_24(b));
                               }>("v_mul_u32_u24", {.taint = on_24_bits}),
          vector_operation<[](u32 a, u32 b) {
            return static_cast<u32>(u64{unsigned_24(a)} * unsigned_24(b) >> 32);
          }>("v_mul_hi_u32_u24", {.taint = on_24_bits}),
          vector_operation<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
          vector_operation<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("v_mul_hi_u32"),
          vector_operation<[](i32 a, i32 b) { return static_cast<u32>(i64{a} * b >> 32); }>("v_mul_hi_i32"),
          vector_operation<[](u32 a, u32 b) { return u32(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),
          vector_operation<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"),
      });
}

void rows_three(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          saturating_operation<[](u32 a, u32 b, u32 c) { return u32(signed_24(a)) * u32(signed_24(b)) + c; },
                               [](u32 a, u32 b, i32 c) {
                                 return saturate<i32>(i64{signed_24(a)} * signed_24(b) + c);
                               }>("v_mad_i32_i24", {.taint = on_24_bits}),
          saturating_operation<[](u32 a, u32 b, u32 c) { return unsigned_24(a) * unsigned_24(b) + c; },
                               [](u32 a, u32 b, u32 c) {
                                 return saturate<u32>(i64{unsigned_24(a)} * unsigned_24(b) + c);
                               }>("v_mad_u32_u24", {.taint = on_24_bits}),
          vector_operation<extract_unsigned>("v_bfe_u32", {.taint = taint::move_by({1, 2}, 31)}),
          vector_operation<extract_signed>("v_bfe_i32", {.taint = taint::move_by({1, 2}, 31)}),
          logic_operation<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
          vector_operation<[](u32 a, u32 b, u32 c) {
            return static_cast<u32>((u64{a} << 32 | b) >> (c & 31));
          }>("v_alignbit_b32", {.taint = taint::move_by({2}, 31)}),
          vector_operation<[](u32 a, u32 b, u32 c) {
            return static_cast<u32>((u64{a} << 32 | b) >> 8 * (c & 3));
          }>("v_alignbyte_b32", {.taint = taint::move_by({2}, 3)}),
          vector_operation<permute_bytes>("v_perm_b32", {.taint = byte_permute}),
          vector_operation<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>("v_lshl_or_b32",
                                                                                    {.taint = shift_then_or}),
          logic_operation<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
          logic_operation<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
          vector_operation<[](i32 a, i32 b, i32 c) { return std::min({a, b, c}); }>("v_min3_i32"),
          vector_operation<[](i32 a, i32 b, i32 c) { return std::max({a, b, c}); }>("v_max3_i32"),
          vector_operation<median<i32>>("v_med3_i32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }>("v_min3_u32"),
          vector_operation<[](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }>("v_max3_u32"),
          vector_operation<median<u32>>("v_med3_u32"),
          vector_operation<[](i32 a, i32 b, u32 c) {
            return u16(clamp_byte(a >> (c & 31), -128, 127) | clamp_byte(b >> (c & 31), -128, 127) << 8);
          }>("v_ashr_pk_i8_i32"),
          vector_operation<[](i32 a, i32 b, u32 c) {
            return u16(clamp_byte(a >> (c & 31), 0, 255) | clamp_byte(b >> (c & 31), 0, 255) << 8);
          }>("v_ashr_pk_u8_i32"),
          vector_operation<[](u32 a) { return (a << 1) ^ ((a >> 31) ? 197u : 0u); }>("v_prng_b32"),
      });
}

void rows_carry(std::vector<Operation> &rows) {
  constexpr uint32_t carry = Operation::ReadsCarry;
  rows.insert(
      rows.end(),
      {
          saturating_operation<[](u32 a, u32 b) { return add_carry(a, b, 0); },
                               [](u32 a, u32 b) { return add_carry_clamped(a, b, 0); }>("v_add_co_u32"),
          saturating_operation<[](u32 a, u32 b) { return subtract_borrow(a, b, 0); },
                               [](u32 a, u32 b) { return subtract_borrow_clamped(a, b, 0); }>("v_sub_co_u32"),
          saturating_operation<[](u32 a, u32 b) { return subtract_borrow(b, a, 0); },
                               [](u32 a, u32 b) { return subtract_borrow_clamped(b, a, 0); }>(
              "v_subrev_co_u32"),
          saturating_operation<[](u32 a, u32 b, LaneBit c) { return add_carry(a, b, c.set); },
                               [](u32 a, u32 b, LaneBit c) { return add_carry_clamped(a, b, c.set); }>(
              "v_addc_co_u32", {.traits = carry}),
          saturating_operation<[](u32 a, u32 b, LaneBit c) { return subtract_borrow(a, b, c.set); },
                               [](u32 a, u32 b, LaneBit c) { return subtract_borrow_clamped(a, b, c.set); }>(
              "v_subb_co_u32", {.traits = carry}),
          saturating_operation<[](u32 a, u32 b, LaneBit c) { return subtract_borrow(b, a, c.set); },
                               [](u32 a, u32 b, LaneBit c) { return subtract_borrow_clamped(b, a, c.set); }>(
              "v_subbrev_co_u32", {.traits = carry}),
          vector_operation<[](u32 a, u32 b, LaneBit c) { return c.set ? b : a; }>(
              "v_cndmask_b32", {.traits = carry, .taint = select}),
          saturating_operation<multiply_add_wide, multiply_add_wide_clamped>("v_mad_u64_u32",
                                                                             {.taint = upward}),
          saturating_operation<multiply_add_signed, multiply_add_signed_clamped>("v_mad_i64_i32",
                                                                                 {.taint = upward}),
      });
}

void rows_64(std::vector<Operation> &rows) {
  rows.insert(rows.end(), {
                              vector_operation<[](u64 a) { return a; }>("v_mov_b64", {.taint = taint::move}),
                              vector_operation<[](u32 a, u64 b) { return b << (a & 63); }>(
                                  "v_lshlrev_b64", {.taint = taint::move_by({0}, 63)}),
                              vector_operation<[](u32 a, u64 b) { return (b >> (a & 63)); }>(
                                  "v_lshrrev_b64", {.taint = taint::move_by({0}, 63)}),
                              vector_operation<[](u32 a, i64 b) { return (b >> (a & 63)); }>(
                                  "v_ashrrev_i64", {.taint = taint::move_by({0}, 63)}),
                              vector_operation<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>(
                                  "v_lshl_add_u64", {.taint = upward}),
                          });
}

void rows_16(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          saturating_operation<[](u16 a, u16 b) { return u16(a + b); },
                               [](u16 a, u16 b) { return saturate<u16>(i32{a} + b); }>("v_add_u16"),
          saturating_operation<[](u16 a, u16 b) { return u16(a - b); },
                               [](u16 a, u16 b) { return saturate<u16>(i32{a} - b); }>("v_sub_u16"),
          saturating_operation<[](u16 a, u16 b) { return u16(b - a); },
                               [](u16 a, u16 b) { return saturate<u16>(i32{b} - a); }>("v_subrev_u16"),
          saturating_operation<[](i16 a, i16 b) { return i16(a + b); },
                               [](i16 a, i16 b) { return saturate<i16>(i32{a} + b); }>("v_add_i16"),
          saturating_operation<[](i16 a, i16 b) { return i16(a - b); },
                               [](i16 a, i16 b) { return saturate<i16>(i32{a} - b); }>("v_sub_i16"),
          vector_operation<[](u16 a, u16 b) { return u16(u32{a} * b); }>("v_mul_lo_u16"),
          vector_operation<[](u16 a, u16 b) { return u16(b << (a & 15)); }>(
              "v_lshlrev_b16", {.taint = taint::move_by({0}, 15)}),
          vector_operation<[](u16 a, u16 b) { return u16(b >> (a & 15)); }>(
              "v_lshrrev_b16", {.taint = taint::move_by({0}, 15)}),
          vector_operation<[](u16 a, i16 b) { return i16(b >> (a & 15)); }>(
              "v_ashrrev_i16", {.taint = taint::move_by({0}, 15)}),
          vector_operation<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
          vector_operation<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
          vector_operation<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
          vector_operation<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
          saturating_operation<[](u16 a, u16 b, u16 c) { return u16(u32{a} * b + c); },
                               [](u16 a, u16 b, u16 c) { return saturate<u16>(i64{a} * b + c); }>(
              "v_mad_u16", {.traits = preserve}),
          saturating_operation<[](u16 a, u16 b, u16 c) { return u16(u32{a} * b + c); },
                               [](u16 a, u16 b, u16 c) { return saturate<u16>(i64{a} * b + c); }>(
              "v_mad_legacy_u16"),
          saturating_operation<[](i16 a, i16 b, i16 c) { return i16(i32{a} * b + c); },
                               [](i16 a, i16 b, i16 c) { return saturate<i16>(i32{a} * b + c); }>(
              "v_mad_legacy_i16"),
          saturating_operation<[](i16 a, i16 b, i16 c) { return i16(i32{a} * b + c); },
                               [](i16 a, i16 b, i16 c) { return saturate<i16>(i32{a} * b + c); }>(
              "v_mad_i16", {.traits = preserve}),
          saturating_operation<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; },
                               [](u16 a, u16 b, u32 c) { return saturate<u32>(i64{a} * b + c); }>(
              "v_mad_u32_u16"),
          saturating_operation<[](i16 a, i16 b, u32 c) { return u32(i32{a} * b) + c; },
                               [](i16 a, i16 b, i32 c) { return saturate<i32>(i64{a} * b + c); }>(
              "v_mad_i32_i16"),
          vector_operation<[](i16 a, i16 b, i16 c) { return std::min({a, b, c}); }>("v_min3_i16",
                                                                                    {.traits = preserve}),
          vector_operation<[](i16 a, i16 b, i16 c) { return std::max({a, b, c}); }>("v_max3_i16",
                                                                                    {.traits = preserve}),
          vector_operation<median<i16>>("v_med3_i16", {.traits = preserve}),
          vector_operation<[](u16 a, u16 b, u16 c) { return std::min({a, b, c}); }>("v_min3_u16",
                                                                                    {.traits = preserve}),
          vector_operation<[](u16 a, u16 b, u16 c) { return std::max({a, b, c}); }>("v_max3_u16",
                                                                                    {.traits = preserve}),
          vector_operation<median<u16>>("v_med3_u16", {.traits = preserve}),
          vector_operation<[](u16 a, u16 b) { return a | u32{b} << 16; }>("v_pack_b32_f16",
                                                                          {.taint = taint::move}),
      });
}

/// The truth table of v_bitop3 is spread over ABS (bits 5:3), op_sel (7:6 and 2:0 by the encoding).
template <class T> void bit_operation(Wave &wave, const Instruction &instruction) {
  OperandBuffers buffers[3];
  Operand operand[3];
  for (unsigned k = 0; k < 3; ++k)
    operand[k] = fetch(wave, instruction, instruction.source[k], buffers[k]);
  u32 table = static_cast<u32>(instruction.immediate);
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    result.word[lane] = 0;
  for (unsigned entry = 0; entry < 8; ++entry) {
    if (!(table >> entry & 1))
      continue;
    u32 flip_a = entry & 4 ? 0 : ~0u, flip_b = entry & 2 ? 0 : ~0u, flip_c = entry & 1 ? 0 : ~0u;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      result.word[lane] |=
          (operand[0].low[lane] ^ flip_a) & (operand[1].low[lane] ^ flip_b) & (operand[2].low[lane] ^ flip_c);
  }
  if constexpr (sizeof(T) == 2)
    for (unsigned lane = 0; lane < lane_count; ++lane)
      result.word[lane] &= 0xFFFF;
  store_result(wave, instruction, instruction.operation->result, result, result);
}

} // namespace

std::vector<Operation> vector_integer_operations() {
  std::vector<Operation> rows;
  rows_32(rows);
  rows_three(rows);
  rows_carry(rows);
  rows_64(rows);
  rows_16(rows);
  const auto any_logic = [&](const char *name, Handler handler, OperandType type) {
    rows.push_back(
        custom_operation(name, Category::Valu, handler, type, type, type, type,
                         {.traits = Operation::TruthTable, .taint = taint::of_kind(Taint::Kind::Logic)}));
  };
  any_logic("v_bitop3_b32", bit_operation<u32>, OperandType::Bits32);
  any_logic("v_bitop3_b16", bit_operation<u16>, OperandType::Bits16);
  // Exceptions are not simulated, so there are none to clear.
  for (const char *name : {"v_nop", "v_clrexcp"})
    rows.push_back(
        custom_operation(name, Category::Valu, [](Wave &, const Instruction &) {}, OperandType::None));
  return rows;
}

} // namespace nereid::sim
