// Texts of types and shapes.
#include "dsl/ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::ir {

int64_t Type::count() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

std::string Type::text() const {
  std::string name(facts(element).name);
  if (pointer)
    name = "ptr<" + name + ">";
  return rank() == 0 ? name : name + ir::text(shape);
}

std::string text(const Shape &shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

} // namespace nereid::ir
