#pragma once

#include <array>

#include "codegen/lower/exchange.h"

namespace nereid::codegen {

/// Of each register that of the wave whose number has a 0 in bit `bit`, and that of the wave which has a 1
/// there, the other bits being those of the own wave.
std::array<Registers, 2> both_waves(const EmitContext &context, ExchangeEmitter &exchange,
                                    const Registers &values, unsigned bit);

} // namespace nereid::codegen
