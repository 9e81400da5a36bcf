#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dsl/ir/type.h"

namespace nereid::interpreter {

/// Why an element has no meaning: 0, or how it came about (poison.h).
using Poison = std::vector<uint32_t>;

/// The elements of a value in row-major order. Integers are stored as what they are, i1 as bytes 0 and 1, f64
/// as double, all other floats as float (exactly), pointers as uint64_t. Copies share the elements.
struct Tensor {
  std::shared_ptr<std::byte[]> data;
  size_t bytes = 0;
  std::shared_ptr<const Poison> poison; ///< null: all elements have a meaning

  template <class T> T *as() { return reinterpret_cast<T *>(data.get()); }
  template <class T> const T *as() const { return reinterpret_cast<const T *>(data.get()); }

  /// Makes room that no other tensor shares; the elements are undefined.
  void reset(size_t wanted) {
    poison.reset();
    if (bytes == wanted && data.use_count() == 1)
      return;
    data = std::make_shared_for_overwrite<std::byte[]>(wanted);
    bytes = wanted;
  }
};

/// Bytes of an element in a Tensor.
inline unsigned storage_size(const ir::Type &type) {
  if (type.pointer)
    return 8;
  return ir::is_float(type.element) && type.element != ir::Element::F64 ? 4 : ir::byte_size(type.element);
}

/// Calls f with a zero of the type that stores the elements.
template <class F> decltype(auto) with_storage(const ir::Type &type, F f) {
  if (type.pointer)
    return f(uint64_t{});
  if (type.element == ir::Element::F64)
    return f(double{});
  if (ir::is_float(type.element))
    return f(float{});
  const bool is_signed = ir::is_signed(type.element);
  switch (storage_size(type)) {
  case 1:
    return is_signed ? f(int8_t{}) : f(uint8_t{});
  case 2:
    return is_signed ? f(int16_t{}) : f(uint16_t{});
  case 4:
    return is_signed ? f(int32_t{}) : f(uint32_t{});
  default:
    return is_signed ? f(int64_t{}) : f(uint64_t{});
  }
}

/// Calls f with a zero of an unsigned integer as wide as the storage, for operations that only move elements.
template <class F> decltype(auto) with_width(const ir::Type &type, F f) {
  switch (storage_size(type)) {
  case 1:
    return f(uint8_t{});
  case 2:
    return f(uint16_t{});
  case 4:
    return f(uint32_t{});
  default:
    return f(uint64_t{});
  }
}

/// Rounds floats to the element type in place, once an operation has computed them in f32.
void round_to(ir::Element element, float *values, size_t count);
/// f64 is computed in itself.
inline void round_to(ir::Element, double *, size_t) {}

/// An element's bits as memory would hold them.
uint64_t bits_at(const ir::Type &type, const Tensor &tensor, size_t i);

} // namespace nereid::interpreter
