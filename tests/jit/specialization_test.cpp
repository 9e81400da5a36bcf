// What a launch specialises on: each fact is in the key and in the code, and can be switched off.
#include <set>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

/// Masked, with offsets of which only the size of the buffer says that they are small.
void gather(const AddConfig &c, Ptr<const f32> x, Ptr<const i32> index, Ptr<f32> z, Int n, Int stride) {
  const Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  const Tile<i1> in_range = i < n;
  const Tile<i32> from = load(index + i, in_range);
  store(z + i, load(x + from * stride, in_range), in_range);
}

using Facts = std::vector<ArgumentFacts>;

std::shared_ptr<const CompiledKernel> compiled(const Facts &facts) {
  static const Device device = Device::simulator();
  const auto kernel = Kernel("gather", gather).compile({.block = 256, .waves = 1}, facts, device);
  EXPECT_TRUE(kernel) << kernel.error().text();
  return *kernel;
}

std::string code_of(const Facts &facts) {
  const SharedBytes code = compiled(facts)->code_object();
  return {code.begin(), code.end()};
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

TEST(Specialization, EachFactIsInTheKeyAndInTheCode) {
  const ArgumentFacts none, aligned{.divisibility = 16}, one{.constant = 1}, small{.pointer_range = 32};
  const Facts variants[] = {
      {}, {none, none, aligned}, {none, none, none, aligned}, {none, none, none, none, one}, {small}};
  std::set<std::string> keys, codes;
  for (const Facts &facts : variants) {
    keys.insert(compiled(facts)->key());
    codes.insert(code_of(facts));
  }
  EXPECT_EQ(keys.size(), std::size(variants));
  // n divides nothing here: its divisibility is a variant that gains nothing.
  EXPECT_EQ(codes.size(), std::size(variants) - 1);
}

TEST(Specialization, AMaskedGatherOfASmallBufferTakesNoBranch) {
  const ArgumentFacts none, small{.pointer_range = 32};
  const std::string branches = compiled({})->isa().value();
  const std::string buffers = compiled({small, small, small})->isa().value();
  EXPECT_TRUE(has(branches, "s_cbranch") || has(branches, "saveexec"));
  EXPECT_FALSE(has(buffers, "s_cbranch") || has(buffers, "saveexec")) << buffers;
  EXPECT_TRUE(has(buffers, "buffer_load_dword"));
}

TEST(Specialization, ABranchlessGatherIsRight) {
  const Device device = Device::simulator({.checks = "all"});
  constexpr int n = 500, stride = 3;
  std::vector<float> x(1600);
  std::vector<int> index(n);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  for (int i = 0; i < n; ++i)
    index[i] = i * 7919 % 533;
  const auto x_buffer = device.upload(x).value();
  const auto index_buffer = device.upload(index).value();
  const auto z = device.allocate<float>(n).value();
  const Kernel kernel("gather", gather);
  const auto launched =
      kernel(device.stream(), {2}, AddConfig{.block = 256, .waves = 1}, x_buffer, index_buffer, z, n, stride);
  ASSERT_TRUE(launched) << launched.error().text();
  EXPECT_TRUE(has(launched->compiled->ir(), "pointer_range = 32"));
  const std::vector<float> result = z.to_host().value();
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(result[i], static_cast<float>(index[i] * stride)) << i;
}

TEST(Specialization, IsOfThatWhichALaunchGives) {
  using G = Kernel<AddConfig, Ptr<const f32>, Ptr<const i32>, Ptr<f32>, Int, Int>;
  const Device device = Device::simulator();
  const auto x = device.allocate<float>(64).value();
  const auto index = device.allocate<int>(64).value();
  const Facts facts = G::facts(x, index.at(0), x.at(1), 32, 1);
  const Facts expected = {{.divisibility = 16, .pointer_range = 32},
                          {.divisibility = 16}, // how much lies beside an address is not known
                          {},
                          {.divisibility = 16},
                          {.constant = 1}};
  EXPECT_EQ(facts, expected);
}

TEST(Specialization, ALargeBufferIsNotSmall) {
  const Device device = Device::simulator();
  const auto almost = device.allocate((size_t{1} << 31) - 4).value(),
             large = device.allocate(size_t{1} << 31).value();
  using K = Kernel<AddConfig, Ptr<const f32>, Ptr<f32>>;
  EXPECT_EQ(K::facts(almost, large),
            (Facts{{.divisibility = 16, .pointer_range = 32}, {.divisibility = 16}}));
}

/// Launches with values of every kind, given through `given`.
template <class Given> size_t variants(const Given &given) {
  const Device device = Device::simulator();
  const auto x = device.upload(std::vector<float>(64, 1.0F)).value();
  const auto index = device.upload(std::vector<int>(64, 0)).value();
  const auto z = device.allocate<float>(64).value();
  const Kernel kernel("gather", gather);
  std::set<std::string> keys;
  const auto launch = [&](const auto &to, int n, int stride) {
    const auto info = kernel(device.stream(), {1}, AddConfig{.block = 64, .waves = 1}, given(x), given(index),
                             given(to), given(n), given(stride));
    EXPECT_TRUE(info) << info.error().text();
    keys.insert(info->compiled->key());
  };
  for (const int n : {1, 16, 15})
    for (const int stride : {1, 16}) {
      launch(z, n, stride);
      launch(z.at(4), n, stride);
      launch(z.at(1), n, stride);
    }
  return keys.size();
}

TEST(Specialization, SwitchedOffThereIsOneVariant) {
  EXPECT_EQ(variants([](const auto &argument) { return no_specialize(argument); }), 1u);
  // n: 1, a multiple of 16, other; stride: 1, a multiple of 16; z: small buffer, aligned, other.
  EXPECT_EQ(variants([](const auto &argument) -> const auto & { return argument; }), 3u * 2 * 3);
}

} // namespace
} // namespace nereid::test
