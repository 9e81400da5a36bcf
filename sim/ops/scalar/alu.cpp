// SOP1, SOP2, SOPC and SOPK: arithmetic and logic on scalar registers.

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "sim/decode/operations.h"
#include "sim/ops/vector/truth_table.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

template <auto F, class Signature> struct ScalarHandler;

template <auto F, class R, class... A> struct ScalarHandler<F, R (*)(bool &, A...)> {
  static constexpr bool has_signed_pair = (std::is_same_v<A, int64_t> || ...);
  static constexpr OperandType sources[4] = {(sizeof(A) == 8 ? OperandType::Bits64 : OperandType::Bits32)...};

  template <size_t... I>
  static R apply(Wave &wave, const Instruction &instruction, bool &scc, std::index_sequence<I...>) {
    return F(scc, static_cast<A>(wave.scalar_value(instruction.source[I], sizeof(A) == 8))...);
  }

  static void run(Wave &wave, const Instruction &instruction) {
    bool scc = wave.scc;
    constexpr auto indices = std::index_sequence_for<A...>();
    if constexpr (std::is_void_v<R>)
      apply(wave, instruction, scc, indices);
    else if constexpr (sizeof(R) == 8)
      wave.set_scalar_pair(instruction.destination,
                           static_cast<uint64_t>(apply(wave, instruction, scc, indices)));
    else
      wave.set_scalar(instruction.destination, static_cast<uint32_t>(apply(wave, instruction, scc, indices)));
    wave.scc = scc;
  }
};

/// A row from a function of SCC and the operands.
template <auto F> Operation scalar(std::string name, const RowFacts &facts = {}) {
  using Row = ScalarHandler<F, decltype(+F)>;
  Operation row = custom_operation(std::move(name), Category::Salu, Row::run, OperandType::None,
                                   Row::sources[0], Row::sources[1], Row::sources[2], facts);
  row.traits |= Row::has_signed_pair ? Operation::SignedLiteral : Operation::None;
  return row;
}

Operation custom(std::string name, Handler handler, OperandType source = OperandType::Bits32,
                 const RowFacts &facts = {}) {
  return custom_operation(std::move(name), Category::Salu, handler, OperandType::None, source,
                          OperandType::None, OperandType::None, facts);
}

template <class T> T nonzero(bool &scc, T value) {
  scc = value != 0;
  return value;
}

/// A row from a function that works bit by bit.
template <auto F, class T> T nonzero_of(bool &scc, T a, T b) { return nonzero<T>(scc, F(a, b)); }
template <auto F, class T> Operation logic(std::string name) {
  return scalar<nonzero_of<F, T>>(std::move(name), {.taint = taint::logic(truth_table<F>)});
}

uint32_t add(bool &scc, uint32_t a, uint32_t b, uint32_t carry) {
  uint64_t sum = uint64_t{a} + b + carry;
  scc = sum >> 32;
  return static_cast<uint32_t>(sum);
}
uint32_t subtract(bool &scc, uint32_t a, uint32_t b, uint32_t borrow) {
  scc = uint64_t{b} + borrow > a;
  return a - b - borrow;
}
template <unsigned Shift> uint32_t shift_add(bool &scc, uint32_t a, uint32_t b) {
  uint64_t sum = (uint64_t{a} << Shift) + b;
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}

/// The number of the highest bit, and so the bits of an amount or position that count.
template <class T> constexpr uint32_t last_bit = sizeof(T) * 8 - 1;

/// Bit field extraction: offset in bits 5:0 (4:0), width in bits 22:16.
constexpr uint32_t field_width = 0x7F0000;
template <class T> T extract_field(bool &scc, T value, uint32_t control) {
  constexpr unsigned bits = sizeof(T) * 8;
  unsigned offset = control & last_bit<T>, width = std::min((control & field_width) >> 16, bits);
  T shifted = static_cast<T>(value >> offset);
  if (width == 0)
    shifted = 0;
  else if (width + offset < bits || width < bits - offset) {
    unsigned unused = bits - width;
    shifted =
        static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(shifted) << unused) >> unused);
  }
  scc = shifted != 0;
  return shifted;
}

