// What a launch file promises, statement by statement, on kernels that clang compiled.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/launch_file.h"

namespace nereid::sim::test {
namespace {

class LaunchContract : public testing::Test {
protected:
  void SetUp() override {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() /
                 fmt::format("nereid-contract-{}-{}", test->name(), ::getpid());
    std::filesystem::create_directories(directory_ / "launch");
    std::filesystem::copy_file(code_object, directory_ / "k.hsaco");
  }
  ~LaunchContract() override { std::filesystem::remove_all(directory_); }

  /// Runs launch/file.json; the code object and the outputs lie in the folder above.
  LaunchAnswer run(const std::string &kernel, const std::string &shape, const std::string &members) {
    const std::string text =
        fmt::format(R"({{"code_object": "../k.hsaco", "kernel": "{}", {}, {}}})", kernel, shape, members);
    return run_text(text);
  }
  LaunchAnswer run_text(const std::string &text) {
    const std::filesystem::path path = directory_ / "launch" / "file.json";
    std::ofstream(path, std::ios::binary) << text;
    auto file = read_launch_file(path.string());
    LaunchAnswer answer;
    if (!file)
      answer.error = file.error();
    else
      answer = run_launch_file(*file, 10'000'000);
    return answer;
  }
  static std::string message(const LaunchAnswer &answer) {
    return answer.error          ? answer.error->text()
           : answer.report.fault ? answer.report.fault->error().text()
                                 : "";
  }
  template <class T> std::vector<T> read(const std::string &name) const {
    std::ifstream file(directory_ / name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
    return result;
  }

  static constexpr const char *code_object = NEREID_SIM_PROGRAMS "/launches.O3.hsaco";
  std::filesystem::path directory_;
};

constexpr const char *one_wave = R"("grid": [1, 1, 1], "block": [64, 1, 1])";

TEST_F(LaunchContract, AKernelMadeForOneBlockTakesNoOther) {
  const std::string members = R"("buffers": {"out": {"size": 256}}, "values": [{"buffer": "out"}])";
  EXPECT_STREQ(run("of_one_shape", R"("grid": [1, 1, 1], "block": [32, 2, 1])", members).status(), "ok");
  const LaunchAnswer other = run("of_one_shape", R"("grid": [1, 1, 1], "block": [64, 1, 1])", members);
  EXPECT_STREQ(other.status(), "error");
  EXPECT_NE(message(other).find("compiled for 32x2x1"), std::string::npos) << message(other);
}

TEST_F(LaunchContract, CoordinatesThatTheKernelDoesNotAskForAreZero) {
  const LaunchAnswer answer = run("first_coordinate", R"("grid": [2, 1, 1], "block": [8, 4, 3])",
                                  R"("buffers": {"out": {"size": 32, "fill": 0}},
                                     "values": [{"buffer": "out"}], "outputs": {"out": "../out.bin"})");
  ASSERT_STREQ(answer.status(), "ok") << message(answer);
  EXPECT_EQ(read<uint32_t>("out.bin"), std::vector<uint32_t>(8, 24));
}

TEST_F(LaunchContract, HiddenArgumentsComeFromTheMetadata) {
  const LaunchAnswer answer = run("hidden_values", R"("grid": [5, 3, 2], "block": [16, 4, 2])",
                                  R"("buffers": {"out": {"size": 112}},
                                     "values": [{"buffer": "out"}], "outputs": {"out": "../out.bin"})");
  ASSERT_STREQ(answer.status(), "ok") << message(answer);
  EXPECT_EQ(read<uint64_t>("out.bin"), (std::vector<uint64_t>{5, 3, 2, 16, 4, 2, 0, 0, 0, 0, 0, 0, 3, 0}));
}

TEST_F(LaunchContract, KernelsWithDynamicLdsLearnItsSize) {
  const LaunchAnswer answer = run_text(fmt::format(
      R"({{"code_object": "{}", "kernel": "reverse_in_dynamic_lds", {}, "dynamic_lds": 256, "buffers": {{"data": {{"size": 256, "fill": 1}}}},
           "values": [{{"buffer": "data"}}], "outputs": {{"data": "../out.bin"}}}})",
      NEREID_SIM_PROGRAMS "/values.O3.hsaco", one_wave));
  ASSERT_STREQ(answer.status(), "ok") << message(answer);
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < 64; ++i)
    expected[i] = 0x01010101 + 63 - i + (256u << 16);
  EXPECT_EQ(read<uint32_t>("out.bin"), expected);
}

TEST_F(LaunchContract, UnsetBytesOfTheArgumentBlockAreZeroAndDefined) {
  const LaunchAnswer answer =
      run("optional_arguments", one_wave, R"("buffers": {"out": {"size": 8, "fill": 1}}, "checks": "all",
                                             "values": [{"buffer": "out"}], "outputs": {"out": "../out.bin"})");
  ASSERT_STREQ(answer.status(), "ok") << message(answer);
  EXPECT_EQ(read<uint32_t>("out.bin"), (std::vector<uint32_t>{111, 0x01010101}));
}

