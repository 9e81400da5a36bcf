#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsl/ir/type.h"

namespace nereid::interpreter {

/// Elements from one index to the next, by dimension, of a tile in row-major order.
std::vector<size_t> row_major(const ir::Shape &shape);

/// Copies elements to a tile of `shape` in row-major order from `from`, `stride[d]` apart along dimension d.
template <class T>
void copy_strided(const T *from, const std::vector<size_t> &stride, const ir::Shape &shape, T *to) {
  if (shape.empty()) {
    *to = *from;
    return;
  }
  const size_t inner = static_cast<size_t>(shape.back()), step = stride.back();
  const size_t outer_rank = shape.size() - 1;
  size_t outer = 1;
  for (size_t d = 0; d < outer_rank; ++d)
    outer *= static_cast<size_t>(shape[d]);
  std::vector<int64_t> position(outer_rank);
  size_t offset = 0;
  for (size_t o = 0; o < outer; ++o) {
    const T *row = from + offset;
    if (step == 1)
      for (size_t i = 0; i < inner; ++i)
        to[i] = row[i];
    else
      for (size_t i = 0; i < inner; ++i)
        to[i] = row[i * step];
    to += inner;
    for (size_t d = outer_rank; d-- > 0;) {
      offset += stride[d];
      if (++position[d] < shape[d])
        break;
      offset -= stride[d] * static_cast<size_t>(shape[d]);
      position[d] = 0;
    }
  }
}

/// A tile seen along one axis: element (o, k, i) is at (o * size + k) * inner + i.
struct AxisView {
  size_t outer = 1;
  size_t size = 1;
  size_t inner = 1;
};
AxisView along(const ir::Shape &shape, size_t axis);

} // namespace nereid::interpreter
