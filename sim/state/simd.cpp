// Which vector instructions of the host are used.

#include "sim/state/simd.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"

namespace nereid::sim {

namespace {

Simd best_of_host() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return !avx2 ? Simd::Portable : avx512 ? Simd::Avx512 : Simd::Avx2;
}

} // namespace

Simd default_simd() {
  const char *variable = std::getenv("NEREID_SIM_SIMD");
  const std::string_view asked = variable ? variable : "";
  const Simd limit = asked == "portable" ? Simd::Portable : asked == "avx2" ? Simd::Avx2 : Simd::Avx512;
  if (limit == Simd::Avx512 && asked != "avx512" && !asked.empty())
    log(LogLevel::Warning,
        "NEREID_SIM_SIMD is '" + std::string(asked) + "': it is portable, avx2 or avx512 (taken here)");
  return std::min(limit, best_of_host());
}

void use_simd(Simd simd) { detail::simd_in_use = std::min(simd, best_of_host()); }

namespace detail {
Simd simd_in_use = default_simd();
}

} // namespace nereid::sim
