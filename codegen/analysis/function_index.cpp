// Definitions, users, regions and lines of a function's values and operations.
#include "codegen/analysis/function_index.h"

#include <algorithm>

namespace nereid::codegen {

static bool can_be_recomputed(ir::Opcode opcode) {
  switch (ir::facts(opcode).op_class) {
  case ir::OpClass::Source:
  case ir::OpClass::Shape:
    return true;
  default:
    return ir::is_elementwise(opcode);
  }
}

void FunctionIndex::note_block(const ir::Block &block) {
  for (const ir::Op &op : block.ops) {
    blocks_[&op] = &block;
    for (const ir::Block &inner : op.blocks)
      note_block(inner);
  }
}

/// Forward over operations and regions to a fixpoint: loops carry values backwards.
void FunctionIndex::note_dots() {
  bool changed = true;
  auto mark = [&](ir::ValueId value) {
    changed = changed || !from_dot_[value];
    from_dot_[value] = true;
  };
  while (changed) {
    changed = false;
    ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
      for (size_t i = 0; i < op.results.size(); ++i)
        for (const ir::Block &block : op.blocks)
          if (const ir::CarriedPlaces places = ir::carried_places(op.opcode);
              from_dot_[block.ops.back().operands[places.yields + i]]) {
            mark(op.results[i]);
            if (ir::is_loop(op.opcode))
              mark(block.arguments[places.arguments + i]);
          }
      if (ir::is_dot(op.opcode) ||
          std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return from_dot_[v]; }))
        for (ir::ValueId result : op.results)
          mark(result);
    });
  }
}

FunctionIndex::FunctionIndex(const ir::Function &function)
    : function_(function), definition_(function.value_types.size()), user_(function.value_types.size()),
      uses_(function.value_types.size()), rematerialisable_(function.value_types.size()),
      from_dot_(function.value_types.size()) {
  note_block(function.body);
  for (size_t v = 0; v < function.value_types.size(); ++v)
    rematerialisable_[v] = function.value_types[v].rank() == 0;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned line) {
    lines_[&op] = line;
    for (ir::ValueId operand : op.operands) {
      ++uses_[operand];
      user_[operand] = &op;
    }
    const bool is_pure =
        can_be_recomputed(op.opcode) && std::all_of(op.operands.begin(), op.operands.end(),
                                                    [&](ir::ValueId v) { return rematerialisable_[v]; });
    for (ir::ValueId result : op.results) {
      definition_[result] = &op;
      rematerialisable_[result] = rematerialisable_[result] || is_pure;
    }
  });
  note_dots();
}

bool is_view(const FunctionIndex &index, ir::ValueId value) {
  const ir::Op *op = index.definition(value);
  return op && ir::facts(op->opcode).op_class == ir::OpClass::Shape;
}

std::optional<ir::ValueId> viewed_value(const FunctionIndex &index, ir::ValueId value) {
  const ir::Op *op = index.definition(value);
  const bool whole = is_view(index, value) && op->operands.size() == 1 && op->results.size() == 1;
  return whole ? std::optional(op->operands[0]) : std::nullopt;
}

std::optional<ir::ValueId> argument_of(const FunctionIndex &index, ir::ValueId pointer) {
  for (const ir::Op *op = index.definition(pointer);
       op && (op->opcode == ir::Opcode::PtrAdd || ir::facts(op->opcode).op_class == ir::OpClass::Shape);
       op = index.definition(pointer))
    pointer = op->operands[0];
  for (const ir::Argument &argument : index.function().arguments)
    if (argument.value == pointer)
      return pointer;
  return std::nullopt;
}

std::optional<ir::ValueId> small_buffer_of(const FunctionIndex &index, ir::ValueId pointer) {
  while (const ir::Op *op = index.definition(pointer)) {
    if (op->opcode != ir::Opcode::PtrAdd && !viewed_value(index, pointer))
      return std::nullopt;
    pointer = op->operands[0];
  }
  for (const ir::Argument &argument : index.function().arguments)
    if (argument.value == pointer && argument.pointer_range == 32)
      return pointer;
  return std::nullopt;
}

} // namespace nereid::codegen