template <class T> Operation field(std::string name) {
  return scalar<extract_field<T>>(std::move(name), {.taint = taint::move_by({1}, field_width | last_bit<T>)});
}

template <class T> int32_t find_first(T value) { return value ? std::countr_zero(value) : -1; }
template <class T> int32_t leading_zeros(T value) { return value ? std::countl_zero(value) : -1; }
/// How many leading bits repeat the sign, or -1 when all do.
template <class T> int32_t leading_signs(T value) {
  using U = std::make_unsigned_t<T>;
  U bits = static_cast<U>(value < 0 ? ~value : value);
  return bits ? std::countl_zero(bits) : -1;
}

uint64_t quad_any(uint64_t value) {
  uint64_t result = 0;
  for (unsigned quad = 0; quad < 16; ++quad)
    if (value >> 4 * quad & 15)
      result |= uint64_t{15} << 4 * quad;
  return result;
}
template <class T> T whole_quads(T value) { return static_cast<T>(quad_any(value)); }

template <class T> T reverse_bits(T value) {
  T result = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
    if (value >> bit & 1)
      result |= T{1} << (sizeof(T) * 8 - 1 - bit);
  return result;
}

template <auto F> void save_exec(Wave &wave, const Instruction &instruction) {
  uint64_t source = wave.scalar_value(instruction.source[0], true), exec = wave.exec();
  wave.set_scalar_pair(instruction.destination, exec);
  wave.set_exec(F(source, exec));
  wave.scc = wave.exec() != 0;
}
/// The andn1_wrexec forms: the result goes to EXEC and to the destination.
template <auto F> void write_exec(Wave &wave, const Instruction &instruction) {
  uint64_t result = F(wave.scalar_value(instruction.source[0], true), wave.exec());
  wave.set_exec(result);
  wave.set_scalar_pair(instruction.destination, result);
  wave.scc = result != 0;
}

template <auto Compare> void compare_constant(Wave &wave, const Instruction &instruction) {
  wave.scc = Compare(wave.sgpr[instruction.destination], instruction.immediate);
}

void conditional_move(Wave &wave, const Instruction &instruction) {
  if (wave.scc)
    wave.set_scalar(instruction.destination,
                    static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false)));
}
void conditional_move_64(Wave &wave, const Instruction &instruction) {
  if (wave.scc)
    wave.set_scalar_pair(instruction.destination, wave.scalar_value(instruction.source[0], true));
}

/// The constant, or on the shadow planes none of its bits.
template <bool Value> void conditional_constant(Wave &wave, const Instruction &instruction) {
  if (wave.scc)
    wave.set_scalar(instruction.destination, Value ? static_cast<uint32_t>(instruction.immediate) : 0);
}

template <bool Value, class T> void bit_set(Wave &wave, const Instruction &instruction) {
  const T bit = T{1} << (wave.scalar_value(instruction.source[0], false) & last_bit<T>);
  const uint64_t old = wave.scalar_pair(instruction.destination);
  const uint64_t changed = Value ? old | bit : old & ~uint64_t{bit};
  if constexpr (sizeof(T) == 8)
    wave.set_scalar_pair(instruction.destination, changed);
  else
    wave.set_scalar(instruction.destination, static_cast<uint32_t>(changed));
}

/// s_bitset: a bit that is set to a constant is not tainted, whatever the constant is.
template <bool Value, class T> Operation bit_setting(std::string name) {
  return custom(std::move(name), bit_set<Value, T>, OperandType::Bits32,
                {.taint = taint::move_by({0}, last_bit<T>), .shadow_handler = bit_set<false, T>});
}

unsigned relative(const Wave &wave, unsigned index) {
  return (index + wave.sgpr[scalar::m0]) & (scalar_registers - 1);
}

