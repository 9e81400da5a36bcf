#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::ir {

/// What a value of a tile is. The names are those of the language: i1, i8, u8, ... bf16, f32.
enum class Element : uint8_t {
#define NEREID_ELEMENT(enumerator, name, bits, kind) enumerator,
#include "dsl/ir/elements.def"
};

/// What an element's bits mean.
enum class ElementKind : uint8_t { Bool, Signed, Unsigned, Float };

/// One line of elements.def.
struct ElementFacts {
  std::string_view name;
  unsigned bits;
  ElementKind kind;
};

/// The line of an element, and the element of a name ("f32"), if there is one.
const ElementFacts &facts(Element element);
std::optional<Element> element_named(std::string_view name);

/// Of an element's kind; i1 counts as an integer without a sign.
inline bool is_float(Element e) { return facts(e).kind == ElementKind::Float; }
/// The floats that have conversions, but no arithmetic: fp8 and bf8.
inline bool is_small_float(Element e) { return is_float(e) && facts(e).bits == 8; }
inline bool is_integer(Element e) { return !is_float(e); }
inline bool is_signed(Element e) { return facts(e).kind == ElementKind::Signed; }
/// Bytes in memory; an i1 takes one.
inline unsigned byte_size(Element e) { return (facts(e).bits + 7) / 8; }

} // namespace nereid::ir
