#pragma once

#include <llvm/Support/JSON.h>

#include "inspect/compare.h"
#include "inspect/report.h"

namespace nereid::inspect {

/// The report as docs/inspect.md describes it.
llvm::json::Object json_value(const Report &report);
llvm::json::Object json_value(const Comparison &comparison);

} // namespace nereid::inspect