void rows_arithmetic(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return add(scc, a, b, 0); }>("s_add_u32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return subtract(scc, a, b, 0); }>("s_sub_u32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return add(scc, a, b, scc); }>("s_addc_u32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return subtract(scc, a, b, scc); }>("s_subb_u32"),
          scalar<[](bool &scc, int32_t a, int32_t b) {
            int32_t sum;
            scc = __builtin_add_overflow(a, b, &sum);
            return sum;
          }>("s_add_i32"),
          scalar<[](bool &scc, int32_t a, int32_t b) {
            int32_t difference;
            scc = __builtin_sub_overflow(a, b, &difference);
            return difference;
          }>("s_sub_i32"),
          scalar<[](bool &scc, int32_t a, int32_t b) { return scc = a < b, std::min(a, b); }>("s_min_i32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return scc = a < b, std::min(a, b); }>("s_min_u32"),
          scalar<[](bool &scc, int32_t a, int32_t b) { return scc = (a >= b), std::max(a, b); }>("s_max_i32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return scc = (a >= b), std::max(a, b); }>(
              "s_max_u32"),
          scalar<[](bool &, uint32_t a, uint32_t b) { return a * b; }>("s_mul_i32"),
          scalar<[](bool &, uint32_t a, uint32_t b) {
            return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
          }>("s_mul_hi_u32"),
          scalar<[](bool &, int32_t a, int32_t b) { return static_cast<uint32_t>(int64_t{a} * b >> 32); }>(
              "s_mul_hi_i32"),
          scalar<shift_add<1>>("s_lshl1_add_u32"),
          scalar<shift_add<2>>("s_lshl2_add_u32"),
          scalar<shift_add<3>>("s_lshl3_add_u32"),
          scalar<shift_add<4>>("s_lshl4_add_u32"),
          scalar<[](bool &scc, int32_t a, int32_t b) {
            uint32_t difference = static_cast<uint32_t>(a) - static_cast<uint32_t>(b);
            return nonzero(scc, static_cast<int32_t>(difference) < 0 ? 0 - difference : difference);
          }>("s_absdiff_i32"),
          scalar<[](bool &scc, uint32_t a) { return nonzero(scc, static_cast<int32_t>(a) < 0 ? 0 - a : a); }>(
              "s_abs_i32"),
          scalar<[](bool &scc, uint32_t a, uint32_t b) { return scc ? a : b; }>("s_cselect_b32",
                                                                                {.taint = taint::move}),
          scalar<[](bool &scc, uint64_t a, uint64_t b) { return scc ? a : b; }>("s_cselect_b64",
                                                                                {.taint = taint::move}),
          scalar<[](bool &, uint32_t a, uint32_t b) { return (a & 0xFFFF) | b << 16; }>(
              "s_pack_ll_b32_b16", {.taint = taint::move}),
          scalar<[](bool &, uint32_t a, uint32_t b) { return (a & 0xFFFF) | (b & 0xFFFF0000); }>(
              "s_pack_lh_b32_b16", {.taint = taint::move}),
          scalar<[](bool &, uint32_t a, uint32_t b) { return (a >> 16) | (b & 0xFFFF0000); }>(
              "s_pack_hh_b32_b16", {.taint = taint::move}),
      });
}

