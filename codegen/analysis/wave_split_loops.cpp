// Which loops accumulate dots, so that each wave can run iterations of its own.
#include "codegen/analysis/wave_split_loops.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

/// Needs no other wave and is seen by none.
bool is_private(const ir::Op &op) {
  switch (op.opcode) {
  case ir::Opcode::Load:
  case ir::Opcode::Dot:
  case ir::Opcode::DotScaled:
  case ir::Opcode::Quantize:
  case ir::Opcode::Assume:
  case ir::Opcode::Yield:
    return true;
  default: {
    ir::OpClass op_class = ir::facts(op.opcode).op_class;
    return ir::is_elementwise(op.opcode) || op_class == ir::OpClass::Source || op_class == ir::OpClass::Shape;
  }
  }
}

/// In LDS, where the waves' accumulators of the whole tile meet.
bool accumulators_have_room(const ir::Function &function, ir::ValueId sum) {
  return function.type(sum).count() * 4 * function.options.waves <= cost::max_split_accumulator_bytes;
}

/// Why the iterations of a loop cannot be split.
std::optional<Objection> objection(const FunctionIndex &index, const ir::Op &loop) {
  if (loop.results.empty())
    return Objection{&loop, "it carries no sum"};
  for (size_t i = 0; i < loop.results.size(); ++i)
    if (!accumulated_dot(index, loop, i))
      return Objection{&loop, fmt::format("it carries a value, {}, that is not only a sum of dots",
                                          index.function().type(loop.results[i]).text())};
  for (const ir::Op &op : loop.blocks.front().ops)
    if (!is_private(op))
      return Objection{&op, fmt::format("it has a {} in its body", ir::facts(op.opcode).name)};
  return std::nullopt;
}

/// Waves that share columns split the quantisation of A's rows among themselves, but for an odd factor beside
/// few rows: then more rows than elsewhere are worth it.
bool quantizes_odd_rows(const ir::Function &function, const ir::Op &loop, int64_t rows) {
  const std::vector<ir::Op> &body = loop.blocks.front().ops;
  return rows <= cost::max_odd_split_rows && rows % cost::shared_quantize_rows != 0 &&
         std::any_of(body.begin(), body.end(), [&](const ir::Op &op) {
           return op.opcode == ir::Opcode::Quantize && function.type(op.operands[0]).shape[0] == rows;
         });
}

bool pays(const ir::Function &function, const ir::Op &loop) {
  return std::all_of(loop.results.begin(), loop.results.end(), [&](ir::ValueId sum) {
    const int64_t rows = function.type(sum).shape[0];
    return accumulators_have_room(function, sum) &&
           (rows <= cost::max_split_rows || quantizes_odd_rows(function, loop, rows));
  });
}

/// Whether a loop has a dot that is as small as those of loops that are split.
bool has_small_dot(const ir::Function &function, const ir::Op &loop) {
  const std::vector<ir::Op> &body = loop.blocks.front().ops;
  return std::any_of(body.begin(), body.end(), [&](const ir::Op &op) {
    return ir::is_dot(op.opcode) && accumulators_are_small(function, op.result());
  });
}

} // namespace

bool accumulators_are_small(const ir::Function &function, ir::ValueId sum) {
  return function.type(sum).shape[0] <= cost::max_split_rows && accumulators_have_room(function, sum);
}

const ir::Op *accumulated_dot(const FunctionIndex &index, const ir::Op &loop, size_t number) {
  const ir::Block &body = loop.blocks.front();
  ir::ValueId sum = body.arguments[number + 1];
  const ir::Op *first = nullptr;
  while (index.uses(sum) == 1) {
    const ir::Op &user = *index.user(sum);
    if (index.block(user) != &body)
      return nullptr;
    if (user.opcode == ir::Opcode::Yield)
      return user.operands[number] == sum ? first : nullptr;
    if (user.opcode != ir::Opcode::Add)
      return nullptr;
    const ir::Op *dot = index.definition(user.operands[user.operands[0] == sum ? 1 : 0]);
    if (!dot || !ir::is_dot(dot->opcode) || index.block(*dot) != &body)
      return nullptr;
    first = first ? first : dot;
    sum = user.result();
  }
  return nullptr;
}

Result<WaveSplitCandidates> find_wave_split_loops(const FunctionIndex &index) {
  const ir::Function &function = index.function();
  const ir::CompileOptions &options = function.options;
  WaveSplitCandidates found;
  const bool wanted = options.wave_split == ir::WaveSplit::K;
  if (options.waves == 1 || (options.wave_split != ir::WaveSplit::Auto && !wanted))
    return found;
  std::optional<Error> refused;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (op.opcode != ir::Opcode::For)
      return;
    const std::optional<Objection> why = objection(index, op);
    if (!why && (wanted || pays(function, op)))
      found.loops.add(op.blocks.front());
    if (!why)
      return;
    if (!refused)
      refused = wave_split_error(function, {&op, *why});
    if (wanted || has_small_dot(function, op))
      found.refused.push_back({&op, *why});
  });
  if (!wanted || !found.loops.empty())
    return found;
  return refused.value_or(
      user_error("wave_split=k has no loop whose iterations it could split over the waves",
                 "use wave_split=auto, or a loop over K"));
}

Error wave_split_error(const ir::Function &function, const WholeLoop &whole) {
  return user_error(fmt::format("wave_split=k cannot split the iterations of this loop over the waves: {}",
                                whole.objection.reason),
                    "use wave_split=auto", function.location(*whole.loop));
}

} // namespace nereid::codegen
