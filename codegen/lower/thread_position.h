#pragma once

#include "codegen/layout/linear_layout.h"
#include "codegen/lower/emit_context.h"

/// Which elements of a layout a thread holds.
namespace nereid::codegen {

/// The flat coordinates (odd indices left out) that lane and wave give; registers add theirs by xor.
llvm::Value *flat_of_thread(EmitContext &context, const LinearLayout &layout);
uint64_t flat_of_register(const LinearLayout &layout, uint32_t reg);
/// The flat bits that some lane or wave has.
uint64_t thread_bits(const LinearLayout &layout);
/// In a layout of one dimension: what the odd index of a register adds to its coordinate.
uint64_t odd_part_of_register(const LinearLayout &layout, uint32_t reg);
/// What lane and wave give of the coordinate along a dimension (odd indices left out), and the coordinate of
/// a register's element from it. Odd factors are held by registers.
llvm::Value *thread_coordinate(EmitContext &context, const LinearLayout &layout, unsigned dim);
llvm::Value *coordinate_of_register(llvm::IRBuilder<> &builder, const LinearLayout &layout, unsigned dim,
                                    llvm::Value *thread, uint32_t reg);

/// The bases that the set bits of `bits` select: those that are single bits by or, others by xor to `sum`,
/// which has none of the former.
llvm::Value *apply_bases(llvm::IRBuilder<> &builder, llvm::Value *bits, const std::vector<uint64_t> &bases,
                         llvm::Value *sum);
/// The xor of the bases that lane and wave select.
llvm::Value *thread_offset(EmitContext &context, const std::vector<uint32_t> &lane_bases,
                           const std::vector<uint32_t> &wave_bases);

/// Whether none of the bits is set.
llvm::Value *are_clear(llvm::IRBuilder<> &builder, llvm::Value *value, uint32_t mask);
/// True in the one thread that owns what it holds of a layout; null when all do.
llvm::Value *owner_condition(EmitContext &context, const LinearLayout &layout);

/// For each register of `layout` the register of `once`, the same layout without broadcast registers, that
/// holds its element.
std::vector<uint32_t> broadcast_sources(const LinearLayout &layout, const LinearLayout &once);

} // namespace nereid::codegen
