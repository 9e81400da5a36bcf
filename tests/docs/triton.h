// What the cells of docs/from-triton.md use.
#include <tuple>

#include <nereid/nereid.h>

using namespace nereid;

using T = f32;

struct Context {
  Tile<f32> x, y;
  Tile<i32> i;
  Tile<u32> u;
  Tile<f16> h;
  Tile<u8> b, s;
  Tile<i1> mask;
  Ptr<f32> p;
  Ptr<u32> q;
  Int n, seed;
  Long address;
  Var<f32> acc;
};
#define NAMES                                                                                                \
  [[maybe_unused]] auto &[x, y, i, u, h, b, s, mask, p, q, n, seed, address, acc] = context;                          \
  [[maybe_unused]] const auto combine = [](const auto &a, const auto &b) { return a + b; };                  \
  [[maybe_unused]] const auto combine_two = [](const auto &a, const auto &b) {                               \
    return std::tuple(std::get<0>(a) + std::get<0>(b), std::get<1>(a) * std::get<1>(b));                     \
  };
