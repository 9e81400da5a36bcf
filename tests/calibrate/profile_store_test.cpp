// Profiles that are kept in a file.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/calibrate/synthetic.h"
#include "tools/calibrate/profile_store.h"

namespace nereid::calibrate {
namespace {

/// A file name of the test's own.
class ProfileStoreTest : public testing::Test {
protected:
  ProfileStoreTest()
      : path_(testing::TempDir() + "profiles-" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
  }
  ~ProfileStoreTest() override { std::filesystem::remove(path_); }
  std::string path_;
};

void expect_equal(const sim::LaunchProfile &a, const sim::LaunchProfile &b) {
  EXPECT_EQ(a.footprint_bytes, b.footprint_bytes);
  EXPECT_EQ(a.cycles_per_workgroup, b.cycles_per_workgroup);
  ASSERT_EQ(a.rounds.size(), b.rounds.size());
  for (size_t i = 0; i < a.rounds.size(); ++i) {
    EXPECT_EQ(a.rounds[i].repeats, b.rounds[i].repeats);
    EXPECT_EQ(a.rounds[i].workgroups, b.rounds[i].workgroups);
    EXPECT_EQ(a.rounds[i].compute_units, b.rounds[i].compute_units);
    EXPECT_EQ(a.rounds[i].loaded_bytes, b.rounds[i].loaded_bytes);
    EXPECT_EQ(a.rounds[i].stalls, b.rounds[i].stalls);
    for (size_t p = 0; p < a.rounds[i].phases.size(); ++p) {
      const sim::PhaseProfile &x = a.rounds[i].phases[p], &y = b.rounds[i].phases[p];
      EXPECT_EQ(x.cycles, y.cycles);
      EXPECT_EQ(x.mfma_cycles, y.mfma_cycles);
      EXPECT_EQ(x.issue_cycles, y.issue_cycles);
      EXPECT_EQ(x.lds_cycles, y.lds_cycles);
      EXPECT_EQ(x.load_bytes, y.load_bytes);
      EXPECT_EQ(x.store_bytes, y.store_bytes);
      EXPECT_EQ(x.fabric_bytes, y.fabric_bytes);
      EXPECT_EQ(x.hbm_bytes, y.hbm_bytes);
      EXPECT_EQ(x.matrix_flop, y.matrix_flop);
    }
  }
}

sim::LaunchProfile sample_profile(size_t i) {
  sim::LaunchProfile profile = test::synthetic_samples({}).at(i).profile;
  profile.cycles_per_workgroup = 1.0 / 3;
  profile.rounds.front().loaded_bytes = 1e9 / 7;
  profile.rounds.front().stalls = {{"mfma", 0.1}, {"lds", 2e20}};
  return profile;
}

TEST_F(ProfileStoreTest, GivesBackEveryBit) {
  const sim::LaunchProfile first = sample_profile(2), second = sample_profile(7);
  {
    auto store = ProfileStore::open(path_).value();
    EXPECT_FALSE(store->find("a"));
    ASSERT_TRUE(store->add("a", first).ok());
    ASSERT_TRUE(store->add("b", second).ok());
  }
  const auto store = ProfileStore::open(path_).value();
  ASSERT_TRUE(store->find("a"));
  expect_equal(*store->find("a"), first);
  ASSERT_TRUE(store->find("b"));
  expect_equal(*store->find("b"), second);
}

TEST_F(ProfileStoreTest, ALineThatWasCutOffIsAbsentAndHarmsNoOther) {
  {
    auto store = ProfileStore::open(path_).value();
    ASSERT_TRUE(store->add("a", sample_profile(2)).ok());
    ASSERT_TRUE(store->add("b", sample_profile(3)).ok());
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 40);
  {
    auto store = ProfileStore::open(path_).value();
    EXPECT_TRUE(store->find("a"));
    EXPECT_FALSE(store->find("b"));
    ASSERT_TRUE(store->add("c", sample_profile(4)).ok());
  }
  const auto store = ProfileStore::open(path_).value();
  EXPECT_TRUE(store->find("a"));
  EXPECT_FALSE(store->find("b"));
  EXPECT_TRUE(store->find("c"));
}

TEST_F(ProfileStoreTest, LinesOfOtherThingsAreLeftOut) {
  std::ofstream(path_) << "{}\n[1]\nnonsense\n{\"key\": \"x\", \"footprint_bytes\": 1}\n"
                       << "{\"key\": \"y\", \"footprint_bytes\": 1, \"cycles_per_workgroup\": 1, "
                          "\"rounds\": [{\"phases\": []}]}\n"
                       << std::string(2'000'000, '[') << '\n';
  const auto store = ProfileStore::open(path_).value();
  EXPECT_FALSE(store->find("x"));
  EXPECT_FALSE(store->find("y"));
}

TEST_F(ProfileStoreTest, AFileThatCannotBeWrittenIsTheEnvironments) {
  auto store = ProfileStore::open("/no/such/folder/profiles").value();
  const Status status = store->add("a", sample_profile(0));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().owner, Owner::Environment);
}

} // namespace
} // namespace nereid::calibrate
