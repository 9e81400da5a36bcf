// The tuner's landscape in a report.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "inspect/inspect.h"
#include "jit/tune/kernel_tunings.h"
#include "jit/tune/table_file.h"

namespace nereid::inspect {
namespace {

/// A directory with the table of three configs of M=16 and one of M=32.
class TuningLandscape : public testing::Test {
protected:
  void SetUp() override {
    KernelTunings tunings("scale", "gfx950 simulator");
    const auto add = [&](const char *key, const char *config, std::optional<double> figure,
                         const char *rejected) {
      TuningRecord record{
          .key = key, .config = config, .figure = figure, .unit = "us", .ranking = "simulated time"};
      record.caches = "rotating";
      record.rejected = rejected;
      record.vgpr = 32;
      tunings.add(record);
    };
    add("M=16", "block=64", 9.0, "");
    add("M=16", "block=128", 4.5, "");
    add("M=16", "block=4096", std::nullopt, "it does not fit");
    add("M=32", "block=64", 1.0, "");
    std::filesystem::create_directories(directory_);
    path_ = table_path(directory_, "scale", "gfx950 simulator");
    std::ofstream(path_, std::ios::binary) << tunings.text();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_ = testing::TempDir() + "nereid_landscape_" + std::to_string(getpid());
  std::string path_;
};

TEST_F(TuningLandscape, HasTheConfigsOfAKeyTheBestFirstAndTheRejectedLast) {
  Report report;
  ASSERT_TRUE(add_tuning(report, directory_, "M=16").ok());
  ASSERT_EQ(report.tuning.size(), 1U);
  const Tuning &tuning = report.tuning[0];
  EXPECT_EQ(tuning.kernel, "scale");
  EXPECT_EQ(tuning.unit, "us");
  EXPECT_EQ(tuning.caches, "rotating");
  ASSERT_EQ(tuning.configs.size(), 3U);
  EXPECT_EQ(tuning.configs[0].config, "block=128");
  EXPECT_TRUE(tuning.configs[0].winner);
  EXPECT_EQ(tuning.configs[0].figure, 4.5);
  EXPECT_EQ(tuning.configs[1].config, "block=64");
  EXPECT_FALSE(tuning.configs[1].winner);
  EXPECT_EQ(tuning.configs[2].rejected, "it does not fit");
  EXPECT_FALSE(tuning.configs[2].figure);
}

TEST_F(TuningLandscape, HasAllKeysOfAFileWhereNoneIsNamed) {
  Report report;
  ASSERT_TRUE(add_tuning(report, path_).ok());
  EXPECT_EQ(report.tuning.size(), 2U);
}

TEST_F(TuningLandscape, SaysWhatIsMissingOrDamaged) {
  Report report;
  EXPECT_EQ(add_tuning(report, directory_, "M=64").error().owner, Owner::User);
  EXPECT_EQ(add_tuning(report, directory_ + "/none").error().owner, Owner::User);
  std::ofstream(path_, std::ios::app) << "{}\n";
  EXPECT_EQ(add_tuning(report, path_).error().owner, Owner::Environment);
  EXPECT_TRUE(report.tuning.empty());
}

} // namespace
} // namespace nereid::inspect
