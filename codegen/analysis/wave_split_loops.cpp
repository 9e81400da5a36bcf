#include "codegen/analysis/wave_split_loops.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

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

constexpr int64_t few_rows = 32;

/// In LDS, where the waves' sums of the whole tile meet.
bool accumulators_have_room(const ir::Function &function, ir::ValueId sum) {
  constexpr int64_t max_bytes = 64 * 1024;
  return function.type(sum).count() * 4 * function.options.waves <= max_bytes;
}

/// Why the rounds of a loop cannot be dealt.
std::optional<std::string> objection(const FunctionIndex &index, const ir::Op &loop) {
  if (loop.results.empty())
    return "carries no sum";
  for (size_t i = 0; i < loop.results.size(); ++i)
    if (!accumulated_dot(index, loop, i))
      return fmt::format("carries a value (number {}) that is not only a sum of products", i);
  for (const ir::Op &op : loop.blocks.front().ops)
    if (!is_private(op))
      return fmt::format("has a {} in its body", ir::facts(op.opcode).name);
  return std::nullopt;
}

/// Waves that share columns deal the quantisation of A's rows among themselves, but for an odd factor beside
/// few rows: then more rows than elsewhere are worth it.
bool quantizes_odd_rows(const ir::Function &function, const ir::Op &loop, int64_t rows) {
  constexpr int64_t max_rows = 128, shared_rows = 32;
  const std::vector<ir::Op> &body = loop.blocks.front().ops;
  return rows <= max_rows && rows % shared_rows != 0 &&
         std::any_of(body.begin(), body.end(), [&](const ir::Op &op) {
           return op.opcode == ir::Opcode::Quantize && function.type(op.operands[0]).shape[0] == rows;
         });
}

bool pays(const ir::Function &function, const ir::Op &loop) {
  return std::all_of(loop.results.begin(), loop.results.end(), [&](ir::ValueId sum) {
    const int64_t rows = function.type(sum).shape[0];
    return accumulators_have_room(function, sum) &&
           (rows <= few_rows || quantizes_odd_rows(function, loop, rows));
  });
}

} // namespace

bool accumulators_are_small(const ir::Function &function, ir::ValueId sum) {
  return function.type(sum).shape[0] <= few_rows && accumulators_have_room(function, sum);
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
    const ir::Op *product = index.definition(user.operands[user.operands[0] == sum ? 1 : 0]);
    if (!product || !is_dot(*product) || index.block(*product) != &body)
      return nullptr;
    first = first ? first : product;
    sum = user.result();
  }
  return nullptr;
}

Result<WaveSplitLoops> find_wave_split_loops(const FunctionIndex &index) {
  const ir::Function &function = index.function();
  const ir::CompileOptions &options = function.options;
  WaveSplitLoops wave_split;
  bool wanted = options.wave_split == ir::WaveSplit::K;
  if (options.waves == 1 || (options.wave_split != ir::WaveSplit::Auto && !wanted))
    return wave_split;
  std::optional<Error> refused;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (op.opcode != ir::Opcode::For)
      return;
    std::optional<std::string> why = objection(index, op);
    if (!why && (wanted || pays(function, op)))
      wave_split.add(op.blocks.front());
    else if (why && !refused)
      refused = user_error(
          fmt::format("wave_split=k cannot deal the rounds of this loop to the waves: it {}", *why),
          "use wave_split=auto", function.place(op));
  });
  if (!wanted || !wave_split.empty())
    return wave_split;
  return refused.value_or(user_error("wave_split=k has no loop whose rounds it could deal to the waves",
                                     "use wave_split=auto, or a loop over K"));
}

} // namespace nereid::codegen
