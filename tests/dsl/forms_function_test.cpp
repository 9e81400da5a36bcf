#include "tests/dsl/forms_support.h"

namespace nereid::test {
namespace {

template <class T> class FormsFunction : public ::testing::Test {};
TYPED_TEST_SUITE(FormsFunction, AllElements);

TYPED_TEST(FormsFunction, OfOneOperand) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UNARY_FORM(NumericElement, T, abs(a)) NEREID_UNARY_FORM(FloatElement, T, exp(a))
          NEREID_UNARY_FORM(FloatElement, T, exp2(a)) NEREID_UNARY_FORM(FloatElement, T, log(a))
              NEREID_UNARY_FORM(FloatElement, T, log2(a)) NEREID_UNARY_FORM(RealElement, T, sqrt(a))
                  NEREID_UNARY_FORM(FloatElement, T, rsqrt(a)) NEREID_UNARY_FORM(FloatElement, T, tanh(a))
                      NEREID_UNARY_FORM(FloatElement, T, erf(a))
                          NEREID_UNARY_FORM(FloatElement, T, sigmoid(a))
                              NEREID_UNARY_FORM(RealElement, T, floor(a))
                                  NEREID_UNARY_FORM(RealElement, T, ceil(a))
                                      NEREID_UNARY_FORM(RealElement, T, round(a)))
}

TYPED_TEST(FormsFunction, FastForms) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UNARY_FORM(FloatElement, T, fast::exp(a)) NEREID_UNARY_FORM(FloatElement, T, fast::exp2(a))
          NEREID_UNARY_FORM(FloatElement, T, fast::log(a)) NEREID_UNARY_FORM(FloatElement, T, fast::rcp(a))
              NEREID_UNARY_FORM(FloatElement, T, fast::tanh(a))
                  NEREID_BINARY_FORM(FloatElement, T, fast::div(a, b)))
}

TYPED_TEST(FormsFunction, OfOneOperandMore) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UNARY_FORM(FloatElement, T, sin(a)) NEREID_UNARY_FORM(FloatElement, T, cos(a))
          NEREID_UNARY_FORM(FloatElement, T, atan(a)) NEREID_UNARY_FORM(FloatElement, T, asin(a))
              NEREID_UNARY_FORM(FloatElement, T, acos(a)) NEREID_UNARY_FORM(FloatElement, T, log1p(a))
                  NEREID_UNARY_FORM(FloatElement, T, expm1(a)) NEREID_UNARY_FORM(RealElement, T, trunc(a))
                      NEREID_UNARY_FORM(RealElement, i1, isnan(a))
                          NEREID_UNARY_FORM(RealElement, i1, isinf(a))
                              NEREID_UNARY_FORM(IntegerElement, T, popcount(a))
                                  NEREID_UNARY_FORM(IntegerElement, T, clz(a))
                                      NEREID_UNARY_FORM(IntegerElement, T, ffs(a)))
}

TYPED_TEST(FormsFunction, OfTwoFloats) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_BINARY_FORM(FloatElement, T, pow(a, b)) NEREID_BINARY_FORM(FloatElement, T, atan2(a, b))
          NEREID_BINARY_FORM(FloatElement, T, fmod(a, b)) NEREID_BINARY_FORM(RealElement, T, copysign(a, b)))
}

TYPED_TEST(FormsFunction, RandomNumbersOfEveryOffset) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(NEREID_UNARY_FORM(IntegerElement, u32, randint(3, a))
                          NEREID_UNARY_FORM(IntegerElement, u32, randint4x(sum(sum(a, 0), 0), a)[3])
                              NEREID_UNARY_FORM(IntegerElement, f32, rand(7U, a))
                                  NEREID_UNARY_FORM(IntegerElement, f32, randn(int64_t{1} << 40, a)))
}

/// An i32 next to an i64 is extended, whichever comes first.
TEST(FormsFunction, IntAndLong) {
  NEREID_EXPECT_FORMS(with_each_handle<i32>(in, {8},
                                            [&](const auto &a) {
                                              with_each_handle<i64>(in, {8}, [&](const auto &b) {
                                                expect_tile_of<i64>(a + b);
                                                expect_tile_of<i64>(b - a);
                                                expect_tile_of<i64>(a * b);
                                                expect_tile_of<i64>(b / a);
                                                expect_tile_of<i64>(a % b);
                                                expect_tile_of<i64>(a << b);
                                                expect_tile_of<i1>(a < b);
                                                expect_tile_of<i1>(b == a);
                                                expect_tile_of<i64>(min(a, b));
                                                expect_tile_of<i64>(cdiv(b, a));
                                                expect_tile_of<i64>(clamp(a, 1, b));
                                                expect_tile_of<i64>(where(a > 0, a, b));
                                                expect_tile_of<i64>(join(a, b));
                                                Var<i64> v = b;
                                                v = a;
                                                v += a;
                                                v *= a;
                                              });
                                            });
                      expect_tile_of<i64>(Long(in.n)); expect_tile_of<f32>(load(in.p + in.n * in.m + in.n));)
}

