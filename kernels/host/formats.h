#pragma once

#include <cstdint>

/// The number formats of the MX kernels as plain host arithmetic. This folder is the reference against which
/// kernels are checked: it shares no code with the interpreter, the compiler or the simulator.
namespace nereid::kernels::host {

/// Elements that share one scale, consecutive along K.
inline constexpr int64_t group_size = 32;

/// The value of a bf16 bit pattern (exact).
float bf16_to_float(uint16_t bits);

/// The bf16 nearest to a value, ties to even; overflow gives an infinity, NaN stays NaN.
uint16_t bf16_from_float(float value);
/// As above, rounded once from double precision.
uint16_t bf16_from_double(double value);

/// The value of an e2m1 code: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives (bit 3).
float e2m1_to_float(uint8_t code);

/// The e2m1 code nearest to a value, ties to the even code, at most 6 in magnitude; the sign of zero stays.
/// NaN gives code 7 with its sign.
uint8_t e2m1_from_double(double value);

/// The value of an e8m0 byte: 2^(byte - 127), NaN for 255.
double e8m0_to_double(uint8_t byte);

} // namespace nereid::kernels::host
