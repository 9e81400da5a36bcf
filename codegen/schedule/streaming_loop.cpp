// Which loops stream operands through dots: their carried values, their masks and the steps of their
// addresses.
#include "codegen/schedule/streaming_loop.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "codegen/assign/layout_choice.h"

namespace nereid::codegen {

namespace {

class Finder {
public:
  Finder(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &loop)
      : index_(index), function_(index.function()), axes_(axes), loop_(loop), body_(loop.blocks.front()),
        induction_(index, axes, loop) {}

  /// Without `early` scalars all addresses move by constants.
  Decision<StreamedLoop> find_loads(const EarlyScalars *early);
  Decision<StreamingLoop> find();

private:
  std::optional<Objection> head() const;
  Decision<DotAccumulator> accumulator(size_t number) const;
  std::optional<Objection> only_loads_and_computes(const StreamingLoop &found) const;
  Decision<StreamedLoad> load(const ir::Op &op, const EarlyScalars *early) const;
  std::optional<Objection> split_mask(const ir::Op &op, StreamedLoad &load) const;
  std::optional<ir::ValueId> scalar_base(ir::ValueId pointer) const;
  std::optional<ir::ValueId> moving_base(ir::ValueId pointer) const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const ir::Op &loop_;
  const ir::Block &body_;
  LoopInduction induction_;
  std::unordered_set<ir::ValueId> conditions_;
};

std::optional<Objection> Finder::head() const {
  if (!loop_.has("stages") || loop_.integer("stages") < 2)
    return Objection{&loop_, "it does not ask for stages"};
  if (!induction_.step())
    return Objection{&loop_, "its step is not a constant greater than 0"};
  if (function_.type(body_.arguments[0]).element != ir::Element::I32)
    return Objection{&loop_, "its index is not an i32"};
  return std::nullopt;
}

/// Carried value `number` goes through additions of dots of this body to the yield.
Decision<DotAccumulator> Finder::accumulator(size_t number) const {
  ir::ValueId value = body_.arguments[number + 1];
  const Objection other{&loop_, fmt::format("it carries a value, {}, that is not only a sum of dots",
                                            function_.type(value).text())};
  DotAccumulator result;
  while (index_.uses(value) == 1) {
    const ir::Op &user = *index_.user(value);
    if (index_.block(user) != &body_)
      return other;
    if (user.opcode == ir::Opcode::Yield) {
      if (user.operands[number] != value || result.dots.empty())
        return other;
      return result;
    }
    if (user.opcode != ir::Opcode::Add)
      return other;
    const ir::Op *dot = index_.definition(user.operands[user.operands[0] == value ? 1 : 0]);
    if (!dot || !ir::is_dot(dot->opcode) || index_.block(*dot) != &body_ || index_.uses(dot->result()) != 1)
      return other;
    result.dots.push_back(dot);
    value = user.result();
  }
  return other;
}

std::optional<ir::ValueId> Finder::scalar_base(ir::ValueId pointer) const {
  while (function_.type(pointer).rank() != 0) {
    const ir::Op *op = index_.definition(pointer);
    if (!op || !index_.is_rematerialisable(pointer) ||
        (op->opcode != ir::Opcode::PtrAdd && !is_view(index_, pointer)) || op->results.size() != 1)
      return std::nullopt;
    pointer = op->operands[0];
  }
  return pointer;
}

/// The scalar base of addresses that are apart from it by the same in each iteration.
std::optional<ir::ValueId> Finder::moving_base(ir::ValueId pointer) const {
  const std::optional<ir::ValueId> base = scalar_base(pointer);
  for (; base && pointer != *base; pointer = index_.definition(pointer)->operands[0])
    if (const ir::Op &op = *index_.definition(pointer);
        op.opcode == ir::Opcode::PtrAdd && induction_.change(op.operands[1]) != 0)
      return std::nullopt;
  return base;
}

/// The mask as a conjunction: parts that do not vary, and conditions.
std::optional<Objection> Finder::split_mask(const ir::Op &op, StreamedLoad &load) const {
  std::vector<ir::ValueId> open = {op.operands[1]};
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId mask = open.back();
    open.pop_back();
    if (!seen.insert(mask).second)
      continue;
    if (!induction_.varies(mask)) {
      load.fixed_masks.push_back(mask);
    } else if (const ir::Op *made_by = index_.definition(mask);
               made_by && made_by->opcode == ir::Opcode::And) {
      open.push_back(made_by->operands[1]);
      open.push_back(made_by->operands[0]);
    } else if (const std::optional<ir::ValueId> source = viewed_value(index_, mask)) {
      open.push_back(*source);
    } else {
      load.has_iteration_mask = true;
      if (conditions_.count(mask) == 0)
        return Objection{&op, "its mask varies with the iterations and is not a comparison \"rising "
                              "tile < scalar\""};
    }
  }
  return std::nullopt;
}

Decision<StreamedLoad> Finder::load(const ir::Op &op, const EarlyScalars *early) const {
  constexpr int64_t max_change = int64_t(1) << 30;
  const ir::ValueId pointer = op.operands[0];
  const ir::Type &type = function_.type(op.result());
  if (type.rank() == 0 || type.element == ir::Element::I1)
    return Objection{&op, "it loads a scalar or a mask"};
  if (!scalar_base(pointer))
    return Objection{&op, "its addresses are not a scalar pointer and computed offsets"};
  const std::optional<LoopInduction::Change> change = induction_.scaled_change(pointer);
  StreamedLoad load{&op, 0, {}};
  if (change && change->amount >= 0 && change->amount < max_change) {
    load.change = change->amount;
    load.factor = change->factor;
  } else {
    load.moving_base = early ? moving_base(pointer) : std::nullopt;
    if (!load.moving_base || !early->contains(*load.moving_base))
      return Objection{&op, "its addresses do not rise by the same number of bytes in each iteration"};
  }
  if (op.operands.size() > 1)
    if (std::optional<Objection> objection = split_mask(op, load))
      return *objection;
  if (op.operands.size() > 2 && axes_[op.operands[2]].constant != 0)
    return Objection{&op, "what its mask removes is not replaced by zeros"};
  return load;
}

/// In addition to loads, dots and their accumulation the body has pure operations only.
std::optional<Objection> Finder::only_loads_and_computes(const StreamingLoop &found) const {
  std::unordered_set<const ir::Op *> accumulated;
  for (const DotAccumulator &accumulator : found.accumulators)
    accumulated.insert(accumulator.dots.begin(), accumulator.dots.end());
  for (const ir::Op &op : body_.ops) {
    const ir::OpClass op_class = ir::facts(op.opcode).op_class;
    const bool is_memory = op.opcode == ir::Opcode::Load || op.opcode == ir::Opcode::Yield;
    const bool is_computing =
        ir::is_elementwise(op.opcode) || op_class == ir::OpClass::Source || op_class == ir::OpClass::Shape;
    if (ir::is_dot(op.opcode) && accumulated.count(&op) == 0)
      return Objection{&op, "its body has a dot that is not added to a carried value"};
    if (!ir::is_dot(op.opcode) && !is_memory && !is_computing)
      return Objection{&op, fmt::format("its body has a {}", ir::facts(op.opcode).name)};
  }
  return std::nullopt;
}

Decision<StreamedLoop> Finder::find_loads(const EarlyScalars *early) {
  if (std::optional<Objection> objection = head())
    return *objection;
  StreamedLoop result{&loop_, *induction_.step(), loop_.integer("stages"), {}, {}, {}, {}};
  if (early) {
    result.lookups = early->lookups();
    result.address_ops = early->address_ops();
  }
  for (const ir::Op &op : body_.ops)
    if (op.results.size() == 1 && ir::facts(op.opcode).op_class == ir::OpClass::Compare &&
        induction_.varies(op.result()))
      if (auto condition = induction_.condition(op.result())) {
        conditions_.insert(op.result());
        result.conditions.emplace_back(op.result(), *condition);
      }
  for (const ir::Op &op : body_.ops)
    if (op.opcode == ir::Opcode::Load && !(early && early->is_lookup(op))) {
      Decision<StreamedLoad> found = load(op, early);
      if (!found)
        return found.objection();
      result.loads.push_back(std::move(*found));
    }
  return result;
}

Decision<StreamingLoop> Finder::find() {
  if (std::optional<Objection> objection = head())
    return *objection;
  if (loop_.results.empty())
    return Objection{&loop_, "it carries no sum of dots"};
  StreamingLoop result;
  for (size_t i = 0; i < loop_.results.size(); ++i) {
    Decision<DotAccumulator> found = accumulator(i);
    if (!found)
      return found.objection();
    result.accumulators.push_back(std::move(*found));
  }
  if (std::optional<Objection> objection = only_loads_and_computes(result))
    return *objection;
  Decision<StreamedLoop> loads = find_loads(nullptr);
  if (!loads)
    return loads.objection();
  static_cast<StreamedLoop &>(result) = std::move(*loads);
  return result;
}

} // namespace

Decision<StreamedLoop> find_streamed_loop(const FunctionIndex &index, const AxisAnalysis &axes,
                                          const ir::Op &loop) {
  const EarlyScalars early(index, loop);
  return Finder(index, axes, loop).find_loads(&early);
}

Decision<StreamingLoop> find_streaming_loop(const FunctionIndex &index, const AxisAnalysis &axes,
                                            const ir::Op &loop) {
  return Finder(index, axes, loop).find();
}

} // namespace nereid::codegen
