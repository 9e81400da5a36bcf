# Writes OUTPUT, a C++ source with digests of the archives that decide what code comes out: LLD, and CODE (a comma-separated
# list of Nereid's own); and of SIMULATOR. A cached kernel is stale when one of the former changed, a simulated time when one of all.
file(SHA256 ${LLD} lld_digest)
file(SHA256 ${SIMULATOR} simulator_digest)
string(REPLACE "," ";" CODE ${CODE})
set(all "")
foreach(archive IN LISTS CODE)
  file(SHA256 ${archive} digest)
  string(APPEND all ${digest})
endforeach()
string(SHA256 code_digest "${all}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "jit/compile/digests.h"

namespace nereid::jit {
const char *const nereid_version = "@VERSION@";
const char *const lld_digest = "@lld_digest@";
const char *const code_digest = "@code_digest@";
const char *const simulator_digest = "@simulator_digest@";
} // namespace nereid::jit
]] @ONLY)
