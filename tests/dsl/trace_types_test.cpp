#include <cmath>
#include <limits>

#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

// What must not compile, as far as overload resolution can tell.
template <class A, class B>
concept Adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept Ands = requires(A a, B b) { a & b; };
template <class A, class B>
concept Remainder = requires(A a, B b) { a % b; };
template <class P, class V>
concept Stores = requires(P p, V v) { store(p, v); };
template <class P>
concept Loads = requires(P p) { load(p); };
template <class P, class V>
concept AtomicallyAdds = requires(P p, V v) { atomic_add(p, v); };
template <class C, class A, class B>
concept Chooses = requires(C c, A a, B b) { where(c, a, b); };
template <class X>
concept Exponentiates = requires(X x) { exp(x); };
template <class F, class L>
concept Ranges = requires(F f, L l) { range(f, l); };
template <class T, class X>
concept Bitcasts = requires(X x) { bitcast<T>(x); };

static_assert(Adds<Tile<f32>, Tile<f32>> && Adds<Tile<f32>, float> && Adds<int, Tile<f32>> &&
              Adds<double, Float>);
static_assert(Adds<Var<Tile<f32>>, Var<Tile<f32>>> && Adds<Var<Tile<i32>>, int> && Adds<Var<f32>, Tile<f32>>);
static_assert(!Adds<Tile<f32>, Tile<i32>> && !Adds<Tile<i32>, Tile<u32>> && !Adds<Tile<bf16>, Tile<f32>>);
static_assert(Adds<Tile<i32>, Tile<i64>>); // to i64
static_assert(!Adds<Tile<i32>, float> && !Adds<Tile<i1>, Tile<i1>> && !Adds<Tile<i32>, bool>);
static_assert(Ands<Tile<i1>, Tile<i1>> && Ands<Tile<u8>, int> && !Ands<Tile<f32>, Tile<f32>>);
static_assert(Remainder<Int, int> && !Remainder<Tile<f32>, Tile<f32>>);

static_assert(Adds<Ptr<f32>, Tile<i32>> && Adds<Ptr<f32>, Tile<i64>> && Adds<Ptr<f32>, int> &&
              Adds<Int, Ptr<f32>>);
static_assert(Adds<Var<Ptr<const u8>>, Int>);
static_assert(!Adds<Ptr<f32>, Tile<u32>> && !Adds<Ptr<f32>, Tile<f32>> && !Adds<Ptr<f32>, Ptr<f32>>);

static_assert(Stores<Ptr<f32>, Tile<f32>> && Stores<Ptr<f32>, float> &&
              Stores<Var<Ptr<f32>>, Var<Tile<f32>>>);
static_assert(!Stores<Ptr<const f32>, Tile<f32>> && !Stores<Var<Ptr<const f32>>, Tile<f32>>);
static_assert(!Stores<Ptr<bf16>, Tile<f32>> && !Stores<Tile<f32>, Tile<f32>>);
static_assert(Loads<Ptr<const f32>> && Loads<Var<Ptr<f32>>> && !Loads<Tile<f32>> && !Loads<Int>);
static_assert(AtomicallyAdds<Ptr<i32>, int> && !AtomicallyAdds<Ptr<const i32>, int>);
static_assert(std::is_convertible_v<Ptr<f32>, Ptr<const f32>> &&
              !std::is_convertible_v<Ptr<const f32>, Ptr<f32>>);

static_assert(Chooses<Tile<i1>, Tile<f32>, float> && Chooses<bool, int, Tile<f32>>);
static_assert(!Chooses<Tile<i32>, Tile<f32>, float> && !Chooses<Tile<i1>, Tile<f32>, Tile<i32>>);
static_assert(Exponentiates<Tile<bf16>> && !Exponentiates<Tile<i32>>);
static_assert(Ranges<int, Int> && Ranges<Long, Long> && Ranges<int, int>);
static_assert(!Ranges<int, Tile<f32>> && !Ranges<int, float>);
// fp8 and bf8 move and convert, and that is all.
static_assert(Adds<Ptr<fp8>, int> && Stores<Ptr<fp8>, Tile<fp8>> && Stores<Ptr<bf8>, float> &&
              Loads<Ptr<const bf8>> && Chooses<Tile<i1>, Tile<fp8>, float> && Bitcasts<u8, Tile<fp8>> &&
              Bitcasts<bf8, Tile<fp8>>);
static_assert(!Adds<Tile<fp8>, Tile<fp8>> && !Adds<Tile<bf8>, float> && !Ands<Tile<fp8>, Tile<fp8>> &&
              !Exponentiates<Tile<fp8>> && !Stores<Ptr<fp8>, Tile<bf8>> && !Stores<Ptr<fp8>, Tile<u8>>);
static_assert(Bitcasts<u32, Tile<f32>> && !Bitcasts<u16, Tile<f32>> && !Bitcasts<i1, Tile<u8>>);

static_assert(!std::is_assignable_v<Tile<f32> &, Tile<f32>> && !std::is_assignable_v<Int &, int>);
static_assert(!std::is_assignable_v<Ptr<f32> &, Ptr<f32>> && !std::is_assignable_v<const Int &, Int &>);
static_assert(std::is_assignable_v<Var<Tile<f32>> &, Tile<f32>> &&
              std::is_assignable_v<Var<Tile<f32>> &, float>);
static_assert(!std::is_assignable_v<Var<Tile<f32>> &, Tile<i32>> &&
              !std::is_assignable_v<Var<Tile<i32>> &, float>);
static_assert(std::is_assignable_v<Var<Ptr<const f32>> &, Ptr<f32>>);
static_assert(!std::is_convertible_v<Tile<i1>, bool> && !std::is_convertible_v<Int, int>);

TEST(TraceTypes, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bf16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80); // a tie, to even
  EXPECT_EQ(bf16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82); // a tie, to even
  EXPECT_EQ(bf16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(bf16(std::bit_cast<float>(0x7f800001u))));
  EXPECT_EQ(static_cast<float>(bf16::from_bits(0xc040)), -3.0f);
}

TEST(TraceTypes, F16AgreesWithTheCompilersOwn) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    f16 ours = f16::from_bits(static_cast<uint16_t>(bits));
    float value = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(ours));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(ours)), std::bit_cast<uint32_t>(value)) << bits;
    ASSERT_EQ(f16(value).bits, bits);
  }
  for (uint32_t bits = 0; bits < 0xfff00000; bits += 9973) {
    float value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) {
      ASSERT_EQ(f16(value).bits, std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << bits;
    }
  }
}

} // namespace
} // namespace nereid::test
