#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/ir/element.h"

namespace nereid::ir {

/// Sizes of the dimensions, outermost first; empty: a scalar.
using Shape = std::vector<int64_t>;

/// The type of a value: a tile of elements, or of global pointers to elements. Rank 0 is a scalar, uniform
/// over the program.
struct Type {
  Element element = Element::I32;
  bool pointer = false; ///< a tile of addresses of `element`s
  Shape shape;

  static Type scalar(Element e) { return {e, false, {}}; }
  static Type tile(Element e, Shape shape) { return {e, false, std::move(shape)}; }
  static Type pointer_to(Element e, Shape shape = {}) { return {e, true, std::move(shape)}; }

  unsigned rank() const { return static_cast<unsigned>(shape.size()); }
  int64_t count() const;
  /// As the IR prints it: "f32", "bf16[16, 256]", "ptr<u8>[64]".
  std::string text() const;
  bool operator==(const Type &) const = default;
};

/// "[16, 256]"; "[]" for a scalar.
std::string text(const Shape &shape);

} // namespace nereid::ir
