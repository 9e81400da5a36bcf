#include "sim/simd.h"

#include <cstdlib>
#include <string_view>

namespace nereid::sim {

namespace {

bool host_has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

} // namespace

Simd default_simd() {
  const char *asked = std::getenv("NEREID_SIM_SIMD");
  if (asked && std::string_view(asked) == "portable")
    return Simd::Portable;
  return host_has_avx2() ? Simd::Avx2 : Simd::Portable;
}

void use_simd(Simd simd) {
  detail::simd_in_use = simd == Simd::Avx2 && host_has_avx2() ? Simd::Avx2 : Simd::Portable;
}

namespace detail {
Simd simd_in_use = default_simd();
}

} // namespace nereid::sim
