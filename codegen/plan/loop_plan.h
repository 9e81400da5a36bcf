#pragma once

#include <optional>
#include <variant>

#include "codegen/plan/defined_layouts.h"
#include "codegen/schedule/lds_pipeline.h"
#include "codegen/schedule/lds_prefetch.h"
#include "codegen/schedule/prefetch_plan.h"

namespace nereid::codegen {

/// One iteration after the other.
struct SequentialLoop {};

/// How one loop runs.
struct LoopPlan {
  const ir::Op *op;
  bool is_split_over_waves = false;
  std::variant<SequentialLoop, PrefetchPlan, LdsPrefetch, LdsPipeline> schedule;
  /// What speaks against the schedules that it does not have.
  std::optional<Objection> no_lds_pipeline, no_prefetch;
};

/// What plans of loops depend on.
struct LoopFacts {
  const FunctionIndex &index;
  const AxisAnalysis &axes;
  const ValueRanges &ranges;
  const LayoutChoice &layouts;
};

/// An LDS pipeline where there can be one, else LDS prefetch, if the loop is not one of sums of dots alone,
/// else register prefetch, else one iteration after the other.
LoopPlan plan_loop(const LoopFacts &facts, const ir::Op &loop);

/// Objections of all kinds: the loop does other things, an operand or a value in its body cannot be had
/// without the other waves, it does not fit.
Decision<LdsPipeline> find_lds_pipeline(const LoopFacts &facts, const ir::Op &loop);

/// What in a loop's body needs other waves, in the layouts of a loop that is split over them; nothing if each
/// wave can run iterations of its own.
std::optional<Objection> need_of_other_waves(const LoopFacts &facts, const ir::Op &loop);

} // namespace nereid::codegen
