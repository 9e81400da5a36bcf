#pragma once

#include <cstdint>

namespace nereid::sim {

/// What instructions of the host the lanes are computed with. Results are the same to the bit, except that of
/// two NaN operands either may be handed on.
enum class Simd : uint8_t { Portable, Avx2 };

/// The best that the host has, or what the environment variable NEREID_SIM_SIMD ("portable", "avx2") asks for
/// when the host has it.
Simd default_simd();

/// Chooses for all runs that start later; not while one is going on.
void use_simd(Simd simd);

namespace detail {
extern Simd simd_in_use;
}
inline bool uses_avx2() { return detail::simd_in_use == Simd::Avx2; }

} // namespace nereid::sim

/// A function compiled for hosts with AVX2; called only when uses_avx2().
#define NEREID_SIM_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
