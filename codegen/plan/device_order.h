#pragma once

#include <optional>
#include <unordered_set>

#include "codegen/analysis/objection.h"
#include "codegen/plan/loop_plan.h"

namespace nereid::codegen {

/// How the order that atomics of device scope give to other programs is made. Each XCD has an L2 of its own.
/// Either what takes part in the order is seen by all XCDs itself: a store that may come before a release
/// goes through to memory, a load that may follow an acquire comes from there (sc1). A release then is a
/// wait, an acquire nothing. Or fences write the whole L2 back and invalidate it, about a microsecond each.
struct DeviceOrder {
  bool has_atomics = false;                    ///< some atomic of device scope acquires or releases
  std::unordered_set<const ir::Op *> accesses; ///< loads and stores at device scope
  std::optional<Objection> fences;             ///< why fences it is; there are no accesses then
};

/// Whether an atomic is of device scope, and what it does there.
bool acquires_from_device(const ir::Op &op);
bool releases_to_device(const ir::Op &op);

/// Fences remain where loads would lose the L2 that want it: those of LDS pipelines, and those of inputs that
/// are loaded in a loop.
DeviceOrder plan_device_order(const FunctionIndex &index, const std::vector<LoopPlan> &loops);

} // namespace nereid::codegen
