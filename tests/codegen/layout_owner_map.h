#pragma once

#include "codegen/layout/linear_layout.h"

namespace nereid::codegen::samples {

/// The owner of each element of a surjective layout: one position for each coordinate, chosen with broadcast
/// bits at 0, early registers before lanes before waves. The inverse of a bijective layout.
class OwnerMap {
public:
  explicit OwnerMap(LinearLayout layout)
      : layout_(std::move(layout)), matrix_(layout_.matrix().right_inverse().value()) {}

  /// Flat coordinate bits -> position bits (register, lane, wave packed in this order from bit 0).
  const BitMatrix &matrix() const { return matrix_; }

  Position at(const Coordinates &coordinates) const {
    uint64_t flat = 0;
    std::vector<uint32_t> odd;
    for (unsigned d = 0; d < layout_.rank(); ++d) {
      const unsigned bits = layout_.dim(d).bits;
      flat = flat << bits | (coordinates[d] & ((uint32_t(1) << bits) - 1));
      odd.push_back(coordinates[d] >> bits);
    }
    uint64_t position = matrix_.apply(flat);
    uint32_t numbers[3], stride[3];
    for (Space space : all_spaces) {
      const unsigned bits = layout_.bits(space), s = static_cast<unsigned>(space);
      numbers[s] = static_cast<uint32_t>(position & ((uint64_t(1) << bits) - 1));
      stride[s] = 1u << bits;
      position >>= bits;
    }
    for (const Repeat &repeat : layout_.repeats()) {
      const auto s = static_cast<unsigned>(repeat.owner);
      if (repeat.dim != Repeat::broadcast) {
        numbers[s] += odd[repeat.dim] % repeat.count * stride[s];
        odd[repeat.dim] /= repeat.count;
      }
      stride[s] *= repeat.count;
    }
    return {numbers[0], numbers[1], numbers[2]};
  }

private:
  LinearLayout layout_;
  BitMatrix matrix_;
};

} // namespace nereid::codegen::samples
