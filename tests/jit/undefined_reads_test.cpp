// Reads of memory that nothing has written, where they matter: the interpreter and the simulator's check of
// undefined bits say the same.
#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

constexpr int size = 256, written = 100; // elements of x, and how many of them have a value

using Body = void (*)(const AddConfig &, Ptr<i32>, Ptr<i32>);

Tile<i32> positions(const AddConfig &c) { return arange(0, c.block); }

void copy(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) { store(z + positions(c), load(x + positions(c))); }
void add_one(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), load(x + positions(c)) + 1);
}
void add_one_where_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  const Tile<i32> sum = load(x + positions(c)) + 1;
  store(z + positions(c), sum, positions(c) < written);
}
void masked_load(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), load(x + positions(c), positions(c) < written) + 1);
}
void select_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), where(positions(c) < written, load(x + positions(c)), 7) + 1);
}
void and_with_nothing(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  const Tile<i32> mask = where(positions(c) < written, -1, 0);
  store(z + positions(c), (load(x + positions(c)) & mask) + 1);
}
void move_bits(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  const Tile<i32> value = load(x + positions(c));
  store(z + positions(c), (value << 8) | (value.to<u32>() >> 24).to<i32>());
}
void sum_all(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) { store(z, sum(load(x + positions(c)), 0)); }
void sum_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z, sum(where(positions(c) < written, load(x + positions(c)), 0), 0));
}
void as_address(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + (load(x + positions(c)) & 255), positions(c));
}
void as_branch(const AddConfig &, Ptr<i32> x, Ptr<i32> z) {
  when(load(x + written) > 3, [&] { store(z, 1); });
}
void as_bound(const AddConfig &, Ptr<i32> x, Ptr<i32> z) {
  Var count = full<i32>({}, 0);
  for (Int i : range(0, load(x + written) & 7))
    count += i;
  store(z, count);
}
void add_atomically(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  atomic_add(x + positions(c), 1);
  store(z + positions(c), 1);
}
void copy_and_use(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), load(x + positions(c)));
  store(z + positions(c), load(z + positions(c)) * 3);
}
void overwrite(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(x + positions(c), positions(c));
  store(z + positions(c), load(x + positions(c)) * 3);
}

constexpr int across = 4; // x as rows, of which the first `written` / 4 are written

Tile<i32> in_rows(const AddConfig &c, Ptr<i32> x) {
  return reshape(load(x + positions(c)), {size / across, across});
}
Tile<i32> row_numbers() { return arange(0, size / across); }
const auto weighted = [](auto a, auto b) { return a * 3 + b; };
const auto weighted_and_count = [](auto a, auto b) {
  return std::tuple(std::get<0>(a) * 3 + std::get<0>(b), std::get<1>(a) + std::get<1>(b));
};
void reduce_rows(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + row_numbers(), reduce(in_rows(c, x), axis(1), weighted));
}
void reduce_written_rows(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + row_numbers(), reduce(in_rows(c, x), axis(1), weighted), row_numbers() < written / across);
}
void reduce_columns(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  // Every column has rows that nothing has written.
  store(z + arange(0, across), reduce(in_rows(c, x), axis(0), weighted));
}
void reduce_two(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  auto [sums, counts] = reduce(std::tuple(load(x + positions(c)), positions(c)), axis(0), weighted_and_count);
  store(z, counts);
}
void scan_all(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), scan(load(x + positions(c)), 0, weighted));
}
void scan_up_to_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), scan(load(x + positions(c)), 0, weighted), positions(c) < written);
}
void scan_beyond_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), scan(load(x + positions(c)), 0, weighted), positions(c) == size - 1);
}
void scan_rows(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  Tile<i32> row = col(row_numbers());
  store(z + (row * across + cols(across)), scan(in_rows(c, x), 1, weighted), row < written / across);
}
void butterfly_of_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), butterfly(load(x + positions(c)), 128) + 1, (positions(c) ^ 128) < written);
}
void butterfly_of_others(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), butterfly(load(x + positions(c)), 128) + 1, positions(c) < written);
}
void copy_by_butterfly(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), butterfly(load(x + positions(c)), 128));
}
void flip_of_written(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), flip(load(x + positions(c)), 0) + 1, positions(c) >= size - written);
}
void flip_of_others(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), flip(load(x + positions(c)), 0) + 1, positions(c) < written);
}
void sort_rows(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  Tile<i32> row = col(row_numbers());
  store(z + (row * across + cols(across)), sort(in_rows(c, x)), row < written / across);
}
void sort_all(const AddConfig &c, Ptr<i32> x, Ptr<i32> z) {
  store(z + positions(c), sort(load(x + positions(c))));
}

struct Row {
  const char *name;
  Body body;
  const char *how; ///< a part of the interpreter's error; null: the kernel is right
};

class UndefinedReads : public ::testing::TestWithParam<Row> {};

