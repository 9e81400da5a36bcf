#include <limits>
#include <optional>

#include "dsl/ir/fold.h"
#include "tests/dsl/interpreter_support.h"
#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

static_assert(cdiv(0, 7) == 0 && cdiv(1, 7) == 1 && cdiv(7, 7) == 1 && cdiv(8, 7) == 2);
static_assert(cdiv(2147483647, 1024) == 2097152 && cdiv(17, 2147483632) == 1);
static_assert(cdiv(-7, 2) == -3 && cdiv(7, -2) == -3 && cdiv(-7, -2) == 4 && cdiv(-6, 2) == -3);
static_assert(cdiv(-2147483647 - 1, 1) == -2147483647 - 1 && cdiv(-1, 2147483647) == 0);
static_assert(cdiv(UINT32_MAX, 2u) == 0x80000000u && cdiv(UINT64_MAX, 2) == uint64_t{1} << 63);
static_assert(cdiv(INT64_MAX, 2) == INT64_C(1) << 62 && cdiv(INT64_MIN, 3) == INT64_MIN / 3);
static_assert(cdiv(int8_t{-128}, int8_t{-1}) == 128); // as int, which a / b is
static_assert(cdiv(size_t{5}, 2) == 3 && cdiv(5, size_t{2}) == 3 && cdiv(-1, 5u) == 0);
static_assert(std::is_same_v<decltype(cdiv(5, 2)), int> && std::is_same_v<decltype(cdiv(5, 2L)), long>);

template <class A, class B> Error host_error(A a, B b, unsigned &line) {
  line = __LINE__ + 2;
  try {
    (void)cdiv(a, b);
  } catch (const TraceError &error) {
    return error.error();
  }
  return {};
}

TEST(CdivOnTheHost, AZeroDivisorAndAQuotientThatDoesNotFitThrowWithTheirLine) {
  unsigned line = 0;
  for (const Error &error :
       {host_error(5, 0, line), host_error(5u, 0u, line), host_error(INT64_MIN, 0, line)}) {
    EXPECT_EQ(error.message, "cdiv: the divisor is 0");
    EXPECT_EQ(error.owner, Owner::User);
    EXPECT_EQ(error.where.line, line);
  }
  for (const Error &error :
       {host_error(INT32_MIN, -1, line), host_error(INT64_MIN, -1, line), host_error(-7, 2u, line)})
    EXPECT_EQ(error.message, "cdiv: the type of a / b does not hold the quotient");
  EXPECT_REFUSED("cdiv: the divisor is 0", "Check it before", const int zero = 0; store(in.q, cdiv(7, zero)));
}

/// What ceil(a / b) is for elements of T, as wrapped bits; nothing for b = 0.
template <class T> std::optional<T> exact(T a, T b) {
  if (b == 0)
    return std::nullopt;
  const __int128_t x = a, y = b;
  const __int128_t quotient = x / y + (x % y != 0 && (x < 0) == (y < 0));
  return static_cast<T>(quotient);
}

template <class T> std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           7,
                           16,
                           17,
                           63,
                           64,
                           Limits::max(),
                           Limits::max() - 1,
                           Limits::max() / 2,
                           Limits::min(),
                           Limits::min() + 1};
  for (int64_t x : {2147483632, 2147483647, 1024, -1, -2, -7, -64})
    values.push_back(static_cast<T>(x));
  return values;
}

template <class T> class Cdiv : public ::testing::Test {};
using Integers = ::testing::Types<i8, u8, i16, u16, i32, u32, i64, u64>;
TYPED_TEST_SUITE(Cdiv, Integers);

TYPED_TEST(Cdiv, FoldsToTheExactQuotient) {
  using T = TypeParam;
  const auto bits = [](T x) { return ir::integer_bits(element_of<T>, static_cast<int64_t>(x)); };
  for (T a : edges<T>())
    for (T b : edges<T>()) {
      const std::optional<uint64_t> folded =
          ir::fold_integers(ir::Opcode::CeilDiv, element_of<T>, bits(a), bits(b));
      const std::optional<T> wanted = exact(a, b);
      ASSERT_EQ(folded.has_value(), wanted.has_value()) << +a << " " << +b;
      EXPECT_EQ(folded.value_or(0), wanted ? bits(*wanted) : 0) << +a << " " << +b;
    }
}

TYPED_TEST(Cdiv, IsInterpretedAsTheExactQuotient) {
  using T = TypeParam;
  std::vector<T> a, b, wanted;
  for (T x : edges<T>())
    for (T y : edges<T>())
      if (y != 0) {
        a.push_back(x);
        b.push_back(y);
        wanted.push_back(*exact(x, y));
      }
  std::vector<T> out(a.size());
  const std::string element(ir::facts(element_of<T>).name);
  const Status status = run_text(
      Elementwise{{element, element}, element, "$r = cdiv $0, $1 : " + element + "[n]"}.text(a.size()),
      {a, b, out});
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(out, wanted);
}

TEST(CdivOfTiles, IsOneOperation) {
  EXPECT_EQ(body_of([](const Inputs &in) {
              store(in.q, cdiv(in.n, 64));
              store(in.q, cdiv(7, in.m.to<i32>()));
              store(in.q, cdiv(Int(2147483647), 1024));
              store(in.q, cdiv(in.n, 1));
            }),
            R"(  %7 = constant {bits = 64} : i32
  %8 = cdiv %4, %7 : i32
  store %1, %8
  %9 = constant {bits = 7} : i32
  %10 = cast %5 : i32
  %11 = cdiv %9, %10 : i32
  store %1, %11
  %12 = constant {bits = 2097152} : i32
  store %1, %12
  store %1, %4
)");
}

TEST(DivisionByZero, OfAConstantIsRefusedAtItsLine) {
  EXPECT_REFUSED("cdiv: the divisor is 0", "C++ if", store(in.q, cdiv(in.n, 0)));
  EXPECT_REFUSED("div: the divisor is 0", "C++ if", store(in.q, in.n / 0));
  EXPECT_REFUSED("rem: the divisor is 0", "C++ if", store(in.q, in.i({4}) % Int(0)));
  EXPECT_REFUSED("div: the divisor is 0", "C++ if", Var v = in.m; v /= 0);
  EXPECT_EQ(body_of([](const Inputs &in) { store(in.p, in.s / 0); }).find("error"), std::string::npos);
}

TEST(DivisionByZero, OfAnArgumentThatTheLaunchKnowsIsLeftToTheRun) {
  const auto kernel = [](const NoConfig &, Ptr<i32> q, Int n) {
    when(n > 1, [&] { store(q, cdiv(7, n - 1) + 7 / (n - 1).to<i64>().to<i32>()); });
  };
  const Result<ir::Function> function = trace("guarded", kernel, NoConfig{}, {{}, {.constant = 1}});
  EXPECT_TRUE(function.ok()) << function.error().text();
}

TEST(DivisionByZero, AtRunTimeIsReportedWhereItIsSeen) {
  std::vector<int32_t> a = {5}, b = {0}, out(1);
  const Status status =
      run_text(Elementwise{{"i32", "i32"}, "i32", "$r = cdiv $0, $1 : i32[n]"}.text(1), {a, b, out});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("a division by zero reaches memory"), std::string::npos)
      << status.error().message;
}

} // namespace
} // namespace nereid::test
