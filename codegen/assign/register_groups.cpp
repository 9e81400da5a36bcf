#include "codegen/assign/register_groups.h"

namespace nereid::codegen {

uint32_t RegisterGroups::member(uint32_t group, unsigned n) const {
  uint32_t reg = first[group];
  for (size_t i = 0; i < access.register_bits.size(); ++i)
    reg |= (n >> i & 1) << access.register_bits[i];
  return reg;
}

RegisterGroups group_registers(const LinearLayout &layout, VectorAccess access) {
  RegisterGroups groups{std::move(access), {}, {}};
  uint32_t mask = 0;
  for (unsigned bit : groups.access.register_bits)
    mask |= 1u << bit;
  std::array<std::vector<uint64_t>, 3> bases = {std::vector<uint64_t>{}, layout.bases(Space::Lane),
                                                layout.bases(Space::Wave)};
  for (unsigned bit = 0; bit < layout.bits(Space::Register); ++bit)
    if (!(mask >> bit & 1))
      bases[0].push_back(layout.flat_basis(Space::Register, bit));
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if ((r & mask) == 0)
      groups.first.push_back(r);
  groups.leaders = LinearLayout::from_flat_bases(layout.shape(), bases, layout.repeats());
  return groups;
}

} // namespace nereid::codegen
