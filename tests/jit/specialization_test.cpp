// What a launch specialises on: each fact is in the key and in the code, and can be switched off.
#include <set>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

/// Copies bytes: in wide accesses where both addresses and n are divisible and the stride is 1.
void copy_bytes(const AddConfig &c, Ptr<const u8> x, Ptr<u8> z, Int n, Int stride) {
  const Tile<i32> i = arange(0, c.block);
  const Tile<i1> in_range = i < n;
  store(z + i * stride, load(x + i * stride, in_range), in_range);
}

using Facts = std::vector<ArgumentFacts>;
using CopyBytes = KernelOf<AddConfig, Ptr<const u8>, Ptr<u8>, Int, Int>;

constexpr AddConfig config{.block = 1024, .waves = 1};

std::shared_ptr<const CompiledKernel> compiled(const Facts &facts) {
  static const Device device = Device::simulator();
  const auto kernel = CopyBytes("copy_bytes", copy_bytes).compile(config, facts, device);
  EXPECT_TRUE(kernel) << kernel.error().text();
  return *kernel;
}

TEST(Specialization, EachFactIsInTheKeyAndInTheCode) {
  const Facts all{{.divisibility = 16}, {.divisibility = 16}, {.divisibility = 16}, {.constant = 1}};
  const auto instructions = [](const Facts &facts) { return compiled(facts)->annotated_isa().value(); };
  for (size_t fact = 0; fact < all.size(); ++fact) {
    Facts fewer = all;
    fewer[fact] = {};
    EXPECT_NE(compiled(fewer)->key(), compiled(all)->key()) << fact;
    EXPECT_NE(instructions(fewer), instructions(all)) << fact;
  }
}

TEST(Specialization, ALargeBufferIsNotSmall) {
  const Device device = Device::simulator();
  const auto almost = device.allocate((size_t{1} << 31) - 4).value();
  const auto large = device.allocate(size_t{1} << 31).value();
  using K = KernelOf<AddConfig, Ptr<const f32>, Ptr<f32>>;
  EXPECT_EQ(K::facts(almost, large),
            (Facts{{.divisibility = 16, .pointer_range = 32}, {.divisibility = 16}}));
}

TEST(Specialization, IsOfThatWhichALaunchGives) {
  const Device device = Device::simulator();
  const auto x = device.allocate<uint8_t>(64).value();
  // How much lies beside an address is not known.
  EXPECT_EQ(CopyBytes::facts(x, x.at(1), 32, 1),
            (Facts{{.divisibility = 16, .pointer_range = 32}, {}, {.divisibility = 16}, {.constant = 1}}));
  EXPECT_EQ(CopyBytes::facts(x.at(16), x.at(8), 24, 0),
            (Facts{{.divisibility = 16}, {}, {}, {.divisibility = 16}}));
  EXPECT_EQ(CopyBytes::facts(no_specialize(x), x, no_specialize(32), no_specialize(1)),
            (Facts{{}, {.divisibility = 16, .pointer_range = 32}, {}, {}}));
}

/// The keys of launches with values of every kind, given through `given`.
template <class Given> size_t variants(const Given &given) {
  const Device device = Device::simulator();
  const auto x = device.upload(std::vector<uint8_t>(2048, 7)).value();
  const auto z = device.allocate<uint8_t>(2048).value();
  const CopyBytes kernel("copy_bytes", copy_bytes);
  std::set<std::string> keys;
  for (const int n : {1, 16, 15, 32})
    for (const int stride : {1, 16, 3})
      for (const size_t from : {0, 1, 16}) {
        const auto info =
            kernel(device.stream(), {1}, config, given(x), given(z.at(from)), given(n), given(stride));
        EXPECT_TRUE(info) << info.error().text();
        keys.insert(info->compiled->key());
      }
  EXPECT_EQ(z.to_host().value()[16], 7);
  return keys.size();
}

TEST(Specialization, SwitchedOffThereIsOneVariant) {
  // n and stride: 1, a multiple of 16, another; z: aligned or not.
  EXPECT_EQ(variants([](const auto &argument) -> const auto & { return argument; }), 3u * 3 * 2);
  EXPECT_EQ(variants([](const auto &argument) { return no_specialize(argument); }), 1u);
}

} // namespace
} // namespace nereid::test
