// Reductions and running sums along an axis.
#include <algorithm>
#include <type_traits>

#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/scalar.h"
#include "dsl/interpreter/strides.h"

namespace nereid::interpreter {

using ir::Opcode;

template <class T> static T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return wrapped<T>(widened(a) + widened(b));
}

/// Folds along the axis in the order of the index, all inner elements side by side.
template <class T, class F> static void fold(const T *x, T *out, const AxisView &view, F f) {
  for (size_t o = 0; o < view.outer; ++o, out += view.inner) {
    const T *row = x + o * view.size * view.inner;
    std::copy_n(row, view.inner, out);
    for (size_t k = 1; k < view.size; ++k)
      for (size_t i = 0; i < view.inner; ++i)
        out[i] = f(out[i], row[k * view.inner + i]);
  }
}

template <class T> static void reduce(Opcode opcode, const T *x, T *out, const AxisView &view) {
  switch (opcode) {
  case Opcode::ReduceMax:
    return fold(x, out, view, maximum<T>);
  case Opcode::ReduceMin:
    return fold(x, out, view, minimum<T>);
  case Opcode::ReduceSum:
    return fold(x, out, view, sum<T>);
  default: // ReduceAny
    return fold(x, out, view, [](T a, T b) { return a != 0 ? a : b; });
  }
}

/// A NaN is greater than all numbers.
template <class T> static bool exceeds(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a)
      return b == b;
  return a > b;
}

template <class T> static void arg_max(const T *x, int32_t *out, const AxisView &view) {
  for (size_t o = 0; o < view.outer; ++o)
    for (size_t i = 0; i < view.inner; ++i) {
      const T *first = x + o * view.size * view.inner + i;
      size_t best = 0;
      for (size_t k = 1; k < view.size; ++k)
        if (exceeds(first[k * view.inner], first[best * view.inner]))
          best = k;
      out[o * view.inner + i] = static_cast<int32_t>(best);
    }
}

void run_reduce(Frame &frame, const ir::Op &op) {
  const ir::Type &type = frame.in_type(op, 0);
  const AxisView view = along(type.shape, static_cast<size_t>(op.integer("axis")));
  Tensor &out = frame.out(op);
  with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    const T *x = frame.in(op, 0).as<T>();
    if (op.opcode == Opcode::ArgMax)
      return arg_max(x, out.as<int32_t>(), view);
    reduce(op.opcode, x, out.as<T>(), view);
    if constexpr (std::is_floating_point_v<T>)
      round_to(type.element, out.as<T>(), view.outer * view.inner);
  });
  propagate(frame, op);
}

void run_cumsum(Frame &frame, const ir::Op &op) {
  const ir::Type &type = frame.in_type(op, 0);
  const AxisView view = along(type.shape, static_cast<size_t>(op.integer("axis")));
  Tensor &out = frame.out(op);
  with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    const T *x = frame.in(op, 0).as<T>();
    T *y = out.as<T>();
    for (size_t o = 0; o < view.outer; ++o)
      for (size_t k = 0; k < view.size; ++k)
        for (size_t i = 0; i < view.inner; ++i) {
          const size_t at = (o * view.size + k) * view.inner + i;
          y[at] = k == 0 ? x[at] : sum(y[at - view.inner], x[at]);
        }
    if constexpr (std::is_floating_point_v<T>)
      round_to(type.element, y, frame.count(op));
  });
  propagate(frame, op);
}

} // namespace nereid::interpreter
