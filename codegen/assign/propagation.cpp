// Layouts from value to value: backwards to operands, forwards to results, and between values that go through
// a loop or branch together.
#include "codegen/assign/propagation.h"

#include <algorithm>
#include <unordered_set>

#include "codegen/assign/buffer_access.h"
#include "codegen/assign/layout_request.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/assign/operand_layout.h"
#include "codegen/assign/quantize_layout.h"
#include "codegen/assign/transposed_read.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/target/cost_model.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

bool is_reduction(const ir::Op &op) { return ir::facts(op.opcode).op_class == ir::OpClass::Reduce; }

/// Where accesses may start, for the choice of layouts. Writes take values as they lie: that they may be wide
/// anywhere is no reason for another layout.
AccessStart start_for_layout(const ir::Op &op) {
  return is_write(op) ? AccessStart::Aligned : access_start(op);
}

bool keeps_layout(const ir::Op &op) {
  return ir::is_elementwise(op.opcode) || ir::facts(op.opcode).op_class == ir::OpClass::Scan;
}

} // namespace

bool is_write(const ir::Op &op) {
  return ir::facts(op.opcode).op_class == ir::OpClass::Memory &&
         ir::facts(op.opcode).effect == ir::OpEffect::Effect;
}

Propagation::Propagation(const FunctionIndex &index, const AxisAnalysis &axes, ColumnsOfRows columns,
                         LayoutChoice &choice)
    : index_(index), function_(index.function()), axes_(axes), columns_(columns), choice_(choice),
      butterflies_(index), definition_(function_.value_types.size()), users_(function_.value_types.size()) {
  choice_.assigned.resize(function_.value_types.size());
  ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
    for (ir::ValueId operand : op.operands)
      users_[operand].push_back(ops_.size());
    for (ir::ValueId result : op.results)
      definition_[result] = ops_.size();
    ops_.push_back(&op);
    if (op.opcode == ir::Opcode::For && op.has("stages") && op.integer("stages") > 1)
      staged_.insert(&op.blocks.front());
  });
  for (const ir::Op *op : ops_)
    link(*op);
}

void Propagation::link(const ir::Op &op) {
  if (!ir::is_loop(op.opcode) && op.opcode != ir::Opcode::If)
    return;
  const ir::CarriedPlaces places = ir::carried_places(op.opcode);
  const auto prefer = [&](ir::ValueId result, ir::ValueId other) {
    prefer_match_[result].push_back(other);
    users_[other].push_back(*definition_[result]);
  };
  for (size_t i = 0; i < op.results.size(); ++i) {
    for (const ir::Block &block : op.blocks)
      if (!choice_.wave_split.contains(block))
        prefer(op.results[i], block.ops.back().operands[places.yields + i]);
    if (ir::is_loop(op.opcode) && !choice_.wave_split.contains(op.blocks[0])) {
      const ir::ValueId carried = op.blocks[0].arguments[places.arguments + i];
      must_match_[op.results[i]].push_back(carried);
      must_match_[carried].push_back(op.results[i]);
      prefer(op.results[i], op.operands[places.inits + i]);
    }
  }
}

bool Propagation::is_open(ir::ValueId value) const {
  return !index_.is_rematerialisable(value) && !is_view(index_, value) && !choice_.assigned[value];
}

std::optional<LinearLayout> Propagation::known(ir::ValueId value) const {
  std::vector<const ir::Op *> views;
  for (; !choice_.assigned[value]; value = views.back()->operands[0]) {
    if (!is_view(index_, value))
      return std::nullopt;
    views.push_back(index_.definition(value));
  }
  std::optional<LinearLayout> layout = choice_.assigned[value];
  for (auto view = views.rbegin(); view != views.rend() && layout; ++view)
    layout = result_layout(function_, **view, *layout);
  return layout;
}

void Propagation::assign(ir::ValueId value, const LinearLayout &layout) {
  std::vector<Pending> stack;
  set(value, layout, stack);
  carry_out(std::move(stack));
}

void Propagation::suggest(ir::ValueId value, const LinearLayout &layout) {
  carry_out({{value, layout, false}});
}

