#pragma once

#include "sim/state/instruction.h"

namespace nereid::sim {

/// The wide side of a conversion from or to a format of at most 8 bits.
enum class Wide : uint8_t { F32, F16, Bf16 };

/// The handler of v_cvt_scalef32_pk_fp4_{f32,f16,bf16}, which quantisation kernels live on.
Handler pair_to_fp4(Wide wide);

} // namespace nereid::sim
