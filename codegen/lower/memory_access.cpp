// How wide the accesses of a load or store are.
#include "codegen/lower/memory_access.h"

#include <algorithm>

#include "codegen/assign/buffer_access.h"
#include "codegen/lower/value_layout.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

static llvm::Align alignment(const AxisInfo &pointer, unsigned elements, unsigned element_bytes) {
  int64_t best = element_bytes;
  for (unsigned d = 0; d < pointer.contiguity.size(); ++d)
    if (pointer.contiguity[d] >= elements)
      best = std::max(best, pointer.divisibility_at(d, elements, element_bytes));
  return llvm::Align(std::min<int64_t>(best, 16));
}

std::optional<ir::ValueId> operand_at(const ir::Op &op, size_t position) {
  return op.operands.size() > position ? std::optional(op.operands[position]) : std::nullopt;
}

std::optional<ir::ValueId> mask_of(const ir::Op &op) {
  return operand_at(op, op.opcode == ir::Opcode::Store ? 2 : 1);
}

bool is_streamed(const ir::Op &op) { return op.has("cache") && op.string("cache") == "stream"; }

bool has_device_scope(const KernelPlan &plan, const ir::Op &op) {
  return plan.device_order.accesses.count(&op) != 0;
}

unsigned cache_policy(const KernelPlan &plan, const ir::Op &op) {
  const bool streamed = op.opcode == ir::Opcode::Load && is_streamed(op);
  return (streamed ? gfx950::policy_nontemporal : 0) |
         (has_device_scope(plan, op) ? gfx950::policy_device_scope : 0);
}

MemoryAccesses accesses_of(const KernelPlan &plan, const ir::Op &op) {
  const AxisInfo &pointer = plan.axes[op.operands[0]];
  const std::optional<ir::ValueId> mask = mask_of(op);
  LinearLayout layout =
      op.opcode == ir::Opcode::Store ? plan.layouts.writes.at(&op) : assigned_layout(plan, op.result());
  const unsigned bytes = ir::byte_size(plan.function().type(op.operands[0]).element);
  RegisterGroups groups = group_registers(
      layout, vector_access(layout, pointer, mask ? &plan.axes[*mask] : nullptr, bytes, access_start(op)));
  const unsigned elements = groups.access.elements();
  return {std::move(layout), std::move(groups), elements, elements * bytes,
          alignment(pointer, elements, bytes)};
}

} // namespace nereid::codegen