TEST_F(LaunchContract, FloatAtomicsRunInTheOrderOfWorkgroups) {
  const std::string members =
      R"("buffers": {"next": {"size": 4, "fill": 0}, "drawn": {"size": 800}, "sum": {"size": 4, "fill": 0}},
      "values": [{"buffer": "next"}, {"buffer": "drawn"}, {"buffer": "sum"}],
      "outputs": {"drawn": "../drawn.bin", "sum": "../sum.bin"}, "order": )";
  std::vector<uint32_t> ids(200);
  std::iota(ids.begin(), ids.end(), 0u);
  float sum = 0;
  for (uint32_t group = 0; group < 200; ++group)
    sum += 1.0f / static_cast<float>(group + 3);
  const std::string shape = R"("grid": [200, 1, 1], "block": [64, 1, 1])";
  const LaunchAnswer by_id = run("tickets", shape, members + R"("id")");
  ASSERT_STREQ(by_id.status(), "ok") << message(by_id);
  EXPECT_EQ(read<uint32_t>("drawn.bin"), ids);
  EXPECT_EQ(read<float>("sum.bin"), std::vector<float>{sum});
  const LaunchAnswer any = run("tickets", shape, members + R"("any")");
  ASSERT_STREQ(any.status(), "ok") << message(any);
  std::vector<uint32_t> drawn = read<uint32_t>("drawn.bin");
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, ids);
  EXPECT_NEAR(read<float>("sum.bin").at(0), sum, 1e-4);
}

TEST_F(LaunchContract, OutputsAreWrittenAfterAFaultAndNotAfterAnError) {
  const std::string members =
      R"("buffers": {"out": {"size": 4, "fill": 9}}, "outputs": {"out": "../out.bin"}, )";
  const LaunchAnswer error =
      run("last_word", one_wave, members + R"("values": [{"buffer": "out"}, {"f32": 1}])");
  ASSERT_STREQ(error.status(), "error");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out.bin"));
  const LaunchAnswer fault =
      run("last_word", one_wave, members + R"("values": [{"buffer": "out"}, {"u64": 2}])");
  ASSERT_STREQ(fault.status(), "fault");
  EXPECT_EQ(fault.report.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(read<uint32_t>("out.bin"), std::vector<uint32_t>{0x09090909});
}

TEST_F(LaunchContract, LargeBuffersCostWhatIsTouched) {
  // 5 GiB each, of which the kernel touches one word.
  for (const char *fill : {"", R"(, "fill": 0)"}) {
    const LaunchAnswer answer = run("last_word", one_wave,
                                    fmt::format(R"("buffers": {{"out": {{"size": 5368709120{}}}}},
                                                  "values": [{{"buffer": "out"}}, {{"u64": 1342177280}}])",
                                                fill));
    ASSERT_STREQ(answer.status(), "ok") << message(answer);
  }
}

TEST_F(LaunchContract, LimitsApplyBeforeAllocation) {
  // The first of these would not fit into any host's memory, had it been filled.
  for (const char *members : {R"("buffers": {"b": {"size": 400000000000, "fill": 1}})",
                              R"("buffers": {"a": {"size": 200000000000}, "b": {"size": 200000000000}})"}) {
    const LaunchAnswer answer = run("copy", one_wave, members);
    ASSERT_STREQ(answer.status(), "error");
    EXPECT_NE(message(answer).find("out of simulated device memory"), std::string::npos) << message(answer);
  }
  // A bad shape is found before a missing file is.
  const LaunchAnswer shape = run("copy", R"("grid": [1, 1, 1], "block": [64, 64, 1])",
                                 R"("buffers": {"b": {"file": "missing.bin"}})");
  EXPECT_NE(message(shape).find("block: 64x64x1 work-items are more than 1024"), std::string::npos);
}

TEST_F(LaunchContract, PathsAreRelativeToTheFileOrAbsolute) {
  std::vector<uint32_t> words(64);
  std::iota(words.begin(), words.end(), 100u);
  std::ofstream(directory_ / "launch" / "in.bin", std::ios::binary)
      .write(reinterpret_cast<const char *>(words.data()), 256);
  const std::string absolute = (directory_ / "absolute.bin").string();
  const LaunchAnswer answer = run_text(fmt::format(
      R"({{"code_object": "{}", "kernel": "copy", {}, "buffers": {{"in": {{"file": "in.bin"}}, "out": {{"size": 256}},
           "more": {{"size": 3, "fill": 5}}}}, "values": [{{"buffer": "in"}}, {{"buffer": "out"}}],
           "outputs": {{"out": "../out.bin", "in": "{}", "more": "more.bin"}}}})",
      code_object, one_wave, absolute));
  ASSERT_STREQ(answer.status(), "ok") << message(answer);
  EXPECT_EQ(read<uint32_t>("out.bin"), words);
  EXPECT_EQ(read<uint32_t>("absolute.bin"), words);
  EXPECT_EQ(read<uint8_t>("launch/more.bin"), (std::vector<uint8_t>{5, 5, 5}));
}

TEST_F(LaunchContract, OnlyTheChecksThatAreNamedAreMade) {
  EXPECT_STREQ(run("copy", one_wave, R"("buffers": {"in": {"size": 255, "fill": 0}, "out": {"size": 256}},
                   "checks": "none", "values": [{"buffer": "in"}, {"buffer": "out"}])")
                   .status(),
               "fault")
      << "a run cannot go on past the end of a buffer";
}

} // namespace
} // namespace nereid::sim::test
