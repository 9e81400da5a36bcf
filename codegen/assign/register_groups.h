#pragma once

#include "codegen/assign/memory_layout.h"
#include "codegen/layout/linear_layout.h"

namespace nereid::codegen {

/// A layout's registers as groups that one memory access moves: number of a group's first register, and of
/// its n-th.
struct RegisterGroups {
  VectorAccess access;
  LinearLayout leaders; ///< the layout of the first registers alone
  std::vector<uint32_t> first;

  uint32_t member(uint32_t group, unsigned n) const;
};

RegisterGroups group_registers(const LinearLayout &layout, VectorAccess access);

} // namespace nereid::codegen
