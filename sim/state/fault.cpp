// The words by which launch files and answers name the kinds of fault.

#include "sim/state/fault.h"

namespace nereid::sim {

const char *fault_kind_name(FaultKind kind) {
  static constexpr const char *names[] = {"out_of_bounds", "undefined",  "race_lds",    "race_global",
                                          "wait",          "misaligned", "hazard",      "barrier",
                                          "nan_scale",     "budget",     "unsupported", "trap"};
  return names[static_cast<unsigned>(kind)];
}

} // namespace nereid::sim
