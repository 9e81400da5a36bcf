#include "tests/dsl/forms_support.h"

/// Forms that must not compile, as far as overload resolution tells; what the user reads then is tested by
/// trace_refused_code.cpp.
namespace nereid::test {
namespace {

template <class A, class B>
concept AnyOperator =
    requires(A a, B b) { a + b; } || requires(A a, B b) { a - b; } || requires(A a, B b) { a * b; } ||
    requires(A a, B b) { a / b; } || requires(A a, B b) { a % b; } || requires(A a, B b) { a & b; } ||
    requires(A a, B b) { a | b; } || requires(A a, B b) { a ^ b; } || requires(A a, B b) { a << b; } ||
    requires(A a, B b) { a >> b; } || requires(A a, B b) { a == b; } || requires(A a, B b) { a < b; };
template <class A, class B>
concept AnyFunction = requires(A a, B b) { min(a, b); } || requires(A a, B b) { cdiv(a, b); } ||
                      requires(A a, B b) { mulhi(a, b); } || requires(A a, B b) { join(a, b); } ||
                      requires(A a, B b) { fma(a, a, b); } || requires(A a, B b) { clamp(a, b, a); } ||
                      requires(A a, B b) { where(Tile<i1>(a == a), a, b); };
template <class V, class X>
concept AnyUpdate = requires(V v, X x) { v = x; } || requires(V v, X x) { v += x; } ||
                    requires(V v, X x) { v &= x; } || requires(V v, X x) { v <<= x; };

template <class A, class B> inline constexpr bool extends = std::same_as<A, i32> && std::same_as<B, i64>;
static_assert(!AnyUpdate<Var<i32> &, Tile<i64>> && !AnyUpdate<Var<i32> &, Var<i64>>);

/// Tiles and Vars of two elements have nothing in common, i32 and i64 apart.
template <class A, class B>
inline constexpr bool apart =
    std::same_as<A, B> || extends<A, B> || extends<B, A> ||
    !(AnyOperator<Tile<A>, Tile<B>> || AnyOperator<Var<A>, Tile<B>> || AnyOperator<Tile<A>, Var<Tile<B>>> ||
      AnyFunction<Tile<A>, Tile<B>> || AnyFunction<Var<A>, Var<B>> || AnyUpdate<Var<A> &, Tile<B>> ||
      AnyUpdate<Var<Tile<A>> &, Var<B>>);
template <class A, class... B> constexpr bool apart_from_all(::testing::Types<B...>) {
  return (apart<A, B> && ...);
}
template <class... A> constexpr bool all_apart(::testing::Types<A...>) {
  return (apart_from_all<A>(AllElements{}) && ...);
}
static_assert(all_apart(AllElements{}));

/// Numbers of another kind: a float next to integers, a bool next to anything but i1, an integer next to i1.
template <class T, class Number>
inline constexpr bool number_apart = !AnyOperator<Tile<T>, Number> && !AnyOperator<Number, Var<T>> &&
                                     !AnyFunction<Tile<T>, Number> && !AnyUpdate<Var<T> &, Number>;
template <class T> constexpr bool numbers_apart() {
  if constexpr (std::same_as<T, i1>)
    return number_apart<T, int> && number_apart<T, float>;
  else if constexpr (IntegerElement<T>)
    return number_apart<T, bool> && number_apart<T, float> && number_apart<T, double>;
  else
    return number_apart<T, bool>;
}
template <class... T> constexpr bool all_numbers_apart(::testing::Types<T...>) {
  return (numbers_apart<T>() && ...);
}
static_assert(all_numbers_apart(AllElements{}));

/// Operators and functions for other elements than theirs.
template <class X>
concept Negates = requires(X x) { -x; };
template <class X>
concept Inverts = requires(X x) { ~x; };
template <class X>
concept Sums = requires(X x) { sum(x, 0); };
template <class X>
concept Anys = requires(X x) { any(x, 0); };
static_assert(!Negates<Tile<i1>> && !Inverts<Tile<f32>> && !Inverts<Var<bf16>> && !Sums<Tile<i1>> &&
              !Anys<Tile<i32>>);

/// Values are not assignable, and nothing but a Var is.
template <class... T> constexpr bool all_values(::testing::Types<T...>) {
  return !(std::is_assignable_v<Tile<T> &, Tile<T>> || ...) &&
         !(std::is_assignable_v<Tile<T> &, NumberFor<T>> || ...) &&
         !(std::is_assignable_v<Ptr<T> &, Ptr<T>> || ...) && (std::is_assignable_v<Var<T> &, Tile<T>> && ...);
}
static_assert(all_values(AllElements{}));

template <class A, class B>
concept WhereOfNumbers = requires(Tile<i1> c, A a, B b) { where(c, a, b); };
static_assert(!WhereOfNumbers<bool, int> && WhereOfNumbers<int, double>);

} // namespace
} // namespace nereid::test
