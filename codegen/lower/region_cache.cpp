// What the regions that are being emitted have made.
#include "codegen/lower/region_cache.h"

namespace nereid::codegen {

template <class T>
const T *RegionCache::find(ByLayout<T> Region::*made, ir::ValueId value, const LinearLayout &layout) const {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region) {
    const ByLayout<T> &values = (*region).*made;
    if (auto found = values.find(value); found != values.end())
      for (const auto &[known, result] : found->second)
        if (known == layout)
          return &result;
  }
  return nullptr;
}

const Registers *RegionCache::registers(ir::ValueId value, const LinearLayout &layout) const {
  return find(&Region::registers, value, layout);
}

const Offsets *RegionCache::offsets(ir::ValueId value, const LinearLayout &layout) const {
  return find(&Region::offsets, value, layout);
}

llvm::Value *RegionCache::splat(ir::ValueId value) const {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region)
    if (auto found = region->splats.find(value); found != region->splats.end())
      return found->second;
  return nullptr;
}

void RegionCache::add(ir::ValueId value, LinearLayout layout, Registers registers) {
  regions_.back().registers[value].emplace_back(std::move(layout), std::move(registers));
}

void RegionCache::add(ir::ValueId value, LinearLayout layout, Offsets offsets) {
  regions_.back().offsets[value].emplace_back(std::move(layout), std::move(offsets));
}

void RegionCache::add_splat(ir::ValueId value, llvm::Value *scalar) {
  regions_.back().splats[value] = scalar;
}

} // namespace nereid::codegen
