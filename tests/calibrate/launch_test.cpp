// Kernels of tiles, their launches, and what the simulator says of them.
#include <cstring>

#include <gtest/gtest.h>

#include "tests/calibrate/product_kernel.h"
#include "tools/calibrate/product_launch.h"
#include "tools/calibrate/samples.h"

namespace nereid::calibrate {
namespace {

template <class Value> Value at(const sim::Launch &launch, size_t offset) {
  Value value;
  std::memcpy(&value, launch.kernarg.data() + offset, sizeof(value));
  return value;
}

TEST(ProductLaunch, ArgumentsAreSlotsOf16Bytes) {
  sim::Memory memory;
  const auto launch = product_launch("k", {32, 128}, {100, 2112, 7168}, memory);
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->grid, (std::array<uint32_t, 3>{17, 4, 1}));
  EXPECT_EQ(launch->block, (std::array<uint32_t, 3>{256, 1, 1}));
  ASSERT_EQ(launch->kernarg.size(), 372u);
  const std::pair<size_t, uint32_t> words[] = {{96, 2112},  {128, 2112}, {160, 7168}, {192, 7168}, {224, 100},
                                               {240, 2112}, {256, 7168}, {304, 224},  {336, 224},  {368, 0}};
  for (const auto &[offset, value] : words)
    EXPECT_EQ(at<uint32_t>(*launch, offset), value) << offset;
  EXPECT_EQ(at<float>(*launch, 64), 1.0f);
  EXPECT_EQ(at<float>(*launch, 80), 0.0f);
  const std::pair<size_t, size_t> matrices[] = {
      {0, 128 * 2112 * 2}, {32, 100 * 3584}, {48, 2112 * 3584}, {272, 256 * 224}, {288, 2304 * 224}};
  const sim::Memory::View view = memory.view();
  for (const auto &[offset, bytes] : matrices) {
    const sim::Block *block = view.find(at<uint64_t>(*launch, offset), bytes);
    ASSERT_NE(block, nullptr) << offset;
    EXPECT_EQ(block->size(), bytes) << offset;
  }
}

TEST(ProductLaunch, AKWithoutWholeScalesIsTheUsers) {
  sim::Memory memory;
  const auto launch = product_launch("k", {32, 128}, {1, 128, 100}, memory);
  ASSERT_FALSE(launch.ok());
  EXPECT_EQ(launch.error().owner, Owner::User);
}

TEST(TileKernels, ANameTellsItsTile) {
  EXPECT_EQ(tile_of_kernel("_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x128E"), (Tile{256, 128}));
  EXPECT_EQ(tile_of_kernel("_ZN5aiter44f4gemm_bf16_per1x32Fp4_noBpreShuffle_256x256E"), std::nullopt);
  EXPECT_EQ(tile_of_kernel("f4gemm_bf16_per1x32Fp4_BpreShuffle_x128"), std::nullopt);
  EXPECT_EQ(tile_of_kernel("f4gemm_bf16_per1x32Fp4_BpreShuffle_32x0"), std::nullopt);
  EXPECT_EQ(tile_of_kernel("k"), std::nullopt);
}

TEST(TileKernels, AreFoundByName) {
  const test::ObjectFolder folder({{32, 128}, {64, 256}});
  folder.write("notes.txt", {});
  const auto kernels = find_tile_kernels(folder.path());
  ASSERT_TRUE(kernels.ok()) << kernels.error().text();
  ASSERT_EQ(kernels->size(), 2u);
  EXPECT_EQ(kernels->begin()->first, (Tile{32, 128}));
  EXPECT_EQ(kernels->begin()->second.digest.size(), 64u);
}

/// The message with which a folder is refused; the user gave it.
std::string refusal(const std::string &folder) {
  const auto kernels = find_tile_kernels(folder);
  if (kernels) {
    ADD_FAILURE() << "taken: " << folder;
    return "";
  }
  EXPECT_EQ(kernels.error().owner, Owner::User);
  return kernels.error().message;
}

TEST(TileKernels, BadFoldersAreRefused) {
  EXPECT_NE(refusal("/no/such/folder").find("cannot read the folder /no/such/folder"), std::string::npos);
  const test::ObjectFolder empty({});
  EXPECT_NE(refusal(empty.path()).find("has no code object"), std::string::npos);
  const test::ObjectFolder twice({{32, 128}});
  twice.write("again.co", test::product_kernel({32, 128}));
  EXPECT_NE(refusal(twice.path()).find("tile 32x128 has a kernel already"), std::string::npos);
  const test::ObjectFolder damaged({{32, 128}});
  damaged.write("damaged.co", std::vector<std::byte>(100));
  EXPECT_NE(refusal(damaged.path()).find("damaged.co"), std::string::npos);
}

TEST(SimulatedProfiles, EachLaunchIsSimulatedOnceAndAlike) {
  const test::ObjectFolder folder({{32, 128}});
  const auto kernels = find_tile_kernels(folder.path()).value();
  const auto store = ProfileStore::open(folder.path("profiles")).value();
  const ProfileSource source = simulated_profiles(kernels, *store);
  const WantedLaunch wanted{{32, 128}, {64, 1024, 2048}};
  const std::vector<WantedLaunch> launches(4, wanted);
  const auto profiles = profiles_of(launches, source, 2);
  ASSERT_TRUE(profiles.ok()) << profiles.error().text();
  const auto fresh = ProfileStore::open("").value();
  const auto again = simulated_profiles(kernels, *fresh)(wanted);
  ASSERT_TRUE(again.ok());
  for (const sim::LaunchProfile &profile : *profiles) {
    EXPECT_EQ(sim::device_us(profile, sim::CacheState::Rotating),
              sim::device_us(*again, sim::CacheState::Rotating));
    ASSERT_EQ(profile.rounds.size(), 1u);
    EXPECT_EQ(profile.rounds.front().workgroups, 16u);
    EXPECT_GT(profile.rounds.front().phases[sim::RoundProfile::Loop].load_bytes, 0);
  }
}

TEST(SimulatedProfiles, ATileWithoutKernelIsTheUsers) {
  const std::map<Tile, TileKernel> kernels;
  const auto store = ProfileStore::open("").value();
  const std::vector<WantedLaunch> launches = {{{32, 128}, {1, 128, 256}}};
  const auto profiles = profiles_of(launches, simulated_profiles(kernels, *store), 1);
  ASSERT_FALSE(profiles.ok());
  EXPECT_EQ(profiles.error().owner, Owner::User);
  EXPECT_NE(profiles.error().message.find("tile 32x128"), std::string::npos);
}

} // namespace
} // namespace nereid::calibrate
