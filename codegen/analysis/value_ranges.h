#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// The integers from `low` to `high`; what exceeds 64 bits is cut off there.
struct Interval {
  int64_t low, high;

  bool within(const Interval &other) const { return low >= other.low && high <= other.high; }
  bool operator==(const Interval &) const = default;
};

Interval operator+(const Interval &a, const Interval &b);
Interval operator*(const Interval &a, const Interval &b);
Interval operator-(const Interval &a);
/// All of both.
Interval joined(const Interval &a, const Interval &b);
/// The numbers in both; `a` if there are none.
Interval common(const Interval &a, const Interval &b);

/// The range of the elements of every integer value, as the element type reads them: from
/// constants, positions, loop bounds and what the author assumes about scalars where they are defined: at the
/// top of the kernel, or in a loop.
class ValueRanges {
public:
  explicit ValueRanges(const FunctionIndex &index);
  const Interval &operator[](ir::ValueId value) const { return ranges_[value]; }

private:
  void visit(const ir::Block &block);
  void note_assumptions(const ir::Block &block);
  void note_assumption(const ir::Block &block, ir::ValueId condition);
  void note_comparison(const ir::Block &block, const ir::Op &op);
  void note_bound(const ir::Block &block, ir::Opcode compare, ir::ValueId value, ir::ValueId bound);
  bool is_of(const ir::Block &block, ir::ValueId value) const;
  Interval of_type(ir::ValueId value) const;
  Interval transfer(const ir::Op &op) const;
  void set(ir::ValueId value, const Interval &range);

  const FunctionIndex &index_;
  std::vector<Interval> ranges_;
  std::unordered_map<ir::ValueId, Interval> assumed_;
};

} // namespace nereid::codegen
