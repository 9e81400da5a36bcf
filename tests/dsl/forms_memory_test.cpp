#include "tests/dsl/forms_support.h"

namespace nereid::test {
namespace {

template <class T> Ptr<T> pointer_to(const Inputs &in);
template <> Ptr<f32> pointer_to(const Inputs &in) { return in.p; }
template <> Ptr<i32> pointer_to(const Inputs &in) { return in.q; }

template <class T> class FormsMemory : public ::testing::Test {};
using MemoryElements = ::testing::Types<f32, i32>;
TYPED_TEST_SUITE(FormsMemory, MemoryElements);

/// Calls f with a pointer of every kind, to 8 elements.
template <class T, class F> void with_each_pointer(const Inputs &in, F f) {
  const Ptr<T> pointer = pointer_to<T>(in) + arange(0, 8);
  f(pointer);
  Var var = pointer;
  f(var);
}

TYPED_TEST(FormsMemory, PointersPlusEveryOffset) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(with_each_pointer<T>(in, [&](const auto &p) {
                        const auto is_pointer = [](const auto &x) {
                          static_assert(std::same_as<decltype(x), const Ptr<T> &>);
                        };
                        const auto check = [&](const auto &offset) {
                          is_pointer(p + offset);
                          is_pointer(offset + p);
                          Var moving = pointer_to<T>(in) + full<i32>({8}, 0);
                          moving += offset;
                          moving = p + offset;
                          moving = p;
                          Var<Ptr<const T>> reading = moving;
                          reading = moving;
                          reading = p;
                          Var<Ptr<const T>> from_pointer = pointer_to<T>(in);
                          reading = p + offset;
                          (void)load(reading);
                        };
                        with_each_kind<i32>(in, {}, check);
                        with_each_kind<i64>(in, {8}, check);
                        check(3L);
                        check(4u);
                      });)
}

TYPED_TEST(FormsMemory, LoadsWithEveryMaskAndValue) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(with_each_pointer<T>(in, [&](const auto &p) {
                        expect_tile_of<T>(load(p));
                        expect_tile_of<T>(load(p, Cache::Stream));
                        with_each_kind<i1>(in, {8}, [&](const auto &mask) {
                          expect_tile_of<T>(load(p, mask));
                          expect_tile_of<T>(load(p, mask, Cache::Global));
                          with_each_kind<T>(in, {}, [&](const auto &other) {
                            expect_tile_of<T>(load(p, mask, other));
                            expect_tile_of<T>(load(p, mask, other, Cache::Stream));
                          });
                        });
                      });)
}

TYPED_TEST(FormsMemory, StoresWithEveryMaskAndValue) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(with_each_pointer<T>(in, [&](const auto &p) {
                        with_each_kind<T>(in, {8}, [&](const auto &x) {
                          store(p, x);
                          store(p, x, Cache::Stream);
                          with_each_kind<i1>(in, {8}, [&](const auto &mask) {
                            store(p, x, mask);
                            store(p, x, mask, Cache::Global);
                          });
                        });
                      });)
}

TYPED_TEST(FormsMemory, AtomicsWithEveryMaskAndValue) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(with_each_pointer<T>(in, [&](const auto &p) {
                        with_each_kind<T>(in, {8}, [&](const auto &x) {
                          expect_tile_of<T>(atomic_add(p, x));
                          expect_tile_of<T>(atomic_max(p, x, Order::Relaxed));
                          expect_tile_of<T>(atomic_min(p, x));
                          expect_tile_of<T>(atomic_exchange(p, x, Order::Release, Scope::Workgroup));
                          with_each_kind<i1>(in, {8}, [&](const auto &mask) {
                            expect_tile_of<T>(atomic_add(p, x, mask));
                            expect_tile_of<T>(atomic_max(p, x, mask, Order::Acquire));
                            expect_tile_of<T>(atomic_exchange(p, x, mask, Order::AcqRel, Scope::Device));
                            expect_tile_of<T>(atomic_min(p, x, mask, Order::Relaxed));
                            if constexpr (IntegerElement<T>) {
                              expect_tile_of<T>(atomic_and(p, x, mask));
                              expect_tile_of<T>(atomic_or(p, x, Order::Relaxed, Scope::Workgroup));
                              expect_tile_of<T>(atomic_xor(p, x));
                              expect_tile_of<T>(atomic_compare_exchange(p, x, 1));
                              expect_tile_of<T>(atomic_compare_exchange(p, 1, x, Order::Relaxed));
                              expect_tile_of<T>(atomic_compare_exchange(p, x, x, mask));
                            }
                          });
                        });
                      });)
}

template <class T> class FormsControl : public ::testing::Test {};
using IndexElements = ::testing::Types<i32, i64>;
TYPED_TEST_SUITE(FormsControl, IndexElements);

