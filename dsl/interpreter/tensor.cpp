// Rounds computed floats to the element type that stores them.
#include "dsl/interpreter/tensor.h"

#include "dsl/interpreter/numbers.h"

namespace nereid::interpreter {

void round_to(ir::Element element, float *values, size_t count) {
  if (element == ir::Element::BF16)
    for (size_t i = 0; i < count; ++i)
      values[i] = bf16_value(bf16_bits(values[i]));
  else if (element == ir::Element::F16)
    for (size_t i = 0; i < count; ++i)
      values[i] = f16_value(f16_bits(values[i]));
  else if (element != ir::Element::F32)
    for (size_t i = 0; i < count; ++i)
      values[i] = float_of(element, bits_of(element, values[i]));
}

} // namespace nereid::interpreter
