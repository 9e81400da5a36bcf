// The canonical form: pure operations by first use, equal ones merged, unused ones dropped, values
// renumbered.
#include "dsl/ir/canonical.h"

#include <algorithm>
#include <unordered_map>

#include "dsl/ir/printer.h"

namespace nereid::ir {
namespace {

constexpr uint32_t none = ~0u;

/// An operation of the trace.
struct Node {
  const Op *op;
  uint32_t block;
  uint32_t parent = none;      ///< the node whose region it is in
  uint32_t next_node = none;   ///< the first one after its regions
  uint32_t next_block = none;  ///< the same of blocks
  uint32_t value_class = none; ///< equal pure operations have one
  bool live = false;
};

class Canonicalizer {
public:
  explicit Canonicalizer(const Function &function)
      : function_(function), definition_(function.value_types.size(), none),
        number_(function.value_types.size()) {
    for (uint32_t value = 0; value < number_.size(); ++value)
      number_[value] = value;
  }

  Function run() {
    collect(function_.body, none, none);
    mark_live();
    find_members();
    Function result = function_;
    outputs_.resize(parents_.size(), nullptr);
    emitted_.resize(nodes_.size());
    next_node_ = 0;
    next_block_ = 0;
    result.body = emit(function_.body);
    renumber(result);
    return result;
  }

private:
  static bool is_pure(const Op &op) { return facts(op.opcode).effect == OpEffect::Pure; }

  /// Numbers operations and blocks in the order of the trace and values by what they are.
  void collect(const Block &block, uint32_t parent_block, uint32_t parent) {
    const auto index = static_cast<uint32_t>(parents_.size());
    parents_.push_back(parent_block);
    for (const Op &op : block.ops) {
      const auto node = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({&op, index, parent});
      for (ValueId result : op.results)
        definition_[result] = node;
      if (is_pure(op))
        classify(node);
      for (const Block &inner : op.blocks)
        collect(inner, index, node);
      nodes_[node].next_node = static_cast<uint32_t>(nodes_.size());
      nodes_[node].next_block = static_cast<uint32_t>(parents_.size());
    }
  }

  void classify(uint32_t node) {
    const Op &op = *nodes_[node].op;
    const auto [found, fresh] = classes_.try_emplace(key(op), node);
    nodes_[node].value_class = found->second;
    for (size_t i = 0; i < op.results.size(); ++i)
      number_[op.results[i]] = number_[nodes_[found->second].op->results[i]];
  }

  std::string key(const Op &op) const {
    Op bare;
    bare.opcode = op.opcode;
    bare.results = op.results;
    bare.attributes = op.attributes;
    std::string text = print(function_, bare);
    text.erase(0, text.find('=')); // all that follows the results' own numbers
    for (ValueId operand : op.operands)
      text += " %" + std::to_string(number_[operand]);
    return text;
  }

  /// A use follows its definition, so that one walk backwards finds all that is needed.
  void mark_live() {
    std::vector<bool> needed(number_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      Node &node = nodes_[i];
      const OpEffect effect = facts(node.op->opcode).effect;
      // A region's values are used nowhere else: all uses of its operation's results have been seen.
      const bool in_use = node.parent == none || !is_fold(nodes_[node.parent].op->opcode) ||
                          any_needed(*nodes_[node.parent].op, needed);
      node.live = effect == OpEffect::Effect || (effect == OpEffect::Control && in_use);
      node.live = node.live || any_needed(*node.op, needed);
      if (node.live)
        for (ValueId operand : node.op->operands)
          needed[operand] = true;
    }
  }

  static bool any_needed(const Op &op, const std::vector<bool> &needed) {
    return std::any_of(op.results.begin(), op.results.end(), [&](ValueId result) { return needed[result]; });
  }

  static uint64_t member_key(uint32_t value_class, uint32_t block) {
    return static_cast<uint64_t>(value_class) << 32 | block;
  }

  void find_members() {
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].live && nodes_[i].value_class != none)
        members_.try_emplace(member_key(nodes_[i].value_class, nodes_[i].block), i);
  }

  /// The equal operation in the outermost region that encloses this one.
  uint32_t representative(uint32_t node) const {
    uint32_t best = node;
    for (uint32_t block = nodes_[node].block; block != none; block = parents_[block])
      if (const auto found = members_.find(member_key(nodes_[node].value_class, block));
          found != members_.end())
        best = found->second;
    return best;
  }

