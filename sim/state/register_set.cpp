// Names of registers for messages.

#include "sim/state/register_set.h"

#include <fmt/format.h>

namespace nereid::sim {

std::string register_name(unsigned number) {
  if (number < accumulation_base)
    return fmt::format("v{}", number);
  if (number < vector_registers)
    return fmt::format("a{}", number - accumulation_base);
  const unsigned index = number - vector_registers;
  switch (index) {
  case scalar::vcc:
    return "vcc_lo";
  case scalar::vcc + 1:
    return "vcc_hi";
  case scalar::m0:
    return "m0";
  case scalar::exec:
    return "exec_lo";
  case scalar::exec + 1:
    return "exec_hi";
  default:
    return fmt::format("s{}", index);
  }
}

} // namespace nereid::sim