TYPED_TEST(FormsFunction, OfSeveralOperands) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_BINARY_FORM(NumericElement, T, min(a, b)) NEREID_BINARY_FORM(NumericElement, T, max(a, b))
          NEREID_BINARY_FORM(WordElement, T, mulhi(a, b)) NEREID_BINARY_FORM(IntegerElement, T, cdiv(a, b))
              NEREID_BINARY_FORM(ElementType, T, join(a, b))
                  NEREID_TERNARY_FORM(NumericElement, T, clamp(a, b, c))
                      NEREID_TERNARY_FORM(RealElement, T, fma(a, b, c)))
}

TYPED_TEST(FormsFunction, WhereWithEveryConditionAndEverySide) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(with_each_kind<i1>(in, {8}, [&](const auto &condition) {
                        check_binary<T, T>(
                            in, [&](const auto &a, const auto &b) { return where(condition, a, b); });
                        expect_tile_of<typename detail::ElementFor<NumberFor<T>>::type>(
                            where(condition, NumberFor<T>(0), NumberFor<T>(1)));
                      });)
}

TEST(FormsFunction, WhereOfTwoNumbersHasTheElementOfTheirSum) {
  NEREID_EXPECT_FORMS(const Tile<i1> c = in.i({4}) > 0; expect_tile_of<f32>(where(c, 1.0f, 2.0f));
                      expect_tile_of<f32>(where(c, 1, 2.0)); expect_tile_of<i32>(where(c, 1, -1));
                      expect_tile_of<u32>(where(c, 1u, 2u)); expect_tile_of<i64>(where(c, 1, 2L));
                      expect_tile_of<i1>(where(c, true, false));
                      expect_tile_of<bf16>(where(c, bf16(1.0f), bf16(2.0f)));
                      expect_tile_of<i32>(where(true, 1, 2));)
}

template <class T, class U> void check_conversion(const Inputs &in) {
  with_each_handle<T>(in, {8}, [](const auto &a) {
    expect_tile_of<U>(a.template to<U>());
    expect_tile_of<U>(cast<U>(a));
    if constexpr (sizeof(T) == sizeof(U) && std::same_as<T, i1> == std::same_as<U, i1>)
      expect_tile_of<U>(bitcast<U>(a));
  });
}
template <class T, class... U> void check_conversions(const Inputs &in, ::testing::Types<U...>) {
  (check_conversion<T, U>(in), ...);
}

TYPED_TEST(FormsFunction, ConversionsToEveryElement) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(check_conversions<T>(in, AllElements{});)
}

TYPED_TEST(FormsFunction, Shapes) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UNARY_FORM(ElementType, T, broadcast(reshape(a, {1, 16}), {4, 16}))
          NEREID_UNARY_FORM(ElementType, T, row(a)) NEREID_UNARY_FORM(ElementType, T, col(a))
              NEREID_UNARY_FORM(ElementType, T, expand_dims(a, -1)) NEREID_UNARY_FORM(
                  ElementType, T, reshape(a, {4, 4})) NEREID_UNARY_FORM(ElementType, T, permute(a, {1, 0}))
                  NEREID_UNARY_FORM(ElementType, T, trans(a))
                      NEREID_UNARY_FORM(ElementType, T, split(a).first) expect_tile_of<T>(zeros<T>({2, 4}));
      with_each_kind<T>(in, {}, [](const auto &x) { expect_tile_of<T>(full<T>({2, 4}, x)); });)
}

TYPED_TEST(FormsFunction, AcrossElements) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UNARY_FORM(NumericElement, T, max(a, axis(0)))
          NEREID_UNARY_FORM(NumericElement, T, max(a, keep_axis(-1)))
              NEREID_UNARY_FORM(NumericElement, T, reduce_max(a, 0))
                  NEREID_UNARY_FORM(NumericElement, T, min(a, axis(0)))
                      NEREID_UNARY_FORM(NumericElement, T, reduce_min(a, 0))
                          NEREID_UNARY_FORM(NumericElement, T, sum(a, axis(0)))
                              NEREID_UNARY_FORM(NumericElement, T, sum(a, 1))
                                  NEREID_UNARY_FORM(NumericElement, i32, argmax(a, axis(0)))
                                      NEREID_UNARY_FORM(NumericElement, i32, argmax(a, 1))
                                          NEREID_UNARY_FORM(NumericElement, i32, argmin(a, axis(0)))
                                              NEREID_UNARY_FORM(NumericElement, i32, argmin(a, 1))
                                                  NEREID_UNARY_FORM(TruthOnly, i1, any(a, axis(0)))
                                                      NEREID_UNARY_FORM(TruthOnly, i1, any(!a, 1))
                                                          NEREID_UNARY_FORM(NumericElement, T, cumsum(a, 0)))
}

} // namespace
} // namespace nereid::test
