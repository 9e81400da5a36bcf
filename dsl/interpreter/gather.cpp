// Elements at an index along one axis.
#include <fmt/format.h>

#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/strides.h"

namespace nereid::interpreter {

Status run_gather(Frame &frame, const ir::Op &op) {
  NEREID_CHECK(observe(frame, op, 1, "reaches the index of a gather", Use::Value));
  const ir::Type &from = frame.in_type(op, 0), &to = frame.out_type(op);
  const auto axis = static_cast<size_t>(op.integer("axis"));
  const AxisView source = along(from.shape, axis), result = along(to.shape, axis);
  const auto *index = frame.in(op, 1).as<int32_t>();
  std::vector<size_t> places(frame.count(op, 1));
  for (size_t o = 0; o < result.outer; ++o)
    for (size_t k = 0; k < result.size; ++k)
      for (size_t i = 0; i < result.inner; ++i) {
        const size_t at = (o * result.size + k) * result.inner + i;
        const int32_t wanted = index[at];
        if (wanted < 0 || static_cast<size_t>(wanted) >= source.size)
          return frame.error(op,
                             fmt::format("the index {} of {} is outside of axis {} of size {}", wanted,
                                         Frame::element(to, at), axis, source.size),
                             "Keep the indices within the axis: clamp them, or use where");
        places[at] = (o * source.size + static_cast<size_t>(wanted)) * source.inner + i;
      }
  Tensor &out = frame.out(op);
  with_width(from, [&](auto zero) {
    using T = decltype(zero);
    const T *x = frame.in(op, 0).as<T>();
    T *y = out.as<T>();
    for (size_t at = 0; at < places.size(); ++at)
      y[at] = x[places[at]];
  });
  if (const auto &poison = frame.in(op, 0).poison) {
    auto moved = std::make_shared<Poison>(places.size());
    for (size_t at = 0; at < places.size(); ++at)
      (*moved)[at] = (*poison)[places[at]];
    out.poison = std::move(moved);
  }
  return {};
}

} // namespace nereid::interpreter