template <class T> void rows_logic(std::vector<Operation> &rows, const std::string &suffix) {
  rows.insert(
      rows.end(),
      {
          logic<[](T a, T b) { return a & b; }, T>("s_and" + suffix),
          logic<[](T a, T b) { return a | b; }, T>("s_or" + suffix),
          logic<[](T a, T b) { return a ^ b; }, T>("s_xor" + suffix),
          logic<[](T a, T b) { return a & ~b; }, T>("s_andn2" + suffix),
          logic<[](T a, T b) { return a | ~b; }, T>("s_orn2" + suffix),
          logic<[](T a, T b) { return ~(a & b); }, T>("s_nand" + suffix),
          logic<[](T a, T b) { return ~(a | b); }, T>("s_nor" + suffix),
          logic<[](T a, T b) { return ~(a ^ b); }, T>("s_xnor" + suffix),
          scalar<[](bool &scc, T a) { return nonzero<T>(scc, ~a); }>(
              "s_not" + suffix, {.taint = taint::logic(truth_table<[](T a) { return ~a; }>)}),
          scalar<[](bool &, T a) { return a; }>("s_mov" + suffix, {.taint = taint::move}),
          scalar<[](bool &scc, T a) { return nonzero<T>(scc, whole_quads<T>(a)); }>("s_wqm" + suffix),
          scalar<[](bool &, T a) { return reverse_bits<T>(a); }>("s_brev" + suffix, {.taint = taint::move}),
          scalar<[](bool &scc, T a) {
            return nonzero<uint32_t>(scc, static_cast<uint32_t>(std::popcount(a)));
          }>("s_bcnt1_i32" + suffix),
          scalar<[](bool &scc, T a) {
            return nonzero<uint32_t>(scc, static_cast<uint32_t>(std::popcount(static_cast<T>(~a))));
          }>("s_bcnt0_i32" + suffix),
          scalar<[](bool &, T a) { return find_first<T>(a); }>("s_ff1_i32" + suffix),
          scalar<[](bool &, T a) { return find_first<T>(~a); }>("s_ff0_i32" + suffix),
          scalar<[](bool &, T a) { return leading_zeros<T>(a); }>("s_flbit_i32" + suffix),
          scalar<[](bool &scc, T a, uint32_t b) { return nonzero<T>(scc, a << (b & last_bit<T>)); }>(
              "s_lshl" + suffix, {.taint = taint::move_by({1}, last_bit<T>)}),
          scalar<[](bool &scc, T a, uint32_t b) { return nonzero<T>(scc, a >> (b & last_bit<T>)); }>(
              "s_lshr" + suffix, {.taint = taint::move_by({1}, last_bit<T>)}),
          scalar<[](bool &, uint32_t a, uint32_t b) {
            return static_cast<T>(((T{1} << (a & last_bit<T>)) - 1) << (b & last_bit<T>));
          }>("s_bfm" + suffix),
          scalar<[](bool &scc, T a, uint32_t b) { scc = ((a >> (b & last_bit<T>)) & 1) == 0; }>(
              "s_bitcmp0" + suffix, {.taint = taint::controlled(Taint::Kind::BitTest, {1}, last_bit<T>)}),
          scalar<[](bool &scc, T a, uint32_t b) { scc = ((a >> (b & last_bit<T>)) & 1) == 1; }>(
              "s_bitcmp1" + suffix, {.taint = taint::controlled(Taint::Kind::BitTest, {1}, last_bit<T>)}),
      });
}

