// The orders of programs: one to one, and neighbours where they should be.
#include <algorithm>

#include <gtest/gtest.h>

#include "jit/kernel.h"
#include "kernels/program_order.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct OrderConfig {
  int group_m = 4;
  int waves = 1;
  NEREID_CONFIG(OrderConfig, group_m, waves)
};

/// Program i writes its number on its XCD's run, and the tile of that number.
void order_kernel(const OrderConfig &config, Ptr<i32> numbers, Ptr<i32> tiles, Int rows, Int columns) {
  const Int number = xcd_remap(program_id(0), num_programs(0));
  const TilePosition tile = group_m_order(number, rows, columns, config.group_m);
  store(numbers + program_id(0), number);
  store(tiles + number, tile.row * columns + tile.column);
}

struct Numbers {
  std::vector<int32_t> numbers, tiles;
};

Numbers order_of(Backend backend, int rows, int columns, int group_m) {
  const Device &device = test_device();
  const auto count = static_cast<int64_t>(rows) * columns;
  Buffer<int32_t> numbers = device.allocate<int32_t>(count).value();
  Buffer<int32_t> tiles = device.allocate<int32_t>(count).value();
  static const Kernel kernel("order", order_kernel);
  const Stream stream = device.stream();
  const OrderConfig config{.group_m = group_m};
  const Result<LaunchInfo> launched =
      kernel.launch(options_of(backend), stream, {static_cast<uint32_t>(count), 1, 1}, config, numbers, tiles,
                    rows, columns);
  EXPECT_TRUE(launched.ok()) << (launched ? "" : launched.error().text());
  EXPECT_TRUE(stream.synchronize().ok());
  return {numbers.to_host().value(), tiles.to_host().value()};
}

bool is_permutation(std::vector<int32_t> values) {
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<int32_t>(i))
      return false;
  return true;
}

} // namespace

TEST(ProgramOrder, IsOneToOneForEveryCount) {
  for (Backend backend : backends)
    for (auto [rows, columns] : {std::pair{1, 1}, {3, 5}, {4, 4}, {7, 9}, {16, 3}})
      for (int group_m : {1, 2, 4, 32}) {
        const Numbers order = order_of(backend, rows, columns, group_m);
        EXPECT_TRUE(is_permutation(order.numbers)) << rows << "x" << columns;
        EXPECT_TRUE(is_permutation(order.tiles)) << rows << "x" << columns << " in groups of " << group_m;
      }
}

TEST(ProgramOrder, AnXcdHasNeighbours) {
  const Numbers order = order_of(Backend::Interpreted, 4, 10, 2);
  for (int xcd = 0; xcd < xcds; ++xcd)
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(order.numbers[xcd + i * xcds], xcd * 5 + i);
}

TEST(ProgramOrder, AGroupGoesDownItsRowsFirst) {
  const Numbers order = order_of(Backend::Interpreted, 5, 3, 2);
  EXPECT_EQ(order.tiles, (std::vector<int32_t>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 13, 14}));
}
