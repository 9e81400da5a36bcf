#pragma once

#include <cstdint>

namespace nereid::sim {

/// What instructions of the host the lanes are computed with. Results are the same to the bit, except that of
/// two NaN operands either may be handed on. Avx512 is for matrix products and conversions to fp4; other
/// lanes are computed as with Avx2.
enum class Simd : uint8_t { Portable, Avx2, Avx512 };

/// The best that the host has, or what the environment variable NEREID_SIM_SIMD ("portable", "avx2",
/// "avx512") asks for; less when the host has less.
Simd default_simd();

/// Chooses for all runs that start later, at most what the host has; not while one is going on.
void use_simd(Simd simd);

namespace detail {
extern Simd simd_in_use;
}
inline bool uses_avx2() { return detail::simd_in_use >= Simd::Avx2; }
inline bool uses_avx512() { return detail::simd_in_use == Simd::Avx512; }

} // namespace nereid::sim

/// A function compiled for hosts with AVX2; called only when uses_avx2().
#define NEREID_SIM_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
/// The same for AVX-512.
#define NEREID_SIM_AVX512                                                                                    \
  __attribute__((target("avx2,fma,f16c,bmi,bmi2,avx512f,avx512vl,avx512bw,avx512dq,"                         \
                        "prefer-vector-width=512")))