void rows_bits(std::vector<Operation> &rows) {
  rows.insert(
      rows.end(),
      {
          scalar<[](bool &scc, int32_t a, uint32_t b) { return nonzero<int32_t>(scc, a >> (b & 31)); }>(
              "s_ashr_i32", {.taint = taint::move_by({1}, 31)}),
          scalar<[](bool &scc, int64_t a, uint32_t b) { return nonzero<int64_t>(scc, a >> (b & 63)); }>(
              "s_ashr_i64", {.taint = taint::move_by({1}, 63)}),
          field<uint32_t>("s_bfe_u32"),
          field<int32_t>("s_bfe_i32"),
          field<uint64_t>("s_bfe_u64"),
          field<int64_t>("s_bfe_i64"),
          scalar<[](bool &, int32_t a) { return leading_signs<int32_t>(a); }>("s_flbit_i32"),
          scalar<[](bool &, int64_t a) { return leading_signs<int64_t>(a); }>("s_flbit_i32_i64"),
          scalar<[](bool &, uint32_t a) { return static_cast<int32_t>(static_cast<int8_t>(a)); }>(
              "s_sext_i32_i8", {.taint = taint::move}),
          scalar<[](bool &, uint32_t a) { return static_cast<int32_t>(static_cast<int16_t>(a)); }>(
              "s_sext_i32_i16", {.taint = taint::move}),
          scalar<[](bool &, uint32_t a) {
            uint64_t result = 0;
            for (unsigned bit = 0; bit < 32; ++bit)
              result |= static_cast<uint64_t>(a >> bit & 1) * 3 << 2 * bit;
            return result;
          }>("s_bitreplicate_b64_b32", {.taint = taint::move}),
          scalar<[](bool &scc, uint32_t a) {
            uint64_t any = 0;
            for (unsigned quad = 0; quad < 8; ++quad)
              any |= static_cast<uint64_t>((a >> 4 * quad & 15) != 0) << quad;
            return nonzero(scc, static_cast<uint32_t>(any));
          }>("s_quadmask_b32"),
          scalar<[](bool &scc, uint64_t a) {
            uint64_t any = 0;
            for (unsigned quad = 0; quad < 16; ++quad)
              any |= static_cast<uint64_t>((a >> 4 * quad & 15) != 0) << quad;
            return nonzero(scc, any);
          }>("s_quadmask_b64"),
          bit_setting<false, uint32_t>("s_bitset0_b32"),
          bit_setting<false, uint64_t>("s_bitset0_b64"),
          bit_setting<true, uint32_t>("s_bitset1_b32"),
          bit_setting<true, uint64_t>("s_bitset1_b64"),
          custom("s_cmov_b32", conditional_move, OperandType::Bits32, {.taint = taint::move}),
          custom("s_cmov_b64", conditional_move_64, OperandType::Bits64, {.taint = taint::move}),
      });
}

void rows_relative(std::vector<Operation> &rows) {
  const RowFacts by_m0{.hazard = HazardClass::ReadsM0};
  rows.insert(rows.end(),
              {
                  custom(
                      "s_movrels_b32",
                      [](Wave &w, const Instruction &i) {
                        w.set_scalar(i.destination, w.sgpr[relative(w, i.source[0].index)]);
                      },
                      OperandType::Bits32, by_m0),
                  custom(
                      "s_movrels_b64",
                      [](Wave &w, const Instruction &i) {
                        w.set_scalar_pair(i.destination, w.scalar_pair(relative(w, i.source[0].index)));
                      },
                      OperandType::Bits64, by_m0),
                  custom(
                      "s_movreld_b32",
                      [](Wave &w, const Instruction &i) {
                        w.set_scalar(relative(w, i.destination),
                                     static_cast<uint32_t>(w.scalar_value(i.source[0], false)));
                      },
                      OperandType::Bits32, by_m0),
                  custom(
                      "s_movreld_b64",
                      [](Wave &w, const Instruction &i) {
                        w.set_scalar_pair(relative(w, i.destination), w.scalar_value(i.source[0], true));
                      },
                      OperandType::Bits64, by_m0),
              });
}

/// Rows from a function of a mask and EXEC that works bit by bit.
template <auto F> Operation saving(std::string name) {
  return custom(std::move(name), save_exec<F>, OperandType::Bits64, {.taint = taint::logic(truth_table<F>)});
}
template <auto F> Operation writing(std::string name) {
  return custom(std::move(name), write_exec<F>, OperandType::Bits64, {.taint = taint::logic(truth_table<F>)});
}

