// Masks that end rows, as the number of records of a descriptor.
#include "codegen/lower/end_mask.h"

#include <algorithm>

#include <llvm/IR/PatternMatch.h>

#include "codegen/assign/operand_layout.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

/// Beside a buffer instruction's own offset.
constexpr int64_t max_end = static_cast<int64_t>(gfx950::buffer_range) - 8192;

/// The comparison that a mask is, through views, and the layout of its operands.
const ir::Op *comparison(EmitContext &context, ir::ValueId mask, LinearLayout &layout) {
  const FunctionIndex &index = context.plan.index;
  while (context.type(mask).rank() != 0 && viewed_value(index, mask)) {
    const ir::Op &op = *index.definition(mask);
    layout = operand_layout(context.function(), op, 0, layout);
    mask = op.operands[0];
  }
  const ir::Op *op = index.definition(mask);
  const bool matches = op && op->opcode == ir::Opcode::Lt && context.type(mask).rank() != 0 &&
                       context.type(op->operands[0]).element == ir::Element::I32 &&
                       index.is_rematerialisable(op->operands[0]);
  return matches ? op : nullptr;
}

/// The scalar that all elements of a tile are; null where they are not known to be one.
llvm::Value *scalar_of(EmitContext &context, const ValueMap &values, ir::ValueId tile) {
  const Interval &range = context.plan.ranges[tile];
  if (range.low == range.high)
    return context.builder.getInt32(static_cast<uint32_t>(range.low));
  const ir::Op *op = context.plan.index.definition(tile);
  while (op && context.type(tile).rank() != 0 && op->opcode == ir::Opcode::Broadcast) {
    tile = op->operands[0];
    op = context.plan.index.definition(tile);
  }
  return context.type(tile).rank() == 0 ? values.scalar(tile) : nullptr;
}

bool is_scaled(llvm::Value *bytes, llvm::Value *elements, unsigned element_bytes) {
  using namespace llvm::PatternMatch;
  if (bytes == elements)
    return element_bytes == 1 || !bytes;
  return bytes && elements && match(bytes, m_Mul(m_Specific(elements), m_SpecificInt(element_bytes)));
}

/// Whether all addresses have one base and uniform part, and grow as the positions.
bool grow_alike(const std::vector<Address> &addresses, const Offsets &positions, unsigned element_bytes) {
  const Address &first = addresses[0];
  for (size_t r = 0; r < addresses.size(); ++r) {
    const Address &address = addresses[r];
    const bool is_one_row = address.uniform_base && address.base == first.base &&
                            address.offset.uniform == first.offset.uniform && !positions[r].uniform;
    const bool has_limits = (!address.offset.varying || address.offset.limit != 0) &&
                            (!positions[r].varying || positions[r].limit != 0);
    if (!is_one_row || !has_limits || positions[r].constant < 0 ||
        address.offset.constant != positions[r].constant * element_bytes ||
        !is_scaled(address.offset.varying, positions[r].varying, element_bytes))
      return false;
  }
  return true;
}

} // namespace

llvm::Value *end_of_mask(EmitContext &context, const ValueMap &values, AddressEmitter &emitter,
                         ir::ValueId mask, const LinearLayout &leaders, const std::vector<Address> &addresses,
                         unsigned element_bytes) {
  LinearLayout layout = leaders;
  const ir::Op *op = comparison(context, mask, layout);
  if (!op || layout.registers() != addresses.size())
    return nullptr;
  const Offsets positions = emitter.offsets(op->operands[0], layout);
  llvm::Value *bound = scalar_of(context, values, op->operands[1]);
  if (!bound || !grow_alike(addresses, positions, element_bytes))
    return nullptr;
  int64_t count = 0; // of positions
  for (const Offset &position : positions)
    count = std::max(count, position.constant + std::max<int64_t>(static_cast<int64_t>(position.limit), 1));
  // Limits of the bound would be vector instructions (v_med3): its range has to be known.
  const Interval &range = context.plan.ranges[op->operands[1]];
  if (range.low < 0 || std::max(range.high, count) > max_end / element_bytes)
    return nullptr;
  llvm::IRBuilder<> &builder = context.builder;
  llvm::Value *end = to_scalar_registers(builder, builder.CreateMul(bound, builder.getInt32(element_bytes)));
  return builder.CreateZExt(end, builder.getInt64Ty());
}

} // namespace nereid::codegen
