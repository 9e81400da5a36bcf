#pragma once

#include <type_traits>

#include "tests/dsl/trace_support.h"

/// Every documented form of the language with every kind of operand. A form is a line of a table: an
/// expression of a, b and c, the elements that it is for and the element of its result. It is compiled,
/// traced and verified with each operand as a Tile, as either spelling of Var, and as a C++ number beside one
/// of them.
namespace nereid::test {

template <class T>
using NumberFor = std::conditional_t<std::same_as<T, i1>, bool,
                                     std::conditional_t<RealElement<T> || SmallFloatElement<T>, float, int>>;

/// Calls f with an operand of every kind.
template <class T, class F> void with_each_handle(const Inputs &in, const Shape &shape, F f) {
  const Tile<T> tile = full<T>(shape, in.n.to<T>());
  f(tile);
  Var<Tile<T>> var_of_tile = tile;
  f(var_of_tile);
  Var<T> var = tile;
  f(var);
}
template <class T, class F> void with_each_kind(const Inputs &in, const Shape &shape, F f) {
  with_each_handle<T>(in, shape, f);
  f(static_cast<NumberFor<T>>(1));
}

template <class... X> inline constexpr bool all_numbers = (std::is_arithmetic_v<X> && ...);

template <class R, class X> void expect_tile_of(const X &) { static_assert(std::same_as<X, Tile<R>>); }

template <class R, class T, class Form> void check_unary(const Inputs &in, Form form) {
  with_each_handle<T>(in, {8, 2}, [&](const auto &a) { expect_tile_of<R>(form(a)); });
}

template <class R, class T, class Form> void check_binary(const Inputs &in, Form form) {
  with_each_kind<T>(in, {8}, [&](const auto &a) {
    with_each_kind<T>(in, {8}, [&](const auto &b) {
      if constexpr (!all_numbers<std::decay_t<decltype(a)>, std::decay_t<decltype(b)>>)
        expect_tile_of<R>(form(a, b));
    });
  });
}

template <class R, class T, class Form> void check_ternary(const Inputs &in, Form form) {
  with_each_kind<T>(in, {8}, [&](const auto &a) {
    with_each_kind<T>(in, {8}, [&](const auto &b) {
      with_each_kind<T>(in, {}, [&](const auto &c) {
        if constexpr (!all_numbers<std::decay_t<decltype(a)>, std::decay_t<decltype(b)>,
                                   std::decay_t<decltype(c)>>)
          expect_tile_of<R>(form(a, b, c));
      });
    });
  });
}

// Lines of the tables: R is the result's element, in terms of T.
#define NEREID_UNARY_FORM(allowed, R, ...)                                                                   \
  if constexpr (allowed<T>)                                                                                  \
    check_unary<R, T>(in, []([[maybe_unused]] const auto &a) { return __VA_ARGS__; });
#define NEREID_BINARY_FORM(allowed, R, ...)                                                                  \
  if constexpr (allowed<T>)                                                                                  \
    check_binary<R, T>(in, [](const auto &a, const auto &b) { return __VA_ARGS__; });
#define NEREID_TERNARY_FORM(allowed, R, ...)                                                                 \
  if constexpr (allowed<T>)                                                                                  \
    check_ternary<R, T>(in, [](const auto &a, const auto &b, const auto &c) { return __VA_ARGS__; });

/// Traces the forms for one element.
#define NEREID_EXPECT_FORMS(...)                                                                             \
  {                                                                                                          \
    Result<ir::Function> function = trace_body([]([[maybe_unused]] const Inputs &in) { __VA_ARGS__ });       \
    EXPECT_TRUE(function.ok()) << function.error().text();                                                   \
  }

using AllElements = ::testing::Types<i1, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, fp8, bf8>;

template <class T>
concept TruthOnly = std::same_as<T, i1>;
template <class T>
concept WordElement = std::same_as<T, i32> || std::same_as<T, u32>;

} // namespace nereid::test
