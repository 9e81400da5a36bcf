// Masks of memory operations, and the first elements of their accesses.
#include "codegen/assign/buffer_access.h"

#include "codegen/assign/register_groups.h"

namespace nereid::codegen {

std::optional<size_t> mask_operand(const ir::Op &op) {
  const size_t position = op.opcode == ir::Opcode::Load                    ? 1
                          : op.opcode == ir::Opcode::AtomicCompareExchange ? 3
                                                                           : 2;
  return op.operands.size() > position ? std::optional(position) : std::nullopt;
}

AccessStart access_start(const ir::Op &op) {
  const bool is_plain = op.opcode == ir::Opcode::Load || op.opcode == ir::Opcode::Store;
  return is_plain && !mask_operand(op) ? AccessStart::Anywhere : AccessStart::Aligned;
}

LinearLayout access_leaders(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &op,
                            const LinearLayout &layout) {
  const std::optional<size_t> mask = mask_operand(op);
  const AxisInfo *mask_info = mask ? &axes[op.operands[*mask]] : nullptr;
  const unsigned bytes = ir::byte_size(index.function().type(op.operands[0]).element);
  return group_registers(layout,
                         vector_access(layout, axes[op.operands[0]], mask_info, bytes, access_start(op)))
      .leaders;
}

} // namespace nereid::codegen
