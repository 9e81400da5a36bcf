#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/analysis/value_ranges.h"
#include "codegen/assign/post_order.h"

namespace nereid::codegen {

/// Why an access does not go through a buffer descriptor.
struct NoDescriptor {
  std::string reason;
  std::string remedy; ///< what the author could assume; may be empty
};

/// What is known of an offset in bytes or elements, over all registers of a tile.
struct OffsetBound {
  bool varies = false;                 ///< has a part that differs between threads
  uint64_t limit = 0;                  ///< that part is from 0 and less than this; 0: not known
  Interval uniform{0, 0};              ///< the rest, which all threads share
  std::optional<NoDescriptor> unknown; ///< why there is no limit

  bool is_narrow() const { return !varies || limit != 0; }
};

/// What the offsets in a rematerialisable tile are computed from, as far as they are taken apart: the
/// operands of views, sums, differences, products and of casts from i32 to i64. Nothing for other operations.
std::vector<LayoutRequest> offset_terms(const FunctionIndex &index, const LayoutRequest &request);

/// Which masked accesses go through buffer descriptors, where they take no branch: those of a small buffer
/// (small_buffer_of), and those whose addresses are a base that all threads share, plus offsets of which the
/// part that differs between threads is known to be from 0 to 2^31. What was found about a value serves all
/// accesses that are asked about.
class OffsetBounds {
public:
  OffsetBounds(const FunctionIndex &index, const ValueRanges &ranges)
      : index_(index), function_(index.function()), ranges_(ranges) {}

  /// Of the accesses of a pointer tile. `leaders`: as access_leaders. What speaks against a descriptor;
  /// nothing if they go through one.
  std::optional<NoDescriptor> objection(ir::ValueId pointer, const LinearLayout &leaders);

private:
  using Request = Demand<OffsetBound>;

  OffsetBound of(const LayoutRequest &root);
  std::vector<LayoutRequest> operands(const LayoutRequest &request) const;
  OffsetBound bound(const Request &request) const;
  OffsetBound position(const LayoutRequest &request) const;
  OffsetBound leaf(ir::ValueId value) const;
  OffsetBound sum(const OffsetBound &a, const OffsetBound &b, int64_t factor_of_b) const;
  OffsetBound negated(const OffsetBound &a) const;
  OffsetBound product(const ir::Op &op, const OffsetBound &a, const OffsetBound &b) const;
  OffsetBound scaled(const OffsetBound &a, const Interval &factor, std::optional<ir::ValueId> source) const;
  NoDescriptor unknown_factor(const Interval &factor, int64_t max_factor,
                              std::optional<ir::ValueId> source) const;
  std::optional<size_t> unbounded_argument(ir::ValueId value) const;
  bool is_pointer(ir::ValueId value) const { return function_.type(value).pointer; }
  bool is_computed(ir::ValueId value) const {
    return function_.type(value).rank() != 0 && index_.is_rematerialisable(value);
  }

  const FunctionIndex &index_;
  const ir::Function &function_;
  const ValueRanges &ranges_;
  std::unordered_map<LayoutRequest, OffsetBound, LayoutRequestHash> known_;
};

} // namespace nereid::codegen
