#pragma once

#include <algorithm>
#include <optional>

#include <llvm/Support/Alignment.h>

#include "codegen/assign/register_groups.h"
#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {

/// The accesses that a load or store is made of: each moves a group of a lane's registers.
struct MemoryAccesses {
  LinearLayout layout;
  RegisterGroups groups;
  unsigned elements; ///< of one access
  unsigned bytes;    ///< of one access
  llvm::Align align;

  size_t count() const { return groups.first.size(); }
  /// Buffer instructions ignore the lowest bits of the addresses of dwords.
  bool fits_buffers() const { return align.value() >= std::min(4U, bytes); }
};

MemoryAccesses accesses_of(const KernelPlan &plan, const ir::Op &op);

/// The operand at a position, if the operation has so many.
std::optional<ir::ValueId> operand_at(const ir::Op &op, size_t position);
/// The mask of a load or store.
std::optional<ir::ValueId> mask_of(const ir::Op &op);
/// Whether what is accessed is not to stay in the caches.
bool is_streamed(const ir::Op &op);
/// Whether a load or store is one of device scope (DeviceOrder).
bool has_device_scope(const KernelPlan &plan, const ir::Op &op);
/// Of its buffer instructions.
unsigned cache_policy(const KernelPlan &plan, const ir::Op &op);

} // namespace nereid::codegen