  /// The pure operation that defines a value in the result, or none for all other values.
  uint32_t pure_definition(ValueId value) const {
    const uint32_t node = definition_[value];
    return node == none || nodes_[node].value_class == none ? none : representative(node);
  }

  ValueId canonical_value(ValueId value) const {
    const uint32_t node = pure_definition(value);
    if (node == none)
      return value;
    const std::vector<ValueId> &from = nodes_[definition_[value]].op->results;
    const auto index = std::find(from.begin(), from.end(), value) - from.begin();
    return nodes_[node].op->results[index];
  }

  /// A copy without regions that uses the values of the result.
  Op copy(const Op &op) const {
    Op result;
    result.opcode = op.opcode;
    result.results = op.results;
    result.attributes = op.attributes;
    result.location = op.location;
    for (ValueId operand : op.operands)
      result.operands.push_back(canonical_value(operand));
    return result;
  }

  /// Emits the pure operations that a value depends on, operands first; without recursion, since a
  /// chain may be as long as the program.
  void demand(ValueId value) {
    struct Step {
      uint32_t node;
      size_t next_operand;
    };
    std::vector<Step> stack;
    const auto push = [&](ValueId wanted) {
      const uint32_t node = pure_definition(wanted);
      if (node != none && !emitted_[node]) {
        emitted_[node] = true;
        stack.push_back({node, 0});
      }
    };
    push(value);
    while (!stack.empty()) {
      const Op &op = *nodes_[stack.back().node].op;
      if (stack.back().next_operand < op.operands.size()) {
        push(op.operands[stack.back().next_operand++]);
        continue;
      }
      outputs_[nodes_[stack.back().node].block]->ops.push_back(copy(op));
      stack.pop_back();
    }
  }

  Block emit(const Block &block) {
    Block output;
    output.arguments = block.arguments;
    outputs_[next_block_++] = &output;
    for (const Op &op : block.ops) {
      const Node &node = nodes_[next_node_++];
      const bool anchored = node.live && node.value_class == none;
      if (!anchored) {
        next_node_ = node.next_node;
        next_block_ = node.next_block;
        continue;
      }
      for (ValueId operand : op.operands)
        demand(operand);
      Op output_op = copy(op);
      for (const Block &inner : op.blocks)
        output_op.blocks.push_back(emit(inner));
      output.ops.push_back(std::move(output_op));
    }
    return output;
  }

  void renumber(Function &result) {
    result.value_types.clear();
    result.host_functions.clear();
    names_.assign(number_.size(), none);
    for (Argument &argument : result.arguments)
      name(result, argument.value);
    renumber(result, result.body);
  }

  void name(Function &result, ValueId &value) {
    names_[value] = result.new_value(function_.type(value));
    value = names_[value];
  }

  void renumber(Function &result, Block &block) {
    for (Op &op : block.ops) {
      for (ValueId &operand : op.operands)
        operand = names_[operand];
      for (ValueId &value : op.results)
        name(result, value);
      renumber_host(result, op);
      for (Block &inner : op.blocks) {
        for (ValueId &argument : inner.arguments)
          name(result, argument);
        renumber(result, inner);
      }
    }
  }

  void renumber_host(Function &result, Op &op) {
    const auto host = op.attributes.find("host");
    if (host == op.attributes.end())
      return;
    auto &index = std::get<int64_t>(host->second);
    const auto [found, fresh] = hosts_.try_emplace(index, static_cast<int64_t>(hosts_.size()));
    if (fresh)
      result.host_functions.push_back(index >= 0 &&
                                              index < static_cast<int64_t>(function_.host_functions.size())
                                          ? function_.host_functions[index]
                                          : HostFunction());
    index = found->second;
  }

  const Function &function_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> parents_;    ///< of blocks
  std::vector<uint32_t> definition_; ///< node by value
  std::vector<ValueId> number_;      ///< by value; equal for equal values
  std::unordered_map<std::string, uint32_t> classes_;
  std::unordered_map<uint64_t, uint32_t> members_;
  std::vector<Block *> outputs_; ///< by block
  std::vector<bool> emitted_;
  uint32_t next_node_ = 0;
  uint32_t next_block_ = 0;
  std::vector<ValueId> names_;
  std::unordered_map<int64_t, int64_t> hosts_;
};

} // namespace

Function canonicalize(const Function &function) { return Canonicalizer(function).run(); }

} // namespace nereid::ir
