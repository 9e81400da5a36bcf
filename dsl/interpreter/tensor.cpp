// Rounds computed floats to their element type, and gives the bits of elements.
#include "dsl/interpreter/tensor.h"

#include <type_traits>

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

uint64_t bits_at(const ir::Type &type, const Tensor &tensor, size_t i) {
  return with_storage(type, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      return bits_of(type.element, tensor.as<T>()[i]);
    else
      return static_cast<std::make_unsigned_t<T>>(tensor.as<T>()[i]);
  });
}

} // namespace nereid::interpreter
