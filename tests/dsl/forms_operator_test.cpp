#include "tests/dsl/forms_support.h"

namespace nereid::test {
namespace {

template <class T> class FormsOperator : public ::testing::Test {};
TYPED_TEST_SUITE(FormsOperator, AllElements);

TYPED_TEST(FormsOperator, BetweenAllKinds) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_BINARY_FORM(NumericElement, T, a + b) NEREID_BINARY_FORM(NumericElement, T, a - b)
          NEREID_BINARY_FORM(NumericElement, T, a * b) NEREID_BINARY_FORM(NumericElement, T, a / b)
              NEREID_BINARY_FORM(IntegerElement, T, a % b) NEREID_BINARY_FORM(BitElement, T, a & b)
                  NEREID_BINARY_FORM(BitElement, T, a | b) NEREID_BINARY_FORM(BitElement, T, a ^ b)
                      NEREID_BINARY_FORM(IntegerElement, T, a << b)
                          NEREID_BINARY_FORM(IntegerElement, T, a >> b)
                              NEREID_BINARY_FORM(ComparableElement, i1, a == b)
                                  NEREID_BINARY_FORM(ComparableElement, i1, a != b)
                                      NEREID_BINARY_FORM(NumericElement, i1, a < b)
                                          NEREID_BINARY_FORM(NumericElement, i1, a <= b)
                                              NEREID_BINARY_FORM(NumericElement, i1, a > b)
                                                  NEREID_BINARY_FORM(NumericElement, i1, a >= b))
}

TYPED_TEST(FormsOperator, OfOneOperand) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(NEREID_UNARY_FORM(NumericElement, T, -a) NEREID_UNARY_FORM(NumericElement, T, +a)
                          NEREID_UNARY_FORM(BitElement, T, ~a) NEREID_UNARY_FORM(TruthOnly, i1, !a)
                              NEREID_UNARY_FORM(TruthOnly, i1, !!a))
}

/// Updates a Var of either spelling with an operand of every kind.
template <class T, class Update> void check_update(const Inputs &in, Update update) {
  with_each_kind<T>(in, {8}, [&](const auto &x) {
    Var<Tile<T>> var_of_tile = full<T>({8}, in.n.to<T>());
    update(var_of_tile, x);
    Var<T> var = var_of_tile;
    update(var, x);
  });
}

#define NEREID_UPDATE_FORM(allowed, ...)                                                                     \
  if constexpr (allowed<T>)                                                                                  \
    check_update<T>(in, [](auto &v, const auto &x) { __VA_ARGS__; });

TYPED_TEST(FormsOperator, UpdatesOfVars) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      NEREID_UPDATE_FORM(ElementType, v = x) NEREID_UPDATE_FORM(NumericElement, v += x)
          NEREID_UPDATE_FORM(NumericElement, v -= x) NEREID_UPDATE_FORM(NumericElement, v *= x)
              NEREID_UPDATE_FORM(NumericElement, v /= x) NEREID_UPDATE_FORM(IntegerElement, v %= x)
                  NEREID_UPDATE_FORM(BitElement, v &= x) NEREID_UPDATE_FORM(BitElement, v |= x)
                      NEREID_UPDATE_FORM(BitElement, v ^= x) NEREID_UPDATE_FORM(IntegerElement, v <<= x)
                          NEREID_UPDATE_FORM(IntegerElement, v >>= x))
}

/// A helper of a kernel takes tiles by value.
template <class T> Tile<T> through(const Tile<T> &x) { return x; }

TYPED_TEST(FormsOperator, VarsAreMadeFromAndStandForTiles) {
  using T = TypeParam;
  Result<ir::Function> function = trace_body([](const Inputs &in) {
    const Tile<T> tile = full<T>({4}, in.n.to<T>());
    Var of_tile = tile;
    Var of_var = of_tile;
    Var<T> short_name = of_tile;
    Var<Tile<T>> of_number = static_cast<NumberFor<T>>(1);
    of_tile = short_name;
    short_name = of_tile;
    static_assert(std::same_as<decltype(of_tile), Var<Tile<T>>> &&
                  std::same_as<decltype(of_var), Var<Tile<T>>>);
    through<T>(of_tile);
    through<T>(short_name);
    through<T>(static_cast<NumberFor<T>>(1));
    EXPECT_EQ(short_name.shape(), Shape{4});
    EXPECT_EQ(short_name.rank(), 1u);
    EXPECT_EQ(short_name.size(-1), 4);
    EXPECT_EQ(of_number.rank(), 0u);
    expect_tile_of<T>(short_name.get());
  });
  EXPECT_TRUE(function.ok()) << function.error().text();
}

TEST(FormsNumbers, OfEveryCppTypeBesideATile) {
  Result<ir::Function> function = trace_body([](const Inputs &in) {
    const auto beside = [](const auto &tile, auto... numbers) {
      ((void)(tile + numbers), ...);
      ((void)(numbers * tile), ...);
    };
    beside(in.s, 1, 2u, 3L, 4UL, int8_t(5), 6.0f, 7.0, 8.0L, bf16(9.0f), f16(1.0f));
    beside(in.b({4}), 1, 2u, 3L, 4UL, int8_t(5), 6.0f, 7.0, 8.0L, bf16(9.0f), f16(1.0f));
    beside(in.n, 1, 2u, 3L, 4UL, int8_t(5));
    beside(in.m, 1, 2u, 3L, 4UL, int8_t(5));
  });
  EXPECT_TRUE(function.ok()) << function.error().text();
}

template <class V, class X>
concept VarOf = requires(X x) {
  Var(x);
  requires std::same_as<decltype(Var(x)), Var<Tile<V>>>;
};
static_assert(VarOf<i32, int> && VarOf<i32, int8_t> && VarOf<u32, unsigned> && VarOf<i64, long> &&
              VarOf<u64, unsigned long> && VarOf<f32, float> && VarOf<f32, double> && VarOf<i1, bool> &&
              VarOf<bf16, bf16> && VarOf<f16, f16> && VarOf<i1, i1>);

TEST(FormsOperator, NegationHasTheLineOfTheExpressionThatItStandsIn) {
  EXPECT_REFUSED("inside a loop or branch is used at", "Declare a Var", std::vector<Tile<i1>> kept;
                 when(in.n > 0, [&] { kept.push_back(in.n > 1); }); when(!kept[0], [] {}));
  unsigned line = __LINE__ + 4;
  Result<ir::Function> function = trace_body([](const Inputs &in) {
    const Tile<i1> mask = in.i({4}) < 3;
    const Tile<i32> at = arange(0, 4);
    store(in.q + at, at, !mask);
  });
  ASSERT_TRUE(function.ok()) << function.error().text();
  unsigned found = 0;
  ir::for_each_op(*function, [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::Not)
      found = function->location(op).line;
  });
  EXPECT_EQ(found, line);
}

} // namespace
} // namespace nereid::test
