// Orders the loads of one C++ expression, whose order C++ leaves open, by data flow.
#include "dsl/ir/load_order.h"

#include <algorithm>
#include <limits>

namespace nereid::ir {
namespace {

constexpr unsigned nowhere = std::numeric_limits<unsigned>::max();

bool is_anchor(const Op &op) {
  OpEffect effect = facts(op.opcode).effect;
  return effect == OpEffect::Ordered || effect == OpEffect::Effect || effect == OpEffect::Control;
}

class LoadOrder {
public:
  LoadOrder(Function &function, const std::map<ValueId, unsigned> &expressions)
      : expressions_(expressions), rank_(function.value_types.size(), nowhere),
        definition_(function.value_types.size(), nullptr) {
    find_definitions(function.body);
    rank_demands(function.body);
    reorder(function.body);
  }

private:
  void find_definitions(const Block &block) {
    for (const Op &op : block.ops) {
      if (!is_anchor(op))
        for (ValueId result : op.results)
          definition_[result] = &op;
      for (const Block &inner : op.blocks)
        find_definitions(inner);
    }
  }

  /// Numbers values in the order in which a walk from the effects, operands first, leaves them.
  void rank_demands(const Block &block) {
    for (const Op &op : block.ops) {
      if (!is_anchor(op))
        continue;
      for (ValueId operand : op.operands)
        walk(
            operand, [&](ValueId value) { return rank_[value] != nowhere; },
            [&](ValueId value) {
              for (ValueId result : definition_[value]->results)
                rank_[result] = next_rank_++;
            });
      for (const Block &inner : op.blocks)
        rank_demands(inner);
    }
  }

  /// Leaves the operations that a value depends on, operands first; without recursion, since a chain may be
  /// long.
  template <class Done, class Leave> void walk(ValueId from, const Done &done, const Leave &leave) {
    std::vector<std::pair<ValueId, size_t>> path;
    auto enter = [&](ValueId value) {
      if (definition_[value] != nullptr && !done(value))
        path.emplace_back(value, 0);
    };
    enter(from);
    while (!path.empty()) {
      ValueId value = path.back().first;
      if (path.back().second < definition_[value]->operands.size()) {
        enter(definition_[value]->operands[path.back().second++]);
        continue;
      }
      path.pop_back();
      if (!done(value))
        leave(value);
    }
  }

  void reorder(Block &block) {
    for (Op &op : block.ops)
      for (Block &inner : op.blocks)
        reorder(inner);
    auto start = block.ops.begin();
    for (auto op = block.ops.begin(); op != block.ops.end(); ++op)
      if (is_anchor(*op)) {
        reorder_between_anchors(start, op);
        start = op + 1;
      }
    reorder_between_anchors(start, block.ops.end());
  }

  void reorder_between_anchors(std::vector<Op>::iterator first, std::vector<Op>::iterator last) {
    std::vector<ValueId> loads;
    std::map<unsigned, std::vector<ValueId>> by_expression;
    for (auto op = first; op != last; ++op)
      if (op->opcode == Opcode::Load)
        if (auto found = expressions_.find(op->result()); found != expressions_.end()) {
          loads.push_back(op->result());
          by_expression[found->second].push_back(op->result());
        }
    if (by_expression.size() == loads.size())
      return;
    for (auto &[expression, members] : by_expression)
      std::stable_sort(members.begin(), members.end(),
                       [&](ValueId a, ValueId b) { return rank_[a] < rank_[b]; });

    // Moves of operations within the block would invalidate definition_: the segment is taken out and put
    // back.
    std::vector<Op> segment(std::make_move_iterator(first), std::make_move_iterator(last));
    std::vector<bool> pending(definition_.size(), false);
    for (const Op &op : segment)
      for (ValueId result : op.results) {
        definition_[result] = &op;
        pending[result] = true;
      }
    std::vector<const Op *> order;
    auto demand = [&](ValueId value) {
      walk(
          value, [&](ValueId v) { return !pending[v]; },
          [&](ValueId v) {
            order.push_back(definition_[v]);
            for (ValueId result : definition_[v]->results)
              pending[result] = false;
          });
    };
    std::map<unsigned, size_t> taken;
    for (ValueId load : loads) {
      unsigned expression = expressions_.find(load)->second;
      demand(by_expression[expression][taken[expression]++]);
    }
    for (const Op &op : segment)
      demand(op.result());
    for (const Op *op : order) {
      *first = *op;
      for (ValueId result : first->results)
        definition_[result] = &*first;
      ++first;
    }
  }

  const std::map<ValueId, unsigned> &expressions_;
  std::vector<unsigned> rank_;
  std::vector<const Op *> definition_; ///< of values that no effect or region defines
  unsigned next_rank_ = 0;
};

} // namespace

void order_loads(Function &function, const std::map<ValueId, unsigned> &expressions) {
  std::map<unsigned, unsigned> sizes;
  bool shared = false;
  for (const auto &[load, expression] : expressions)
    shared = ++sizes[expression] > 1 || shared;
  if (shared)
    LoadOrder(function, expressions);
}

} // namespace nereid::ir