TYPED_TEST(FormsControl, RangesWithEveryBound) {
  using T = TypeParam;
  NEREID_EXPECT_FORMS(
      with_each_kind<T>(in, {}, [&](const auto &first) {
        with_each_kind<T>(in, {}, [&](const auto &last) {
          using Index =
              std::conditional_t<all_numbers<std::decay_t<decltype(first)>, std::decay_t<decltype(last)>>,
                                 i32, T>;
          for (Tile<Index> k : range(first, last))
            device_print("k", k);
          for (Tile<Index> k : range(first, last, {.stages = 2}))
            device_print("k", k);
          with_each_kind<T>(in, {}, [&](const auto &step) {
            for (auto k : range(first, last, step))
              device_print("k", k);
            for (auto k : range(first, last, step, {.stages = 3}))
              device_print("k", k);
          });
        });
      });)
}

TEST(FormsControl, BranchesOnEveryConditionAndStatements) {
  NEREID_EXPECT_FORMS(with_each_kind<i1>(in, {},
                                         [&](const auto &condition) {
                                           Var count = 0;
                                           when(condition, [&] { count += 1; });
                                           when(condition, [&] { count += 1; }, [&] { count = 2; });
                                           assume(condition);
                                           device_assert(condition, "holds");
                                         });
                      when((!(in.n > 0)) & !(in.s > 1.0f), [] {}); static_check(true, "always");
                      Var var = in.s; Var pointer = in.p;
                      device_print("all kinds", in.x({4}), in.n, in.m, in.p, var, pointer, 1, 2.5, true);)
}

TEST(FormsSources, ProgramIdsAndRanges) {
  NEREID_EXPECT_FORMS(expect_tile_of<i32>(program_id(0)); expect_tile_of<i32>(num_programs(2));
                      expect_tile_of<i32>(arange(-3, 5));)
}

TEST(FormsMatrix, Products) {
  NEREID_EXPECT_FORMS(
      with_each_handle<bf16>(in, {32, 32},
                             [&](const auto &a) {
                               with_each_handle<bf16>(in, {32, 32},
                                                      [&](const auto &b) { expect_tile_of<f32>(dot(a, b)); });
                               with_each_handle<u8>(in, {32, 32}, [&](const auto &codes) {
                                 with_each_handle<u8>(in, {32, 1}, [&](const auto &scales) {
                                   expect_tile_of<f32>(dot_scaled(a, codes, scales, e5m2));
                                   expect_tile_of<f32>(dot_scaled(codes, scales, e4m3, a));
                                 });
                               });
                             });
      with_each_handle<f16>(in, {32, 32}, [&](const auto &a) { expect_tile_of<f32>(dot(a, a)); });
      with_each_handle<i8>(in, {32, 32}, [&](const auto &a) { expect_tile_of<i32>(dot(a, a)); });
      with_each_handle<u8>(in, {32, 32}, [&](const auto &a) {
        with_each_handle<u8>(in, {32, 1}, [&](const auto &scales) {
          expect_tile_of<f32>(dot(a, e4m3, a, e5m2));
          expect_tile_of<f32>(dot_scaled(a, scales, e4m3, a, scales, e5m2));
        });
      });)
}

template <class T> void check_quantize(const Inputs &in) {
  with_each_handle<T>(in, {2, 64}, [](const auto &x) {
    for (Format format : {e2m1, e2m3, e3m2, e4m3, e5m2}) {
      auto [codes, scales] = quantize(x, format);
      expect_tile_of<u8>(codes);
      expect_tile_of<u8>(scales);
      for (ScaleRule rule : {ScaleRule::Even, ScaleRule::Floor, ScaleRule::Ceil})
        (void)quantize(x, format, rule);
    }
  });
}

TEST(FormsMatrix, QuantizeAndTheHardwaresConversions) {
  NEREID_EXPECT_FORMS(check_quantize<f32>(in); check_quantize<bf16>(in); check_quantize<f16>(in);
                      check_ternary<u8, f32>(in, [](const auto &a, const auto &b,
                                                    const auto &c) { return cvt_scaled<e2m1>(a, b, c); });
                      check_ternary<u16, f32>(in, [](const auto &a, const auto &b, const auto &c) {
                        (void)cvt_scaled<e5m2>(a, b, c);
                        return cvt_scaled<e4m3>(a, b, c);
                      });)
}

TEST(FormsAssembly, OperandsOfEveryKind) {
  NEREID_EXPECT_FORMS(check_binary<i32, i32>(in, [](const auto &a, const auto &b) {
                        (void)inline_asm<f32>("v_mov_b32 $0, $1", "=v,v,v", nullptr, a, b);
                        return inline_asm<i32>(
                            "v_add_u32 $0, $1, $2", "=v,v,v", [](i32 x, i32 y) { return x + y; }, a, b);
                      });)
}

} // namespace
} // namespace nereid::test
