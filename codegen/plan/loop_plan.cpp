// How each loop runs, decided from layouts alone: what its body would have to exchange through LDS, and which
// schedule it gets.
#include "codegen/plan/loop_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/plan/conversions.h"

namespace nereid::codegen {

namespace {

/// The first conversion that goes through LDS.
std::optional<Objection> first_exchange(const ir::Function &function, const ConversionWalk &walk,
                                        const ConversionOptions &options) {
  for (const Conversion &conversion : walk.conversions()) {
    const Result<ConversionPlan> plan = plan_of(function, conversion, options);
    if (!plan || plan->kind == ConversionKind::Lds)
      return Objection{conversion.user,
                       fmt::format("a {} wants %{} as other lanes hold it, through LDS",
                                   ir::facts(conversion.user->opcode).name, conversion.wanted.value)};
  }
  return std::nullopt;
}

/// What keeps the computations of a streaming loop from being a straight block without effects, which can be
/// cloned into each stage.
std::optional<Objection> template_objection(const LoopFacts &facts, const StreamingLoop &loop) {
  const DefinedLayouts defined(facts.index, facts.layouts);
  ConversionWalk walk(facts.index, facts.axes, facts.layouts, defined);
  for (const ir::Op &op : loop.op->blocks.front().ops) {
    const bool adds_dot = std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId operand) {
      const ir::Op *definition = facts.index.definition(operand);
      return definition && ir::is_dot(definition->opcode);
    });
    if (op.opcode != ir::Opcode::Load && op.opcode != ir::Opcode::Yield && !adds_dot)
      walk.visit(op);
  }
  for (const ir::Op *op : walk.computed())
    if (op->opcode == ir::Opcode::InlineAsm || op->opcode == ir::Opcode::NumPrograms)
      return Objection{op, fmt::format("its body has a {}", ir::facts(op->opcode).name)};
  return first_exchange(facts.index.function(), walk,
                        conversion_options(facts.index.function().options, false));
}

/// Formats of 6 bits pass through LDS.
bool has_six_bits(const LayoutChoice &layouts, const ir::Op &op) {
  if (op.opcode == ir::Opcode::Quantize)
    return ir::facts(*ir::format_named(op.string("format"))).bits == 6;
  if (!ir::is_dot(op.opcode))
    return false;
  const DotPlan &plan = layouts.dots.at(&op);
  return plan.a.facts->has_six_bits() || plan.b.facts->has_six_bits();
}

} // namespace

std::optional<Objection> need_of_other_waves(const LoopFacts &facts, const ir::Op &loop) {
  const ir::Function &function = facts.index.function();
  const ir::Block &body = loop.blocks.front();
  for (const ir::Op &op : body.ops)
    if (has_six_bits(facts.layouts, op))
      return Objection{&op,
                       fmt::format("a {} of a format of 6 bits needs the LDS", ir::facts(op.opcode).name)};
  const DefinedLayouts defined(facts.index, facts.layouts);
  ConversionWalk walk(facts.index, facts.axes, facts.layouts, defined);
  walk.visit(body);
  return first_exchange(function, walk, conversion_options(function.options, true));
}

Decision<LdsPipeline> find_lds_pipeline(const LoopFacts &facts, const ir::Op &loop) {
  Decision<StreamingLoop> streaming = find_streaming_loop(facts.index, facts.axes, loop);
  if (!streaming)
    return streaming.objection();
  Decision<LdsPipeline> pipeline =
      plan_lds_pipeline(facts.index, facts.axes, facts.layouts, std::move(*streaming));
  if (pipeline)
    if (std::optional<Objection> objection = template_objection(facts, pipeline->loop))
      return *objection;
  return pipeline;
}

LoopPlan plan_loop(const LoopFacts &facts, const ir::Op &loop) {
  LoopPlan plan{&loop, facts.layouts.wave_split.contains(loop.blocks.front()), {}, {}, {}};
  Decision<LdsPipeline> pipeline = find_lds_pipeline(facts, loop);
  if (pipeline) {
    plan.schedule = std::move(*pipeline);
    return plan;
  }
  plan.no_lds_pipeline = pipeline.objection();
  if (!find_streaming_loop(facts.index, facts.axes, loop))
    if (Decision<LdsPrefetch> prefetch =
            plan_lds_prefetch(facts.index, facts.axes, facts.ranges, facts.layouts, loop)) {
      plan.schedule = std::move(*prefetch);
      return plan;
    }
  Decision<PrefetchPlan> prefetch = plan_prefetch(facts.index, facts.axes, facts.ranges, facts.layouts, loop);
  if (prefetch)
    plan.schedule = std::move(*prefetch);
  else
    plan.no_prefetch = prefetch.objection();
  return plan;
}

} // namespace nereid::codegen
