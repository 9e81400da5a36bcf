// The kinds of instructions in the order in which a mix is shown.
#include <array>

#include "inspect/render/render.h"

namespace nereid::inspect {

std::span<const Kind> kinds() {
  static constexpr std::array<Kind, 12> all = {{{"mfma", "MFMA"},
                                                {"valu", "VALU"},
                                                {"salu", "SALU"},
                                                {"lds", "LDS"},
                                                {"vmem_load", "loads"},
                                                {"vmem_store", "stores"},
                                                {"vmem_atomic", "atomics"},
                                                {"smem", "scalar loads"},
                                                {"waitcnt", "waits"},
                                                {"barrier", "barriers"},
                                                {"branch", "branches"},
                                                {"other", "other"}}};
  return all;
}

} // namespace nereid::inspect
