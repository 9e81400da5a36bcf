#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "dsl/ir/type.h"

namespace nereid::detail {

/// A value of device_print: the bits of element i in row-major order.
struct PrintedValue {
  ir::Type type;
  std::function<uint64_t(size_t i)> bits;
};

/// "(x, y, z) message values": rows of the last dimension in brackets.
std::string print_line(const std::array<uint32_t, 3> &program, std::string_view message,
                       std::span<const PrintedValue> values);

} // namespace nereid::detail
