#include <bit>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

uint64_t Lowering::flat_of_register(const LinearLayout &layout, uint32_t reg) {
  uint64_t flat = 0;
  for (unsigned bit = 0; bit < layout.bits(Space::Register); ++bit)
    if (reg >> bit & 1)
      flat ^= layout.flat_basis(Space::Register, bit);
  return flat;
}

uint64_t Lowering::odd_part_of_register(const LinearLayout &layout, uint32_t reg) {
  const unsigned bits = layout.dim(0).bits;
  return uint64_t(layout.apply({reg, 0, 0})[0] >> bits) << bits;
}

/// Runs of bits whose columns are neighbouring single bits move together.
llvm::Value *Lowering::linear(llvm::Value *bits, const std::vector<uint64_t> &bases, llvm::Value *sum) {
  for (unsigned first = 0; first < bases.size();) {
    uint64_t flat_basis = bases[first];
    unsigned end = first + 1;
    if (flat_basis == 0) {
      first = end;
      continue;
    }
    bool single = std::has_single_bit(flat_basis);
    while (single && end < bases.size() && bases[end] == flat_basis << (end - first))
      ++end;
    llvm::Value *part = builder_.CreateAnd(bits, ((1u << (end - first)) - 1) << first);
    if (single) {
      int shift = std::countr_zero(flat_basis) - static_cast<int>(first);
      part = shift >= 0 ? builder_.CreateShl(part, shift) : builder_.CreateLShr(part, -shift);
      sum = builder_.CreateOr(sum, part, "", true);
    } else {
      llvm::Value *set = builder_.CreateICmpNE(part, builder_.getInt32(0));
      sum = builder_.CreateXor(
          sum, builder_.CreateSelect(set, builder_.getInt32(flat_basis), builder_.getInt32(0)));
    }
    first = end;
  }
  return sum;
}

/// Columns that overlap are added by xor; single bits first, so that the others meet a complete sum.
llvm::Value *Lowering::flat_of_thread(const LinearLayout &layout) {
  uint64_t seen = 0;
  bool disjoint = true;
  for (Space space : {Space::Lane, Space::Wave})
    for (uint64_t flat_basis : layout.bases(space)) {
      disjoint = disjoint && (seen & flat_basis) == 0;
      seen |= flat_basis;
    }
  if (disjoint)
    return linear(wave_, layout.bases(Space::Wave),
                  linear(lane_, layout.bases(Space::Lane), builder_.getInt32(0)));
  llvm::Value *sum = builder_.getInt32(0);
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < layout.bits(space); ++bit) {
      std::vector<uint64_t> one(bit + 1, 0);
      one[bit] = layout.flat_basis(space, bit);
      sum = builder_.CreateXor(sum, linear(space == Space::Lane ? lane_ : wave_, one, builder_.getInt32(0)));
    }
  return sum;
}

llvm::Value *Lowering::test_bits(llvm::Value *value, uint32_t mask) {
  return builder_.CreateICmpEQ(builder_.CreateAnd(value, mask), builder_.getInt32(0));
}

llvm::Value *Lowering::owner_condition(const LinearLayout &layout) {
  llvm::Value *condition = nullptr;
  if (auto mask = static_cast<uint32_t>(layout.free_mask(Space::Lane)))
    condition = test_bits(lane_, mask);
  if (auto mask = static_cast<uint32_t>(layout.free_mask(Space::Wave))) {
    llvm::Value *wave = test_bits(wave_, mask);
    condition = condition ? builder_.CreateAnd(condition, wave) : wave;
  }
  return condition;
}

} // namespace nereid::codegen
