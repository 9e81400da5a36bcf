// Cached kernels as files: what is found again, what is taken for damaged, how large a directory grows.
#include "jit/cache/disk_cache.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "tests/jit/sample_binary.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::jit {
namespace {

using test::key_of;
using test::sample_binary;
using test::ScopedEnvironment;
using test::TemporaryDirectory;

const std::string key(64, 'a');
const CachedKernelInfo info{"add", "block=1024", "div16,-"};

TEST(DiskCache, GivesBackWhatWasStored) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path() + "/a/b");
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  auto found = cache.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code_object, sample_binary().code_object);
  EXPECT_EQ(found->resources, sample_binary().resources);
  EXPECT_EQ(found->compiler, "a compiler");
  EXPECT_EQ(found->waits, Waits::Everything);
  EXPECT_FALSE(cache.find(std::string(64, 'b')));
}

TEST(DiskCache, IsPrivateToTheUser) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path() + "/cache");
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  struct stat status{};
  ASSERT_EQ(stat(cache.directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(cache.path(key).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(DiskCache, TakesAnotherKernelsFileForNone) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  const std::string other(64, 'c');
  std::filesystem::copy_file(cache.path(key), cache.path(other));
  EXPECT_FALSE(cache.find(other));
}

TEST(DiskCache, LeavesNoTemporaryFiles) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(cache.store(key, info, sample_binary()));
        EXPECT_TRUE(cache.find(key));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(directory.files(), 1u);
}

/// Says that a file was last used `hours` ago.
void set_age(const std::string &path, int hours) {
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST(DiskCache, RemovesWhatWasNotUsedForLongestWhenItGrowsTooLarge) {
  TemporaryDirectory directory;
  const DiskCache large(directory.path(), uint64_t{1} << 30);
  for (int kernel = 0; kernel < 8; ++kernel) {
    ASSERT_TRUE(large.store(key_of(kernel), info, sample_binary()));
    set_age(large.path(key_of(kernel)), 100 - kernel);
  }
  ASSERT_TRUE(large.find(key_of(0))) << "the oldest, but used just now";
  const uint64_t one = std::filesystem::file_size(large.path(key_of(0)));

  const DiskCache small(directory.path(), 8 * one);
  ASSERT_TRUE(small.store(key_of(8), info, sample_binary()));
  // Nine are too many for eight: the six that three quarters hold stay.
  EXPECT_EQ(directory.files(), 6u);
  for (int kernel : {1, 2, 3})
    EXPECT_FALSE(small.find(key_of(kernel))) << kernel;
  for (int kernel : {0, 4, 5, 6, 7, 8})
    EXPECT_TRUE(small.find(key_of(kernel))) << kernel;
}

TEST(DiskCache, AClockThatWentBackDoesNotRemoveTheFresh) {
  TemporaryDirectory directory;
  const DiskCache large(directory.path(), uint64_t{1} << 30);
  for (int kernel = 0; kernel < 8; ++kernel) {
    ASSERT_TRUE(large.store(key_of(kernel), info, sample_binary()));
    set_age(large.path(key_of(kernel)), -100); // used in 100 hours
  }
  const uint64_t one = std::filesystem::file_size(large.path(key_of(0)));
  const DiskCache small(directory.path(), 8 * one);
  ASSERT_TRUE(small.store(key_of(8), info, sample_binary()));
  EXPECT_EQ(directory.files(), 6u);
  EXPECT_TRUE(small.find(key_of(8)));
}

void store_two_kernels_in(uint64_t bytes) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path(), bytes);
  for (int kernel = 0; kernel < 2; ++kernel)
    (void)cache.store(key_of(kernel), info, sample_binary());
}