void rows_exec(std::vector<Operation> &rows) {
  using u64 = uint64_t;
  rows.insert(rows.end(), {
                              saving<[](u64 s, u64 e) { return s & e; }>("s_and_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return s | e; }>("s_or_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return s ^ e; }>("s_xor_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return s & ~e; }>("s_andn2_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return s | ~e; }>("s_orn2_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return ~(s & e); }>("s_nand_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return ~(s | e); }>("s_nor_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return ~(s ^ e); }>("s_xnor_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return ~s & e; }>("s_andn1_saveexec_b64"),
                              saving<[](u64 s, u64 e) { return ~s | e; }>("s_orn1_saveexec_b64"),
                              writing<[](u64 s, u64 e) { return ~s & e; }>("s_andn1_wrexec_b64"),
                              writing<[](u64 s, u64 e) { return s & ~e; }>("s_andn2_wrexec_b64"),
                          });
}

template <class T, class K> void rows_compare(std::vector<Operation> &rows, const std::string &type) {
  rows.push_back(scalar<[](bool &scc, T a, T b) { scc = a == b; }>("s_cmp_eq_" + type));
  rows.push_back(scalar<[](bool &scc, T a, T b) { scc = a != b; }>("s_cmp_lg_" + type));
  if constexpr (sizeof(T) == 4) {
    rows.insert(rows.end(), {
                                scalar<[](bool &scc, T a, T b) { scc = (a > b); }>("s_cmp_gt_" + type),
                                scalar<[](bool &scc, T a, T b) { scc = (a >= b); }>("s_cmp_ge_" + type),
                                scalar<[](bool &scc, T a, T b) { scc = a < b; }>("s_cmp_lt_" + type),
                                scalar<[](bool &scc, T a, T b) { scc = a <= b; }>("s_cmp_le_" + type),
                            });
    auto constant = [&](const char *name, Handler handler) { rows.push_back(custom(name + type, handler)); };
    constant("s_cmpk_eq_", compare_constant<[](uint32_t a, int32_t k) { return T(a) == T(K(k)); }>);
    constant("s_cmpk_lg_", compare_constant<[](uint32_t a, int32_t k) { return T(a) != T(K(k)); }>);
    constant("s_cmpk_gt_", compare_constant<[](uint32_t a, int32_t k) { return (T(a) > T(K(k))); }>);
    constant("s_cmpk_ge_", compare_constant<[](uint32_t a, int32_t k) { return (T(a) >= T(K(k))); }>);
    constant("s_cmpk_lt_", compare_constant<[](uint32_t a, int32_t k) { return T(a) < T(K(k)); }>);
    constant("s_cmpk_le_", compare_constant<[](uint32_t a, int32_t k) { return T(a) <= T(K(k)); }>);
  }
}

void rows_constant(std::vector<Operation> &rows) {
  rows.push_back(custom("s_movk_i32", [](Wave &w, const Instruction &i) {
    w.set_scalar(i.destination, static_cast<uint32_t>(i.immediate));
  }));
  rows.push_back(custom("s_cmovk_i32", conditional_constant<true>, OperandType::Bits32,
                        {.taint = taint::move, .shadow_handler = conditional_constant<false>}));
  rows.push_back(custom("s_addk_i32", [](Wave &w, const Instruction &i) {
    int32_t sum;
    w.scc = __builtin_add_overflow(static_cast<int32_t>(w.sgpr[i.destination]), i.immediate, &sum);
    w.set_scalar(i.destination, static_cast<uint32_t>(sum));
  }));
  rows.push_back(custom("s_mulk_i32", [](Wave &w, const Instruction &i) {
    w.set_scalar(i.destination, w.sgpr[i.destination] * static_cast<uint32_t>(i.immediate));
  }));
}

} // namespace

std::vector<Operation> scalar_alu_operations() {
  std::vector<Operation> rows;
  rows_arithmetic(rows);
  rows_logic<uint32_t>(rows, "_b32");
  rows_logic<uint64_t>(rows, "_b64");
  rows_bits(rows);
  rows_relative(rows);
  rows_exec(rows);
  rows_compare<uint32_t, uint16_t>(rows, "u32");
  rows_compare<int32_t, int16_t>(rows, "i32");
  rows_compare<uint64_t, uint64_t>(rows, "u64");
  rows_constant(rows);
  return rows;
}

} // namespace nereid::sim
