#pragma once

#include <functional>
#include <utility>

#include "codegen/lower/emit_context.h"

/// Values that cross the lanes of a wave, a dword at a time.
namespace nereid::codegen {

/// The bits of a value as an integer, and back.
llvm::Value *to_bits(llvm::IRBuilder<> &builder, llvm::Value *value);
llvm::Value *from_bits(llvm::IRBuilder<> &builder, llvm::Value *bits, llvm::Type *type);
llvm::Value *low_dword(llvm::IRBuilder<> &builder, llvm::Value *bits);
llvm::Value *high_dword(llvm::IRBuilder<> &builder, llvm::Value *bits);
llvm::Value *join_dwords(llvm::IRBuilder<> &builder, llvm::Value *low, llvm::Value *high);

/// Moves a value of any width by a function of dwords.
llvm::Value *by_dwords(llvm::IRBuilder<> &builder, llvm::Value *value,
                       const std::function<llvm::Value *(llvm::Value *)> &move);
/// A value that is the same in all lanes.
llvm::Value *to_scalar_registers(llvm::IRBuilder<> &builder, llvm::Value *value);
/// The value of the lane whose number differs in one bit.
llvm::Value *shuffle_xor(EmitContext &context, llvm::Value *value, unsigned lane_bit);
/// `low` and `high`, dwords, where lanes whose bit is set have changed their `low` for the `high` of the lane
/// whose number differs in that bit alone.
std::pair<llvm::Value *, llvm::Value *> swap_with_lanes(EmitContext &context, llvm::Value *low,
                                                        llvm::Value *high, unsigned lane_bit);
/// The values of the two lanes whose numbers differ in one bit, in one order or the other: for a reduction,
/// to which order does not matter. Lanes that differ in the bits `equal` hold equal values.
std::pair<llvm::Value *, llvm::Value *> lane_and_partner(EmitContext &context, llvm::Value *value,
                                                         unsigned lane_bit, uint32_t equal);
/// For a reduction over all lanes, after that over the lanes of each row of 16: the lane's value and that of
/// the row below (lane bit 4), then of both below (lane bit 5). In the last lane they are those of all.
std::pair<llvm::Value *, llvm::Value *> lane_and_rows_below(EmitContext &context, llvm::Value *value,
                                                            unsigned lane_bit);
/// The dword of the wave's last lane, in a scalar register.
llvm::Value *of_last_lane(llvm::IRBuilder<> &builder, llvm::Value *dword);

} // namespace nereid::codegen
