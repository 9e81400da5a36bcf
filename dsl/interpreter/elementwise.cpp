// Unary and binary operations and comparisons, with the overflows and zero divisors that they report.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/scalar.h"

namespace nereid::interpreter {

using ir::Opcode;

template <class T, class F> static void map(const T *x, T *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i] = f(x[i]);
}
template <class T, class R, class F> static void map(const T *a, const T *b, R *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i] = f(a[i], b[i]);
}

/// Functions without an exact result are computed in double and rounded once: within 1 ulp, exact at powers
/// of two. f64 has none of them.
template <class T, class F> static void map_wide(const T *x, T *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(f(static_cast<double>(x[i])));
}
template <class T, class F> static void map_wide(const T *a, const T *b, T *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(f(static_cast<double>(a[i]), static_cast<double>(b[i])));
}

template <class T> static void float_unary(Opcode opcode, const T *x, T *out, size_t n) {
  switch (opcode) {
  case Opcode::Neg:
    return map(x, out, n, [](T v) { return -v; });
  case Opcode::Abs:
    return map(x, out, n, [](T v) { return std::fabs(v); });
  case Opcode::Exp:
    return map_wide(x, out, n, [](double v) { return std::exp(v); });
  case Opcode::Exp2:
    return map_wide(x, out, n, [](double v) { return std::exp2(v); });
  case Opcode::Log:
    return map_wide(x, out, n, [](double v) { return std::log(v); });
  case Opcode::Log2:
    return map_wide(x, out, n, [](double v) { return std::log2(v); });
  case Opcode::Sqrt:
    return map(x, out, n, [](T v) { return std::sqrt(v); });
  case Opcode::Rsqrt:
    return map_wide(x, out, n, [](double v) { return 1 / std::sqrt(v); });
  case Opcode::Tanh:
    return map_wide(x, out, n, [](double v) { return std::tanh(v); });
  case Opcode::Erf:
    return map_wide(x, out, n, [](double v) { return std::erf(v); });
  case Opcode::Sigmoid:
    return map_wide(x, out, n, [](double v) { return 1 / (1 + std::exp(-v)); });
  case Opcode::Sin:
    return map_wide(x, out, n, [](double v) { return std::sin(v); });
  case Opcode::Cos:
    return map_wide(x, out, n, [](double v) { return std::cos(v); });
  case Opcode::Atan:
    return map_wide(x, out, n, [](double v) { return std::atan(v); });
  case Opcode::Asin:
    return map_wide(x, out, n, [](double v) { return std::asin(v); });
  case Opcode::Acos:
    return map_wide(x, out, n, [](double v) { return std::acos(v); });
  case Opcode::Log1p:
    return map_wide(x, out, n, [](double v) { return std::log1p(v); });
  case Opcode::Expm1:
    return map_wide(x, out, n, [](double v) { return std::expm1(v); });
  case Opcode::Trunc:
    return map(x, out, n, [](T v) { return std::trunc(v); });
  case Opcode::Floor:
    return map(x, out, n, [](T v) { return std::floor(v); });
  case Opcode::Ceil:
    return map(x, out, n, [](T v) { return std::ceil(v); });
  default: // Round
    return map(x, out, n, [](T v) { return std::nearbyint(v); });
  }
}

template <class T> static void integer_unary(Opcode opcode, const T *x, T *out, size_t n) {
  switch (opcode) {
  case Opcode::Neg:
    return map(x, out, n, [](T v) { return wrapped<T>(0 - widened(v)); });
  case Opcode::Abs:
    return map(x, out, n, [](T v) { return v < 0 ? wrapped<T>(0 - widened(v)) : v; });
  case Opcode::Popcount:
    return map(x, out, n, [](T v) { return static_cast<T>(std::popcount(std::make_unsigned_t<T>(v))); });
  case Opcode::Clz:
    return map(x, out, n, [](T v) { return static_cast<T>(std::countl_zero(std::make_unsigned_t<T>(v))); });
  default: // Not
    return map(x, out, n, [](T v) { return static_cast<T>(~v); });
  }
}

/// Poisons the elements of the result for which is_bad(index) holds.
template <class F> static void poison_elements(Frame &frame, const ir::Op &op, uint32_t poison, F is_bad) {
  const size_t n = frame.count(op);
  std::vector<bool> where;
  for (size_t i = 0; i < n; ++i) {
    if (!is_bad(i))
      continue;
    where.resize(n);
    where[i] = true;
  }
  if (!where.empty())
    poison_where(frame.values[op.result()], n, where, poison);
}

/// Where an i32 operation that may reach an address overflows.
static void find_overflows(Frame &frame, const ir::Op &op) {
  const auto *a = frame.in(op, 0).as<int32_t>();
  const auto *b = op.operands.size() > 1 ? frame.in(op, 1).as<int32_t>() : nullptr;
  const auto exact = [&](size_t i) -> int64_t {
    const int64_t x = a[i];
    switch (op.opcode) {
    case Opcode::Add:
      return x + b[i];
    case Opcode::Sub:
      return x - b[i];
    case Opcode::Mul:
      return x * b[i];
    case Opcode::Shl:
      return b[i] < 0 || b[i] > 31 ? int64_t{0} : x * (int64_t{1} << b[i]);
    case Opcode::Neg:
      return -x;
    case Opcode::Abs:
      return x < 0 ? -x : x;
    default:
      return 0;
    }
  };
  poison_elements(frame, op, overflow_poison(op), [&](size_t i) {
    const int64_t value = exact(i);
    return value != static_cast<int32_t>(value);
  });
}

