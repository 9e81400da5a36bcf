#pragma once

#include "codegen/lds_pipeline/accumulators.h"

namespace nereid::codegen {

/// Emits the iterations of an LDS pipeline in which masks differ between elements, one at a time.
void emit_remainder(PipelineState &state, Accumulators &accumulators);

} // namespace nereid::codegen
