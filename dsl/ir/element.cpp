// The table of element types (elements.def).
#include "dsl/ir/element.h"

#include <array>

namespace nereid::ir {

static constexpr ElementFacts element_table[] = {
#define NEREID_ELEMENT(enumerator, name, bits, kind) {name, bits, ElementKind::kind},
#include "dsl/ir/elements.def"
};

const ElementFacts &facts(Element element) { return element_table[static_cast<size_t>(element)]; }

std::optional<Element> element_named(std::string_view name) {
  for (size_t i = 0; i < std::size(element_table); ++i)
    if (element_table[i].name == name)
      return static_cast<Element>(i);
  return std::nullopt;
}

} // namespace nereid::ir
