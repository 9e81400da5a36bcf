// The tag of the layout of gates and ups.
#include "kernels/gates.h"

#include <fmt/format.h>

namespace nereid::kernels {

Error wrong_gates(std::string_view kernel, GateLayout operand, GateLayout config) {
  const auto names = nereid_config_names(GateLayout());
  const std::string_view is = names[static_cast<size_t>(operand)],
                         wanted = names[static_cast<size_t>(config)];
  return user_error(
      fmt::format("{}: gates and ups of the operand are {}, its config has gates={}", kernel, is, wanted),
      fmt::format("use gates={}", is));
}

} // namespace nereid::kernels
