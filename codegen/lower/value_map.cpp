// Where each value is: defined in a layout, or made in the layout that is wanted.
#include "codegen/lower/value_map.h"

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/operand_layout.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/pure_ops.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

void ValueMap::define(ir::ValueId value, LinearLayout layout, Registers registers) {
  defined_[value] = {std::move(layout), std::move(registers)};
}

void ValueMap::define_scalar(ir::ValueId value, llvm::Value *scalar) {
  define(value, LinearLayout(), {scalar});
}

void ValueMap::define_result(ir::ValueId value, LinearLayout layout, Registers registers) {
  if (context_.type(value).rank() == 0)
    define_scalar(value, to_scalar_registers(context_.builder, registers[0]));
  else
    define(value, std::move(layout), std::move(registers));
}

std::optional<Registers> ValueMap::find(const LayoutRequest &request) const {
  const auto &[value, layout] = request;
  if (context_.type(value).rank() == 0)
    return Registers(layout.registers(), scalar(value));
  if (const Registers *known = cache_.registers(value, layout))
    return *known;
  if (llvm::Value *splat = cache_.splat(value))
    return Registers(layout.registers(), splat);
  return std::nullopt;
}

Registers ValueMap::get(ir::ValueId value, const LinearLayout &layout) {
  const LayoutRequest wanted{value, layout};
  if (std::optional<Registers> known = find(wanted))
    return *std::move(known);
  return make_in_post_order(
      wanted, [this](const LayoutRequest &request) { return find(request); },
      [this](const LayoutRequest &request) { return open(request); },
      [this](const Request &request) { return finish(request); });
}

/// Broadcast registers are made of single ones. What an operation makes where it is wanted stands under its
/// own line.
ValueMap::Request ValueMap::open(const LayoutRequest &wanted) {
  const auto &[value, layout] = wanted;
  Request request{{wanted}};
  if (layout.has_register_broadcast()) {
    request.inputs.push_back({value, layout.without_register_broadcast()});
  } else if (!defined_.count(value)) {
    const ir::Op &op = *context_.plan.index.definition(value);
    for (unsigned i = 0; i < op.operands.size(); ++i)
      request.inputs.push_back({op.operands[i], wanted_layout(context_.function(), op, i, layout)});
    request.op = &op;
    request.asking = context_.current();
    context_.set_line(op);
  }
  return request;
}

Registers ValueMap::finish(const Request &request) {
  const auto &[value, layout] = request.wanted;
  Registers registers;
  if (request.op) {
    const unsigned result = request.op->results[0] == value ? 0 : 1;
    registers = emit_pure(context_, *request.op, result, layout, request.results);
    if (request.asking)
      context_.set_line(*request.asking);
  } else if (!request.inputs.empty()) {
    for (uint32_t source : broadcast_sources(layout, request.inputs[0].layout))
      registers.push_back(request.results[0][source]);
  } else {
    const Tile &tile = defined_.at(value);
    registers =
        tile.layout == layout ? tile.registers : exchange_.convert(tile.registers, tile.layout, layout);
  }
  cache_.add(value, layout, registers);
  return registers;
}

Registers ValueMap::compute(const ir::Op &op, unsigned result, const LinearLayout &layout) {
  std::vector<Registers> operands;
  operands.reserve(op.operands.size());
  for (unsigned i = 0; i < op.operands.size(); ++i)
    operands.push_back(get(op.operands[i], wanted_layout(context_.function(), op, i, layout)));
  return emit_pure(context_, op, result, layout, operands);
}

/// Down through the views to a value that has a layout, then up again.
LinearLayout ValueMap::available_layout(ir::ValueId value) const {
  const FunctionIndex &index = context_.plan.index;
  std::vector<const ir::Op *> views;
  while (!defined_.count(value) && is_view(index, value) && !index.is_rematerialisable(value)) {
    views.push_back(index.definition(value));
    value = views.back()->operands[0];
  }
  const auto own = [&](ir::ValueId v) {
    return default_layout(context_.type(v).shape, context_.function().options.waves);
  };
  auto defined = defined_.find(value);
  LinearLayout layout =
      defined == defined_.end() ? own(value) : defined->second.layout.without_register_broadcast();
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    auto viewed = result_layout(context_.function(), **view, layout);
    layout =
        viewed && viewed->is_surjective() ? viewed->without_register_broadcast() : own((*view)->results[0]);
  }
  return layout;
}

} // namespace nereid::codegen