TEST(DiskCache, SaysThatItsSizeIsBelowAFewKernels) {
  EXPECT_EXIT(
      {
        store_two_kernels_in(5000);
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^nereid: warning: .* may hold 5000 bytes, and a kernel takes 1[0-9]+: most are compiled again. Set "
      "NEREID_CACHE_BYTES to more\n$");
}

TEST(DiskCache, RemovesOnlyItsOwnFiles) {
  TemporaryDirectory directory;
  const auto write = [&](const std::string &name, int age) {
    std::ofstream(directory.path() + "/" + name) << std::string(10000, 'x');
    set_age(directory.path() + "/" + name, age);
  };
  write("notes.txt", 1000);
  write(".new-abcdef", 2);
  write(".new-ghijkl", 0);
  const DiskCache cache(directory.path(), 1);
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/notes.txt"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/.new-abcdef")) << "left by a writer that ended";
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/.new-ghijkl")) << "somebody writes it now";
  EXPECT_FALSE(cache.find(key)) << "larger than the whole cache may be";
}

TEST(DiskCache, SizeIsWhatTheEnvironmentSays) {
  const std::pair<const char *, uint64_t> sizes[] = {{"1000", 1000},
                                                     {"", uint64_t{1} << 30},
                                                     {"3K", 3072},
                                                     {"512M", uint64_t{512} << 20},
                                                     {"2G", uint64_t{2} << 30},
                                                     {"17179869183G", uint64_t{17179869183} << 30}};
  for (const auto &[text, bytes] : sizes) {
    ScopedEnvironment chosen("NEREID_CACHE_BYTES", text);
    EXPECT_EQ(cache_bytes_from_environment().value(), bytes) << text;
  }
}

TEST(DiskCache, ASizeThatIsNoneIsRefused) {
  for (const char *text : {"0", "0G", "-5", "many", "1e9", "1.5G", "K", "1KB", "1GG", "1g", " 1",
                           "17179869184G", "99999999999999999999"}) {
    ScopedEnvironment chosen("NEREID_CACHE_BYTES", text);
    const auto cache = DiskCache::from_environment();
    ASSERT_FALSE(cache) << text;
    EXPECT_EQ(cache.error().owner, Owner::User);
    EXPECT_EQ(cache.error().message, std::string("NEREID_CACHE_BYTES is '") + text + "'");
    EXPECT_NE(cache.error().remedy.find("K, M or G"), std::string::npos);
  }
}

TEST(DiskCache, ReportsADirectoryThatCannotBe) {
  TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "not a directory";
  const Status stored = DiskCache(file + "/cache").store(key, info, sample_binary());
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().owner, Owner::Environment);
  EXPECT_NE(stored.error().message.find(file), std::string::npos);
  EXPECT_NE(stored.error().remedy.find("NEREID_CACHE_DIR"), std::string::npos);
}

TEST(DiskCache, IsWhereTheEnvironmentSays) {
  ScopedEnvironment xdg("XDG_CACHE_HOME", "/xdg");
  {
    ScopedEnvironment chosen("NEREID_CACHE_DIR", "/chosen");
    EXPECT_EQ(DiskCache::from_environment()->directory(), "/chosen");
  }
  for (const char *off : {"off", ""}) {
    ScopedEnvironment chosen("NEREID_CACHE_DIR", off);
    EXPECT_FALSE(DiskCache::from_environment()->enabled());
  }
  ScopedEnvironment unset("NEREID_CACHE_DIR", "");
  unsetenv("NEREID_CACHE_DIR");
  EXPECT_EQ(DiskCache::from_environment()->directory(), "/xdg/nereid");
  ScopedEnvironment no_xdg("XDG_CACHE_HOME", "");
  ScopedEnvironment home("HOME", "/home/somebody");
  EXPECT_EQ(DiskCache::from_environment()->directory(), "/home/somebody/.cache/nereid");
}

TEST(DiskCache, StoresNothingWhenOff) {
  const DiskCache cache("");
  EXPECT_TRUE(cache.store(key, info, sample_binary()));
  EXPECT_FALSE(cache.find(key));
}

} // namespace
} // namespace nereid::jit