/// Depth first, and each list in its order: the first layout that reaches a value is the one that it keeps. A
/// view that is asked for one layout twice has passed it on.
void Propagation::carry_out(std::vector<Pending> stack) {
  std::unordered_set<LayoutRequest, LayoutRequestHash> asked_views;
  while (!stack.empty()) {
    const Pending next = std::move(stack.back());
    stack.pop_back();
    if (!next.must && is_view(index_, next.value) && !asked_views.insert({next.value, next.layout}).second)
      continue;
    if (!next.must)
      take(next.value, next.layout, stack);
    else if (is_open(next.value))
      set(next.value, next.layout, stack);
  }
}

void Propagation::take(ir::ValueId value, const LinearLayout &suggested, std::vector<Pending> &stack) {
  if (index_.is_rematerialisable(value))
    return;
  const ir::Op *op = index_.definition(value);
  if (is_view(index_, value)) {
    const bool in_chain = butterflies_.contains(*op);
    for (auto i = static_cast<unsigned>(op->operands.size()); i-- > 0;) {
      const LinearLayout wanted = operand_layout(function_, *op, i, suggested);
      stack.push_back({op->operands[i], in_chain ? butterfly_layout(*op, wanted) : wanted, false});
    }
    return;
  }
  if (choice_.assigned[value])
    return;
  const LinearLayout layout = suggested.without_register_broadcast();
  if (op && is_write(*op))
    return set(value, coalesced(*op), stack);
  if (op && is_reduction(*op)) {
    const auto axis = static_cast<unsigned>(op->integer("axis"));
    for (auto operand = op->operands.rbegin(); !from_stores_ && operand != op->operands.rend(); ++operand)
      stack.push_back({*operand, reduce_operand(layout, axis, function_.type(*operand).shape[axis]), false});
    return;
  }
  set(value, op && op->opcode == ir::Opcode::Load ? layout_of_load(*op, layout) : layout, stack);
}

/// Transposing reads are for LDS pipelines; where a loop comes to be none, layouts are chosen anew.
LinearLayout Propagation::layout_of_load(const ir::Op &load, const LinearLayout &wanted) const {
  const bool may_transpose = columns_ == ColumnsOfRows::TransposedReads && !from_stores_ &&
                             !is_wave_split(load) && staged_.count(index_.block(load)) != 0;
  return may_transpose && wants_transposed_reads(function_, axes_, load, wanted) ? wanted
                                                                                 : or_coalesced(load, wanted);
}

void Propagation::set(ir::ValueId value, const LinearLayout &layout, std::vector<Pending> &stack) {
  choice_.assigned[value] = layout;
  mark_neighbours(value);
  const auto push = [&](const auto &matches, bool must) {
    if (const auto found = matches.find(value); found != matches.end())
      for (auto other = found->second.rbegin(); other != found->second.rend(); ++other)
        stack.push_back({*other, layout, must});
  };
  push(prefer_match_, false);
  push(must_match_, true);
}

/// What makes the value, and what uses it, also through views.
void Propagation::mark_neighbours(ir::ValueId value) {
  if (definition_[value])
    backward_.insert(*definition_[value]);
  std::vector<ir::ValueId> with_layout = {value};
  std::unordered_set<ir::ValueId> seen;
  while (!with_layout.empty()) {
    const ir::ValueId next = with_layout.back();
    with_layout.pop_back();
    if (!seen.insert(next).second)
      continue;
    for (size_t user : users_[next]) {
      forward_.insert(user);
      const ir::Op &op = *ops_[user];
      if (ir::facts(op.opcode).op_class == ir::OpClass::Shape)
        with_layout.insert(with_layout.end(), op.results.begin(), op.results.end());
    }
  }
}

/// Sweeps over the marked operations, down to the first and up to the last.
void Propagation::to_fixpoint() {
  while (!backward_.empty() || !forward_.empty()) {
    size_t above = ops_.size();
    for (auto next = backward_.lower_bound(above); next != backward_.begin();
         next = backward_.lower_bound(above)) {
      above = *--next;
      backward_.erase(next);
      at(*ops_[above]);
      backward(*ops_[above]);
    }
    size_t from = 0;
    for (auto next = forward_.lower_bound(from); next != forward_.end(); next = forward_.lower_bound(from)) {
      from = *next + 1;
      const ir::Op &op = *ops_[*next];
      forward_.erase(next);
      at(op);
      forward(op);
    }
  }
}

