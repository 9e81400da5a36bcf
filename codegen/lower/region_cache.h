#pragma once

#include <unordered_map>

#include "codegen/lower/offset.h"
#include "codegen/lower/registers.h"
#include "dsl/ir/op.h"

namespace nereid::codegen {

/// What was made of values in layouts, by region: code of a region may use what the regions around it made,
/// and what a region made is gone when it ends.
class RegionCache {
  template <class T>
  using ByLayout = std::unordered_map<ir::ValueId, std::vector<std::pair<LinearLayout, T>>>;
  struct Region {
    ByLayout<Registers> registers;
    ByLayout<Offsets> offsets;
    std::unordered_map<ir::ValueId, llvm::Value *> splats;
  };

public:
  /// Null if there are none. A pointer lasts until something is added.
  const Registers *registers(ir::ValueId value, const LinearLayout &layout) const;
  const Offsets *offsets(ir::ValueId value, const LinearLayout &layout) const;
  /// The scalar that all elements of a tile are in this region; null where no such is known.
  llvm::Value *splat(ir::ValueId value) const;

  void add(ir::ValueId value, LinearLayout layout, Registers registers);
  void add(ir::ValueId value, LinearLayout layout, Offsets offsets);
  void add_splat(ir::ValueId value, llvm::Value *scalar);

  /// While a region is emitted.
  class Scope {
  public:
    explicit Scope(RegionCache &cache) : regions_(cache.regions_) { regions_.emplace_back(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope() { regions_.pop_back(); }

  private:
    std::vector<Region> &regions_;
  };

private:
  template <class T>
  const T *find(ByLayout<T> Region::*made, ir::ValueId value, const LinearLayout &layout) const;

  std::vector<Region> regions_;
};

} // namespace nereid::codegen
