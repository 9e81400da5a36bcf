#pragma once

#include <unordered_set>
#include <vector>

#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// A scalar that a loop's body loads from an input, at an address that follows from the loop's index: as the
/// number of a page of a cache. It may be loaded before its iteration.
struct ScalarLookup {
  std::vector<const ir::Op *> loads; ///< all those of its address
};

/// The scalars of a loop's body that are known before an iteration: they follow from its index, from values
/// before the loop and from lookups.
class EarlyScalars {
public:
  /// `loop` is a for.
  EarlyScalars(const FunctionIndex &index, const ir::Op &loop);

  /// Whether a scalar, of the body or from before the loop, is one.
  bool contains(ir::ValueId value) const;
  bool is_lookup(const ir::Op &load) const { return lookup_loads_.count(&load) != 0; }
  const std::vector<ScalarLookup> &lookups() const { return lookups_; }
  /// What the addresses of lookups are computed by, in order.
  const std::vector<const ir::Op *> &address_ops() const { return address_ops_; }

private:
  bool may_look_up(const ir::Op &op) const;
  void note_lookup(const ir::Op &load);

  const FunctionIndex &index_;
  bool has_acquire_ = false;
  std::unordered_set<ir::ValueId> inside_;    ///< values of the body
  std::unordered_set<ir::ValueId> early_;     ///< of those, what this is about
  std::unordered_set<ir::ValueId> looked_up_; ///< of those, what follows from lookups
  std::unordered_set<const ir::Op *> lookup_loads_;
  std::vector<ScalarLookup> lookups_;
  std::vector<const ir::Op *> address_ops_;
};

} // namespace nereid::codegen
