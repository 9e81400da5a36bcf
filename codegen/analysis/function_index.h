#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "dsl/ir/function.h"

namespace nereid::codegen {

/// What the passes look up about a function's values.
class FunctionIndex {
public:
  explicit FunctionIndex(const ir::Function &function);

  const ir::Function &function() const { return function_; }
  /// The operation that defines a value; null for arguments of the kernel and of regions.
  const ir::Op *definition(ir::ValueId value) const { return definition_[value]; }
  /// Number of operands, over the whole function, that are this value.
  unsigned uses(ir::ValueId value) const { return uses_[value]; }
  /// The operation that uses a value last in the function's order; with one use, its user.
  const ir::Op *user(ir::ValueId value) const { return user_[value]; }
  /// The region (or body) that an operation stands in.
  const ir::Block *block(const ir::Op &op) const { return blocks_.at(&op); }
  /// The line of an operation as ir::for_each_op counts them.
  unsigned line(const ir::Op &op) const { return lines_.at(&op); }
  /// Scalars are in every lane. A rematerialisable tile is recomputed in whichever layout it is wanted: it
  /// comes from sources and scalars by pure operations only.
  bool is_rematerialisable(ir::ValueId value) const { return rematerialisable_[value]; }

  /// Whether a matrix instruction has a part in a value.
  bool comes_from_dot(ir::ValueId value) const { return from_dot_[value]; }

private:
  void note_dots();
  void note_block(const ir::Block &block);

  const ir::Function &function_;
  std::vector<const ir::Op *> definition_;
  std::vector<const ir::Op *> user_;
  std::vector<unsigned> uses_;
  std::vector<bool> rematerialisable_;
  std::vector<bool> from_dot_;
  std::unordered_map<const ir::Op *, unsigned> lines_;
  std::unordered_map<const ir::Op *, const ir::Block *> blocks_;
};

/// The result of a view op: broadcast, expand_dims, reshape, permute, split or join, which only reindexes
/// registers.
bool is_view(const FunctionIndex &index, ir::ValueId value);
/// The value that a view is all of: not a part of (split) nor one of two (join).
std::optional<ir::ValueId> viewed_value(const FunctionIndex &index, ir::ValueId value);
/// The argument that a pointer comes from by offsets and changes of shape; nothing where there is no one
/// such.
std::optional<ir::ValueId> argument_of(const FunctionIndex &index, ir::ValueId pointer);
/// The argument that a pointer comes from by offsets and views, if all that is reached through it lies less
/// than 2^31 bytes after it (ir::Argument::pointer_range).
std::optional<ir::ValueId> small_buffer_of(const FunctionIndex &index, ir::ValueId pointer);

} // namespace nereid::codegen
