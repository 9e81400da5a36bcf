#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

namespace nereid::sim {

/// A part of a 32-bit register.
enum class RegisterPart : uint8_t {
  Whole,
  LowHalf,
  HighHalf,
  SelectedHalf, ///< the one that op_sel names
  SelectedByte, ///< the same
};

/// How taint propagates from the sources of an operation to its results, as its row of the instruction table
/// states it: bits are tainted that nothing wrote, or that depend on an e8m0 NaN. A row that says nothing is
/// arithmetic on whole registers.
struct Taint {
  enum class Kind : uint8_t {
    None,       ///< there is no data that could be tainted
    Arithmetic, ///< a tainted bit in the sources, of a lane, taints the whole result, of that lane
    Move,       ///< the operation moves bits: it is executed on the shadow planes
    Logic,      ///< bit by bit, by the truth table
    BitTest,    ///< s_bitcmp: one bit goes to SCC
    Matrix,     ///< by rows and columns
    Memory,
    BranchOnScc,
    BranchOnVcc,
    Branch, ///< on EXEC, or to an address in registers
  };
  /// What else a vector result of several elements depends on than the sources of its lane.
  enum class Elements : uint8_t {
    Whole,        ///< all of it on all sources
    Halves,       ///< each half on the same half of the sources
    Words,        ///< each word on the same word of the sources
    Upward,       ///< the low word on low words: what is above does not carry down
    SourceByHalf, ///< the low half on the first source, the high half on the second
  };
  /// The bit of `control` for the address register of DS.
  static constexpr uint8_t address_controls = 8;

  Kind kind = Kind::Arithmetic;
  Elements elements = Elements::Whole; ///< where the operand types do not say it
  uint8_t control = 0; ///< bit k: source k is no data but an amount, a selector, a lane number
  uint32_t control_bits = ~uint32_t{0}; ///< the bits of such a source that count
  uint8_t truth_table = 0;              ///< Logic: bit 4a + 2b + c is the result
  bool shifts_first = false;    ///< v_lshl_or: the first source is shifted by the second before the table
  bool crosses_lanes = false;   ///< results depend on other lanes, or lanes keep what they had
  bool is_select = false;       ///< v_cndmask: bits in which both choices agree do not depend on the selector
  bool is_byte_permute = false; ///< v_perm: selectors may name constants
  bool applies_scale = false;   ///< multiplies by the scale in its second source, which may be NaN
  std::array<uint32_t, 3> used{~uint32_t{0}, ~uint32_t{0}, ~uint32_t{0}}; ///< bits of a source that count
  RegisterPart source_part = RegisterPart::Whole;                         ///< of the first source
  RegisterPart result_part = RegisterPart::Whole; ///< the rest of the register stays as it is
};

/// Names for the columns of the instruction tables.
namespace taint {

constexpr Taint of_kind(Taint::Kind kind) {
  Taint taint;
  taint.kind = kind;
  return taint;
}
inline constexpr Taint move = of_kind(Taint::Kind::Move);
inline constexpr Taint branch = of_kind(Taint::Kind::Branch);

/// An operation on the bits `bits` of some sources that are no data.
constexpr Taint controlled(Taint::Kind kind, std::initializer_list<unsigned> sources, uint32_t bits) {
  Taint taint = of_kind(kind);
  for (unsigned source : sources)
    taint.control = static_cast<uint8_t>(taint.control | 1u << source);
  taint.control_bits = bits;
  return taint;
}
/// A move by amounts or selectors.
constexpr Taint move_by(std::initializer_list<unsigned> sources, uint32_t bits) {
  return controlled(Taint::Kind::Move, sources, bits);
}
/// A move between lanes.
constexpr Taint cross_lane(Taint taint = move) {
  taint.crosses_lanes = true;
  return taint;
}
constexpr Taint logic(uint8_t truth_table) {
  Taint taint = of_kind(Taint::Kind::Logic);
  taint.truth_table = truth_table;
  return taint;
}
constexpr Taint elements(Taint::Elements elements) {
  Taint taint;
  taint.elements = elements;
  return taint;
}
/// Arithmetic on some bits of the first sources.
constexpr Taint on_bits(uint32_t first, uint32_t second = ~uint32_t{0}) {
  Taint taint;
  taint.used = {first, second, ~uint32_t{0}};
  return taint;
}
/// Arithmetic whose result is a part of the register.
constexpr Taint to_part(RegisterPart part) {
  Taint taint;
  taint.result_part = part;
  return taint;
}

} // namespace taint

} // namespace nereid::sim
