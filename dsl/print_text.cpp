// What device_print writes.
#include "dsl/print_text.h"

#include <bit>

#include <fmt/format.h>

#include "dsl/half.h"
#include "dsl/ir/fold.h"

namespace nereid::detail {

static std::string element_text(const ir::Type &type, uint64_t bits) {
  if (type.pointer)
    return fmt::format("{:#x}", bits);
  if (type.element == ir::Element::I1)
    return (bits & 1) != 0 ? "true" : "false";
  if (type.element == ir::Element::F64)
    return fmt::format("{}", std::bit_cast<double>(bits));
  if (ir::is_float(type.element))
    return fmt::format("{}", float_of(type.element, bits));
  return ir::is_signed(type.element) ? fmt::format("{}", ir::integer_value(type.element, bits))
                                     : fmt::format("{}", bits);
}

static std::string tile_text(const PrintedValue &value) {
  const ir::Type &type = value.type;
  std::string text;
  const auto count = static_cast<size_t>(type.count());
  for (size_t i = 0; i < count; ++i) {
    size_t opening = 0, closing = 0, span = 1;
    for (size_t d = type.rank(); d-- > 0;) {
      span *= static_cast<size_t>(type.shape[d]);
      opening += i % span == 0;
      closing += (i + 1) % span == 0;
    }
    text += i == 0 ? "" : opening != 0 ? ",\n" : ", ";
    text.append(opening, '[');
    text += element_text(type, value.bits(i));
    text.append(closing, ']');
  }
  return text;
}

std::string print_line(const std::array<uint32_t, 3> &program, std::string_view message,
                       std::span<const PrintedValue> values) {
  std::string line = fmt::format("({}, {}, {}) {}", program[0], program[1], program[2], message);
  for (const PrintedValue &value : values)
    line += " " + tile_text(value);
  return line;
}

} // namespace nereid::detail