void Propagation::backward(const ir::Op &op) {
  if (op.opcode == ir::Opcode::Quantize) {
    const bool is_wanted =
        choice_.assigned[op.results[0]] || (from_stores_ && choice_.assigned[op.results[1]]);
    if (is_wanted && !choice_.quantize_operands.count(&op))
      assign_quantize(op);
    return;
  }
  if (op.results.empty() || !choice_.assigned[op.result()])
    return;
  const bool is_memory = ir::facts(op.opcode).op_class == ir::OpClass::Memory;
  if (is_memory || keeps_layout(op))
    for (ir::ValueId operand : op.operands)
      suggest(operand, choice_.layout(op.result()));
}

void Propagation::forward(const ir::Op &op) {
  if (is_reduction(op)) {
    for (ir::ValueId result : op.results)
      if (auto operand = is_open(result) ? known(op.operands[0]) : std::nullopt)
        assign(result, reduce(*operand, static_cast<unsigned>(op.integer("axis"))));
    return;
  }
  if (keeps_layout(op)) {
    for (ir::ValueId operand : op.operands)
      for (ir::ValueId result : op.results)
        if (auto layout = is_open(result) ? known(operand) : std::nullopt)
          assign(result, *layout);
    return;
  }
  for (ir::ValueId result : op.results)
    if (const auto others = prefer_match_.find(result); others != prefer_match_.end() && is_open(result))
      for (ir::ValueId value : others->second)
        if (auto layout = known(value)) {
          assign(result, *layout);
          break;
        }
}

void Propagation::assign_quantize(const ir::Op &op) {
  const ir::ValueId codes = op.results[0], scales = op.results[1];
  QuantizeRequest request{
      choice_.assigned[codes], {}, known(op.operands[0]), from_stores_, is_wave_split(op)};
  if (from_stores_)
    request.scales = choice_.assigned[scales];
  QuantizeLayouts layouts = choose_quantize_layouts(function_, op, request);
  if (layouts.is_shared)
    choice_.shared_quantizes.insert(&op);
  for (auto [value, layout] : {std::pair{codes, &layouts.codes}, {scales, &layouts.scales}}) {
    choice_.assigned[value] = std::move(*layout);
    mark_neighbours(value);
  }
  const LinearLayout &operand = choice_.quantize_operands[&op] = std::move(layouts.operand);
  suggest(op.operands[0], operand);
}

void Propagation::assign_butterfly_joins() {
  for (const ir::Op *join : butterflies_.joins())
    if (const std::optional<LinearLayout> layout = known(join->result()))
      choice_.assigned[join->result()] = layout->without_register_broadcast();
}

void Propagation::begin_stores() {
  from_stores_ = true;
  for (size_t n = 0; n < ops_.size(); ++n)
    if (ops_[n]->opcode == ir::Opcode::Quantize)
      backward_.insert(n);
}

LinearLayout Propagation::for_waves(const ir::Op &op,
                                    const std::function<LinearLayout(int waves)> &make) const {
  const int waves = function_.options.waves;
  return is_wave_split(op) ? in_every_wave(make(1), waves) : make(waves);
}

LinearLayout Propagation::coalesced(const ir::Op &op) const {
  const ir::Type &type = function_.type(op.operands[0]);
  return for_waves(op, [&](int waves) {
    return coalesced_layout(type.shape, axes_[op.operands[0]], mask_of(op), ir::byte_size(type.element),
                            waves, start_for_layout(op));
  });
}

LinearLayout Propagation::or_coalesced(const ir::Op &op, const LinearLayout &layout) const {
  const unsigned bytes = ir::byte_size(function_.type(op.operands[0]).element);
  const auto access_bytes = [&](const LinearLayout &of) {
    return vector_access(of, axes_[op.operands[0]], mask_of(op), bytes, start_for_layout(op)).elements() *
           bytes;
  };
  LinearLayout own = coalesced(op);
  const unsigned got = access_bytes(layout), best = access_bytes(own);
  return got < gfx950::access_alignment && best >= cost::access_gain * got ? own : layout;
}

const AxisInfo *Propagation::mask_of(const ir::Op &op) const {
  const std::optional<size_t> mask = mask_operand(op);
  return mask ? &axes_[op.operands[*mask]] : nullptr;
}

} // namespace nereid::codegen