Result<LaunchInfo> launch(const Device &device, bool interpret, Body body) {
  Buffer<int32_t> x = device.allocate<int32_t>(size).value();
  const Buffer<int32_t> z = device.allocate<int32_t>(size).value();
  EXPECT_TRUE(x.copy_from_host(std::vector<int32_t>(written, 5)));
  return Kernel("reads", body).launch({interpret}, device.stream(), {1}, AddConfig{.block = size}, x, z);
}

TEST_P(UndefinedReads, TheInterpreterReportsThemAsTheSimulatorDoes) {
  const auto &[name, body, how] = GetParam();
  const auto simulated = launch(Device::simulator({.threads = 1, .checks = "undefined"}), false, body);
  EXPECT_EQ(simulated.ok(), how == nullptr) << (simulated ? "" : simulated.error().text());
  const auto interpreted = launch(Device::simulator(), true, body);
  ASSERT_EQ(interpreted.ok(), how == nullptr) << (interpreted ? "" : interpreted.error().text());
  if (!how)
    return;
  const Error error = interpreted.error();
  EXPECT_EQ(error.owner, Owner::User);
  EXPECT_TRUE(error.where.file.ends_with("undefined_reads_test.cpp")) << error.text();
  EXPECT_NE(error.message.find("memory that nothing has written"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(how), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("argument 0 points"), std::string::npos) << error.message;
}

const Row rows[] = {
    {"Copy", copy, nullptr},
    {"AddOne", add_one, "reaches memory: element [100], 4 bytes at "},
    {"AddOneWhereWritten", add_one_where_written, nullptr},
    {"MaskedLoad", masked_load, nullptr},
    {"SelectWritten", select_written, nullptr},
    {"AndWithNothing", and_with_nothing, nullptr},
    {"MoveBits", move_bits, nullptr},
    {"SumAll", sum_all, "reaches memory: element ["},
    {"SumWritten", sum_written, nullptr},
    {"AsAddress", as_address, "reaches an address: element [100], 4 bytes at "},
    {"AsBranch", as_branch, "reaches a branch: 4 bytes at "},
    {"AsBound", as_bound, "reaches the bounds of a loop: 4 bytes at "},
    {"AddAtomically", add_atomically, "is changed by an atomic: element [100], 4 bytes at "},
    {"Overwrite", overwrite, nullptr},
    {"ReduceRows", reduce_rows, "reaches memory: element [10"},
    {"ReduceWrittenRows", reduce_written_rows, nullptr},
    {"ReduceColumns", reduce_columns, "reaches memory: element ["},
    {"ReduceTwo", reduce_two, nullptr},
    {"ScanAll", scan_all, "reaches memory: element [100], 4 bytes at "},
    {"ScanUpToWritten", scan_up_to_written, nullptr},
    {"ScanBeyondWritten", scan_beyond_written, "reaches memory: element ["},
    {"ScanRows", scan_rows, nullptr},
    {"ButterflyOfWritten", butterfly_of_written, nullptr},
    {"ButterflyOfOthers", butterfly_of_others, "reaches memory: element [128], 4 bytes at "},
    {"CopyByButterfly", copy_by_butterfly, nullptr},
    {"FlipOfWritten", flip_of_written, nullptr},
    {"FlipOfOthers", flip_of_others, "reaches memory: element [255], 4 bytes at "},
    {"SortRows", sort_rows, nullptr},
    {"SortAll", sort_all, "reaches memory: element ["},
};
INSTANTIATE_TEST_SUITE_P(Each, UndefinedReads, ::testing::ValuesIn(rows),
                         [](const auto &info) { return info.param.name; });

TEST(UndefinedCopies, StayUndefinedWhereTheyAreCopiedTo) {
  const Device device = Device::simulator();
  Buffer<int32_t> x = device.allocate<int32_t>(size).value();
  const Buffer<int32_t> y = device.upload(std::vector<int32_t>(size, 1)).value();
  const Buffer<int32_t> z = device.allocate<int32_t>(size).value();
  ASSERT_TRUE(x.copy_from_host(std::vector<int32_t>(written, 5)));
  const AddConfig config{.block = size};
  const auto run = [&](Body body, const Buffer<int32_t> &from, const Buffer<int32_t> &to) {
    return Kernel("reads", body).launch({true}, device.stream(), {1}, config, from, to);
  };
  ASSERT_TRUE(run(copy, x, y)); // into what was all written
  const auto used = run(add_one, y, z);
  ASSERT_FALSE(used.ok());
  EXPECT_NE(used.error().message.find("element [100], 4 bytes at "), std::string::npos)
      << used.error().message;
  EXPECT_FALSE(run(copy_and_use, x, z));
  ASSERT_TRUE(run(copy, device.upload(std::vector<int32_t>(size, 1)).value(), y));
  EXPECT_TRUE(run(add_one, y, z)) << "written again";
}

} // namespace
} // namespace nereid::test
