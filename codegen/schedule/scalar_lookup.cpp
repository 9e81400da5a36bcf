// Which scalars of a loop's body are known before their iteration.
#include "codegen/schedule/scalar_lookup.h"

#include <algorithm>

namespace nereid::codegen {

EarlyScalars::EarlyScalars(const FunctionIndex &index, const ir::Op &loop) : index_(index) {
  const ir::Function &function = index.function();
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    has_acquire_ = has_acquire_ || (op.has("scope") && op.string("order") != "relaxed");
  });
  const ir::Block &body = loop.blocks.front();
  inside_.insert(body.arguments.begin(), body.arguments.end());
  early_.insert(body.arguments[0]);
  for (const ir::Op &op : body.ops) {
    inside_.insert(op.results.begin(), op.results.end());
    if (op.results.size() != 1 || function.type(op.result()).rank() != 0 ||
        !std::all_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return contains(v); }))
      continue;
    const bool follows_lookup = std::any_of(op.operands.begin(), op.operands.end(),
                                            [&](ir::ValueId v) { return looked_up_.count(v) != 0; });
    if (may_look_up(op) && !follows_lookup) {
      note_lookup(op);
    } else if (ir::facts(op.opcode).effect == ir::OpEffect::Pure) {
      early_.insert(op.result());
      if (follows_lookup)
        looked_up_.insert(op.result());
      else
        address_ops_.push_back(&op);
    }
  }
}

bool EarlyScalars::contains(ir::ValueId value) const {
  return index_.function().type(value).rank() == 0 && (inside_.count(value) == 0 || early_.count(value) != 0);
}

/// Scalar loads go through a cache that sees neither what this kernel writes nor what an acquire lets it see,
/// and take dwords.
bool EarlyScalars::may_look_up(const ir::Op &op) const {
  constexpr unsigned dword = 4;
  if (op.opcode != ir::Opcode::Load || op.operands.size() != 1 || has_acquire_ ||
      ir::byte_size(index_.function().type(op.result()).element) < dword)
    return false;
  const std::optional<ir::ValueId> pointer = argument_of(index_, op.operands[0]);
  const std::vector<ir::Argument> &arguments = index_.function().arguments;
  return std::any_of(arguments.begin(), arguments.end(), [&](const ir::Argument &argument) {
    return argument.read_only && argument.value == pointer;
  });
}

void EarlyScalars::note_lookup(const ir::Op &load) {
  early_.insert(load.result());
  looked_up_.insert(load.result());
  lookup_loads_.insert(&load);
  const auto same = std::find_if(lookups_.begin(), lookups_.end(), [&](const ScalarLookup &lookup) {
    const ir::Op &first = *lookup.loads.front();
    return first.operands == load.operands &&
           index_.function().type(first.result()) == index_.function().type(load.result());
  });
  if (same == lookups_.end())
    lookups_.push_back({{&load}});
  else
    same->loads.push_back(&load);
}

} // namespace nereid::codegen
