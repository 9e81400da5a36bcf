// Which elements of a layout a thread holds, as code.
#include "codegen/lower/thread_position.h"

#include <bit>

namespace nereid::codegen {

uint64_t flat_of_register(const LinearLayout &layout, uint32_t reg) {
  uint64_t flat = 0;
  for (unsigned bit = 0; bit < layout.bits(Space::Register); ++bit)
    if (reg >> bit & 1)
      flat ^= layout.flat_basis(Space::Register, bit);
  return flat;
}

uint64_t thread_bits(const LinearLayout &layout) {
  uint64_t bits = 0;
  for (Space space : {Space::Lane, Space::Wave})
    for (uint64_t flat_basis : layout.bases(space))
      bits |= flat_basis;
  return bits;
}

uint64_t odd_part_of_register(const LinearLayout &layout, uint32_t reg) {
  const unsigned bits = layout.dim(0).bits;
  return uint64_t(layout.apply({reg, 0, 0})[0] >> bits) << bits;
}

/// Runs of bits whose bases are neighbouring single bits move together.
llvm::Value *apply_bases(llvm::IRBuilder<> &builder, llvm::Value *bits, const std::vector<uint64_t> &bases,
                         llvm::Value *sum) {
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
    llvm::Value *part = builder.CreateAnd(bits, ((1u << (end - first)) - 1) << first);
    if (single) {
      int shift = std::countr_zero(flat_basis) - static_cast<int>(first);
      part = shift >= 0 ? builder.CreateShl(part, shift) : builder.CreateLShr(part, -shift);
      sum = builder.CreateOr(sum, part, "", true);
    } else {
      llvm::Value *set = builder.CreateICmpNE(part, builder.getInt32(0));
      sum = builder.CreateXor(sum,
                              builder.CreateSelect(set, builder.getInt32(flat_basis), builder.getInt32(0)));
    }
    first = end;
  }
  return sum;
}

/// Bases that overlap are added by xor; single bits first, so that the others meet a complete sum.
llvm::Value *flat_of_thread(EmitContext &context, const LinearLayout &layout) {
  llvm::IRBuilder<> &builder = context.builder;
  uint64_t seen = 0;
  bool disjoint = true;
  for (Space space : {Space::Lane, Space::Wave})
    for (uint64_t flat_basis : layout.bases(space)) {
      disjoint = disjoint && (seen & flat_basis) == 0;
      seen |= flat_basis;
    }
  if (disjoint)
    return apply_bases(builder, context.wave, layout.bases(Space::Wave),
                       apply_bases(builder, context.lane, layout.bases(Space::Lane), builder.getInt32(0)));
  llvm::Value *sum = builder.getInt32(0);
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < layout.bits(space); ++bit) {
      std::vector<uint64_t> one(bit + 1, 0);
      one[bit] = layout.flat_basis(space, bit);
      llvm::Value *bits = space == Space::Lane ? context.lane : context.wave;
      sum = builder.CreateXor(sum, apply_bases(builder, bits, one, builder.getInt32(0)));
    }
  return sum;
}

llvm::Value *thread_coordinate(EmitContext &context, const LinearLayout &layout, unsigned dim) {
  const uint64_t mask = (uint64_t(1) << layout.dim(dim).bits) - 1;
  llvm::Value *flat = flat_of_thread(context, layout);
  return context.builder.CreateAnd(context.builder.CreateLShr(flat, layout.first_bit(dim)), mask);
}

llvm::Value *coordinate_of_register(llvm::IRBuilder<> &builder, const LinearLayout &layout, unsigned dim,
                                    llvm::Value *thread, uint32_t reg) {
  const uint32_t mask = (uint32_t(1) << layout.dim(dim).bits) - 1;
  const uint32_t own = layout.apply({reg, 0, 0})[dim];
  llvm::Value *low = builder.CreateXor(thread, own & mask);
  return builder.CreateAdd(low, builder.getInt32(own & ~mask));
}

llvm::Value *thread_offset(EmitContext &context, const std::vector<uint32_t> &lane_bases,
                           const std::vector<uint32_t> &wave_bases) {
  llvm::IRBuilder<> &builder = context.builder;
  auto sum = [&](llvm::Value *bits, const std::vector<uint32_t> &bases) {
    llvm::Value *total = builder.getInt32(0);
    for (unsigned i = 0; i < bases.size();) {
      unsigned end = i + 1;
      while (bases[i] != 0 && end < bases.size() && bases[end] == bases[i] << (end - i))
        ++end;
      std::vector<uint64_t> run(bases.size(), 0);
      for (unsigned j = i; j < end; ++j)
        run[j] = bases[j];
      total = builder.CreateXor(total, apply_bases(builder, bits, run, builder.getInt32(0)));
      i = end;
    }
    return total;
  };
  llvm::Value *of_wave = sum(context.wave, wave_bases);
  return builder.CreateXor(sum(context.lane, lane_bases), of_wave);
}

llvm::Value *are_clear(llvm::IRBuilder<> &builder, llvm::Value *value, uint32_t mask) {
  return builder.CreateICmpEQ(builder.CreateAnd(value, mask), builder.getInt32(0));
}

llvm::Value *owner_condition(EmitContext &context, const LinearLayout &layout) {
  llvm::Value *condition = nullptr;
  if (auto mask = static_cast<uint32_t>(layout.free_mask(Space::Lane)))
    condition = are_clear(context.builder, context.lane, mask);
  if (auto mask = static_cast<uint32_t>(layout.free_mask(Space::Wave))) {
    llvm::Value *wave = are_clear(context.builder, context.wave, mask);
    condition = condition ? context.builder.CreateAnd(condition, wave) : wave;
  }
  return condition;
}

std::vector<uint32_t> broadcast_sources(const LinearLayout &layout, const LinearLayout &once) {
  BitMatrix bases(layout.coordinate_bits(), once.bases(Space::Register));
  std::vector<uint32_t> sources;
  sources.reserve(layout.registers());
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    uint32_t index = r >> layout.bits(Space::Register), kept = 0, stride = 1;
    for (const Repeat &repeat : layout.repeats()) {
      if (repeat.owner != Space::Register)
        continue;
      if (repeat.dim != Repeat::broadcast) {
        kept += index % repeat.count * stride;
        stride *= repeat.count;
      }
      index /= repeat.count;
    }
    sources.push_back(static_cast<uint32_t>(*bases.solve(flat_of_register(layout, r))) +
                      (kept << once.bits(Space::Register)));
  }
  return sources;
}

} // namespace nereid::codegen
