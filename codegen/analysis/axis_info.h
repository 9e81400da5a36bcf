#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// What is known of the elements of an integer, mask or pointer tile along each of its dimensions. All
/// figures are powers of two.
struct AxisInfo {
  /// Along d, aligned runs of this length rise by 1 (pointers: by one element).
  std::vector<int64_t> contiguity;
  /// The first element of each such run is a multiple of this (pointers: the address in bytes).
  std::vector<int64_t> divisibility;
  /// Along d, aligned runs of this length are equal.
  std::vector<int64_t> constancy;
  /// The value when all elements are this constant.
  std::optional<int64_t> constant;

  /// What the elements at multiples of `run` along `d` are multiples of; `step` is what one contiguous
  /// element adds (pointers: its bytes).
  int64_t divisibility_at(unsigned d, int64_t run, int64_t step = 1) const;
  /// What every element is a multiple of.
  int64_t divisibility_of_all() const;
  bool operator==(const AxisInfo &) const = default;
};

/// Contiguity, divisibility and constancy of every value, from the arguments' divisibility forwards; values
/// carried by loops by iteration.
class AxisAnalysis {
public:
  explicit AxisAnalysis(const FunctionIndex &index);
  const AxisInfo &operator[](ir::ValueId value) const { return infos_[value]; }

private:
  void visit(const ir::Block &block);
  void visit(const ir::Op &op);
  void visit_loop(const ir::Op &op);
  void note_multiple(const ir::Op &assume);
  AxisInfo unknown(ir::ValueId value) const;
  AxisInfo meet(const AxisInfo &a, const AxisInfo &b) const;
  AxisInfo transfer(const ir::Op &op) const;
  AxisInfo transfer_shape(const ir::Op &op) const;
  AxisInfo transfer_binary(const ir::Op &op) const;
  /// Along one dimension; what they leave alone is unknown.
  void transfer_sum(const ir::Op &op, unsigned d, AxisInfo &result) const;
  void transfer_product(const ir::Op &op, unsigned d, AxisInfo &result) const;
  void transfer_scaling(const ir::Op &op, unsigned d, AxisInfo &result) const;
  void transfer_bits(const ir::Op &op, unsigned d, AxisInfo &result) const;
  AxisInfo transfer_compare(const ir::Op &op) const;

  const FunctionIndex &index_;
  std::vector<AxisInfo> infos_;
  std::unordered_set<const ir::Op *> visited_loops_;
};

} // namespace nereid::codegen
