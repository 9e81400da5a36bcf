// Conversions between element types, and the elementwise operations with rules of their own.
#include <algorithm>
#include <cstring>

#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/operations.h"
#include "dsl/interpreter/poison.h"
#include "dsl/interpreter/scalar.h"

namespace nereid::interpreter {

using ir::Element;

template <class From, class To> static To converted(From value, Element to) {
  constexpr bool from_float = std::is_floating_point_v<From>, to_float = std::is_floating_point_v<To>;
  constexpr bool is_wider = !std::is_same_v<From, float> && std::is_same_v<To, float>;
  if (to == Element::I1)
    return static_cast<To>(value != 0);
  if constexpr (from_float && !to_float)
    return to_integer<To>(value);
  else if constexpr (is_wider)
    return to == Element::F32 ? static_cast<float>(value) : detail::round_to_odd(value);
  else
    return static_cast<To>(value);
}

void run_cast(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  const Element to = frame.out_type(op).element;
  Tensor &out = frame.out(op);
  with_storage(frame.in_type(op, 0), [&](auto from_zero) {
    with_storage(frame.out_type(op), [&](auto to_zero) {
      const auto *x = frame.in(op, 0).as<decltype(from_zero)>();
      auto *y = out.as<decltype(to_zero)>();
      for (size_t i = 0; i < n; ++i)
        y[i] = converted<decltype(from_zero), decltype(to_zero)>(x[i], to);
      if constexpr (std::is_floating_point_v<decltype(to_zero)>)
        round_to(to, y, n);
    });
  });
  propagate(frame, op);
}

static void set_bits(const ir::Type &type, Tensor &tensor, size_t i, uint64_t bits) {
  with_storage(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      tensor.as<T>()[i] = real_of<T>(type.element, bits);
    else
      tensor.as<T>()[i] = static_cast<T>(type.element == Element::I1 ? bits & 1 : bits);
  });
}

void run_bitcast(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  Tensor &out = frame.out(op);
  const ir::Type &from = frame.in_type(op, 0), &to = frame.out_type(op);
  if (storage_size(from) == storage_size(to) && ir::byte_size(from.element) == storage_size(from)) {
    std::memcpy(out.data.get(), frame.in(op, 0).data.get(), n * storage_size(from));
  } else {
    for (size_t i = 0; i < n; ++i)
      set_bits(to, out, i, bits_at(from, frame.in(op, 0), i));
  }
  propagate(frame, op);
}

void run_fma(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  Tensor &out = frame.out(op);
  const Element element = frame.out_type(op).element;
  const auto run = [&]<class T>(T, auto fma) {
    const T *a = frame.in(op, 0).as<T>(), *b = frame.in(op, 1).as<T>(), *c = frame.in(op, 2).as<T>();
    for (size_t i = 0; i < n; ++i)
      out.as<T>()[i] = fma(a[i], b[i], c[i]);
    round_to(element, out.as<T>(), n);
  };
  if (element == Element::F64)
    run(double{}, [](double a, double b, double c) { return std::fma(a, b, c); });
  else if (element == Element::F32)
    run(float{}, [](float a, float b, float c) { return std::fma(a, b, c); });
  else
    run(float{}, detail::fma_to_odd);
  propagate(frame, op);
}

/// A poison is chosen with its element; one of the condition stays.
static void choose_poison(Frame &frame, const ir::Op &op) {
  const Tensor &condition = frame.in(op, 0), &a = frame.in(op, 1), &b = frame.in(op, 2);
  if (!condition.poison && !a.poison && !b.poison)
    return;
  const auto at = [](const Tensor &tensor, size_t i) { return tensor.poison ? (*tensor.poison)[i] : 0; };
  auto poison = std::make_shared<Poison>(frame.count(op));
  for (size_t i = 0; i < poison->size(); ++i) {
    const uint32_t chosen = at(condition.as<uint8_t>()[i] != 0 ? a : b, i);
    (*poison)[i] = std::max(chosen, at(condition, i));
  }
  frame.values[op.result()].poison = std::move(poison);
}

void run_where(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  Tensor &out = frame.out(op);
  const auto *condition = frame.in(op, 0).as<uint8_t>();
  with_width(frame.out_type(op), [&](auto zero) {
    using T = decltype(zero);
    const T *a = frame.in(op, 1).as<T>(), *b = frame.in(op, 2).as<T>();
    for (size_t i = 0; i < n; ++i)
      out.as<T>()[i] = condition[i] != 0 ? a[i] : b[i];
  });
  choose_poison(frame, op);
}

void run_pointer_add(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  auto *out = frame.out(op).as<uint64_t>();
  const auto *base = frame.in(op, 0).as<uint64_t>();
  const uint64_t size = ir::byte_size(frame.out_type(op).element);
  with_storage(frame.in_type(op, 1), [&](auto zero) {
    const auto *offset = frame.in(op, 1).as<decltype(zero)>();
    for (size_t i = 0; i < n; ++i)
      out[i] = base[i] + static_cast<uint64_t>(static_cast<int64_t>(offset[i])) * size;
  });
  propagate(frame, op);
}

void run_int_to_ptr(Frame &frame, const ir::Op &op) {
  std::copy_n(frame.in(op, 0).as<uint64_t>(), frame.count(op), frame.out(op).as<uint64_t>());
  propagate(frame, op);
}

void run_cvt_scaled(Frame &frame, const ir::Op &op) {
  const size_t n = frame.count(op);
  const ir::Format format = *ir::format_named(op.string("format"));
  Tensor &out = frame.out(op);
  const auto *even = frame.in(op, 0).as<float>(), *odd = frame.in(op, 1).as<float>();
  const auto *scale = frame.in(op, 2).as<float>();
  const auto code = [&](float value, float scaled_by) -> unsigned {
    // Only the scale's exponent counts; a NaN scale keeps the sign of the value.
    const auto byte = static_cast<uint8_t>(std::bit_cast<uint32_t>(scaled_by) >> 23);
    const double wide = byte == 255 ? std::copysign(std::numeric_limits<double>::quiet_NaN(), value)
                                    : std::ldexp(static_cast<double>(value), 127 - byte);
    return encode(format, wide, Overflow::Special);
  };
  for (size_t i = 0; i < n; ++i) {
    const unsigned low = code(even[i], scale[i]), high = code(odd[i], scale[i]);
    if (format == ir::Format::E2M1)
      out.as<uint8_t>()[i] = static_cast<uint8_t>(low | high << 4);
    else
      out.as<uint16_t>()[i] = static_cast<uint16_t>(low | high << 8);
  }
  propagate(frame, op);
}

Status run_inline_asm(Frame &frame, const ir::Op &op) {
  const auto &functions = frame.launch.function.host_functions;
  const int64_t host = op.has("host") ? op.integer("host") : -1;
  if (host < 0 || host >= static_cast<int64_t>(functions.size()) || !functions[static_cast<size_t>(host)])
    return frame.error(op, "this inline assembly has no host function, so that the interpreter cannot run it",
                       "Pass a host function that is its meaning, or run the compiled kernel");
  const auto n = static_cast<size_t>(frame.out_type(op).count());
  Tensor &out = frame.out(op);
  std::vector<uint64_t> operands(op.operands.size());
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < operands.size(); ++k)
      operands[k] = bits_at(frame.in_type(op, k), frame.in(op, k), i);
    set_bits(frame.out_type(op), out, i, functions[static_cast<size_t>(host)](operands));
  }
  propagate(frame, op);
  return {};
}

} // namespace nereid::interpreter