static bool looks_for_overflow(const Frame &frame, const ir::Op &op) {
  return frame.launch.reaches_address[op.result()] && frame.out_type(op).element == ir::Element::I32;
}

void run_unary(Frame &frame, const ir::Op &op) {
  const ir::Type &type = frame.in_type(op, 0);
  const size_t n = frame.count(op);
  Tensor &out = frame.out(op);
  with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    const T *x = frame.in(op, 0).as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      float_unary(op.opcode, x, out.as<T>(), n);
      round_to(type.element, out.as<T>(), n);
    } else if (type.element == ir::Element::I1) {
      map(x, out.as<T>(), n, [](T v) { return static_cast<T>(v == 0); });
    } else {
      integer_unary(op.opcode, x, out.as<T>(), n);
    }
  });
  propagate(frame, op);
  if (looks_for_overflow(frame, op))
    find_overflows(frame, op);
}

template <class T> static void float_binary(Opcode opcode, const T *a, const T *b, T *out, size_t n) {
  switch (opcode) {
  case Opcode::Add:
    return map(a, b, out, n, [](T x, T y) { return x + y; });
  case Opcode::Sub:
    return map(a, b, out, n, [](T x, T y) { return x - y; });
  case Opcode::Mul:
    return map(a, b, out, n, [](T x, T y) { return x * y; });
  case Opcode::Div:
    return map(a, b, out, n, [](T x, T y) { return x / y; });
  case Opcode::Pow:
    return map_wide(a, b, out, n, [](double x, double y) { return std::pow(x, y); });
  case Opcode::Atan2:
    return map_wide(a, b, out, n, [](double x, double y) { return std::atan2(x, y); });
  case Opcode::Fmod:
    return map(a, b, out, n, [](T x, T y) { return std::fmod(x, y); });
  case Opcode::Min:
    return map(a, b, out, n, minimum<T>);
  default: // Max
    return map(a, b, out, n, maximum<T>);
  }
}

template <class T> static void integer_binary(Opcode opcode, const T *a, const T *b, T *out, size_t n) {
  constexpr unsigned bits = sizeof(T) * 8;
  switch (opcode) {
  case Opcode::Add:
    return map(a, b, out, n, [](T x, T y) { return wrapped<T>(widened(x) + widened(y)); });
  case Opcode::Sub:
    return map(a, b, out, n, [](T x, T y) { return wrapped<T>(widened(x) - widened(y)); });
  case Opcode::Mul:
    return map(a, b, out, n, [](T x, T y) { return wrapped<T>(widened(x) * widened(y)); });
  case Opcode::Div:
    return map(a, b, out, n, divide<T>);
  case Opcode::Rem:
    return map(a, b, out, n, remainder<T>);
  case Opcode::CeilDiv:
    return map(a, b, out, n, ceil_divide<T>);
  case Opcode::Min:
    return map(a, b, out, n, minimum<T>);
  case Opcode::Max:
    return map(a, b, out, n, maximum<T>);
  case Opcode::And:
    return map(a, b, out, n, [](T x, T y) { return static_cast<T>(x & y); });
  case Opcode::Or:
    return map(a, b, out, n, [](T x, T y) { return static_cast<T>(x | y); });
  case Opcode::Xor:
    return map(a, b, out, n, [](T x, T y) { return static_cast<T>(x ^ y); });
  case Opcode::Shl: // a negative amount is a huge one
    return map(a, b, out, n,
               [](T x, T y) { return widened(y) < bits ? wrapped<T>(widened(x) << widened(y)) : T{0}; });
  case Opcode::Shr:
    return map(a, b, out, n, [](T x, T y) {
      if (widened(y) < bits)
        return static_cast<T>(x >> static_cast<unsigned>(y));
      return static_cast<T>(x < 0 ? -1 : 0);
    });
  default: // MulHi, 32 bits
    return map(a, b, out, n, [](T x, T y) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> 32);
    });
  }
}

static void find_zero_divisors(Frame &frame, const ir::Op &op) {
  with_storage(frame.in_type(op, 1), [&](auto zero) {
    const auto *divisor = frame.in(op, 1).as<decltype(zero)>();
    poison_elements(frame, op, division_poison(op), [&](size_t i) { return divisor[i] == zero; });
  });
}

void run_binary(Frame &frame, const ir::Op &op) {
  const ir::Type &type = frame.in_type(op, 0);
  const size_t n = frame.count(op);
  Tensor &out = frame.out(op);
  with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    const T *a = frame.in(op, 0).as<T>();
    const T *b = frame.in(op, 1).as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      float_binary(op.opcode, a, b, out.as<T>(), n);
      round_to(type.element, out.as<T>(), n);
    } else {
      integer_binary(op.opcode, a, b, out.as<T>(), n);
    }
  });
  propagate(frame, op);
  if (ir::is_integer(type.element) && ir::is_division(op.opcode))
    find_zero_divisors(frame, op);
  if (looks_for_overflow(frame, op))
    find_overflows(frame, op);
}

void run_compare(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  auto *out = frame.out(op).as<uint8_t>();
  with_storage(frame.in_type(op, 0), [&](auto zero) {
    using T = decltype(zero);
    const T *a = frame.in(op, 0).as<T>();
    const T *b = frame.in(op, 1).as<T>();
    switch (op.opcode) {
    case Opcode::Eq:
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x == y); });
    case Opcode::Ne:
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x != y); });
    case Opcode::Lt:
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x < y); });
    case Opcode::Le:
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x <= y); });
    case Opcode::Gt:
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x > y); });
    default: // Ge
      return map(a, b, out, n, [](T x, T y) { return static_cast<uint8_t>(x >= y); });
    }
  });
  propagate(frame, op);
}

} // namespace nereid::interpreter
