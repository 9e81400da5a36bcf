#pragma once

#include "sim/ops/matrix/matrix.h"

namespace nereid::sim {

/// Most elements that a lane holds of one operand.
inline constexpr unsigned max_elements = 32;

/// One operand of a matrix product as numbers: value[j][lane] is element j of a lane.
template <class Real> struct OperandValues {
  alignas(64) Real value[max_elements][lane_count];
};

/// Bits of an element in an operand's registers, where elements follow each other without gaps.
unsigned element_bits(Element element);

/// Reads the first `count` elements of all lanes from consecutive registers. Real holds every value exactly:
/// double, or float for all but f64.
template <class Real>
void read_values(const Lanes *registers, Element element, unsigned count, OperandValues<Real> &out);

} // namespace nereid::sim
