// A tile's registers as the groups that memory accesses move.
#include "codegen/assign/register_groups.h"

namespace nereid::codegen {

uint32_t RegisterGroups::member(uint32_t group, unsigned n) const {
  uint32_t reg = first[group];
  for (size_t i = 0; i < access.register_bits.size(); ++i)
    reg |= (n >> i & 1) << access.register_bits[i];
  return reg;
}

RegisterGroups group_registers(const LinearLayout &layout, VectorAccess access) {
  uint32_t mask = 0;
  for (unsigned bit : access.register_bits)
    mask |= 1u << bit;
  RegisterGroups groups{std::move(access), layout.without_registers(mask), {}};
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if ((r & mask) == 0)
      groups.first.push_back(r);
  return groups;
}

} // namespace nereid::codegen
