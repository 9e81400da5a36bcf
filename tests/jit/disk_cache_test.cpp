// Cached kernels as files: what is found again, what is taken for damaged, how large a directory grows.
#include "jit/cache/disk_cache.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/jit/temporary_directory.h"

namespace nereid::jit {
namespace {

using test::ScopedEnvironment;
using test::TemporaryDirectory;

const std::string key(64, 'a');
const CachedKernelInfo info{"add", "block=1024", "div16,-"};

Binary sample() {
  Binary binary;
  for (int i = 0; i < 1000; ++i)
    binary.code_object.push_back(static_cast<uint8_t>(i * 7));
  binary.resources = {17, 4, 20, 4096, 0, 2, 8};
  binary.compiler = "a compiler";
  binary.waits = Waits::Everything;
  return binary;
}

TEST(DiskCache, GivesBackWhatWasStored) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path() + "/a/b");
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, info, sample()));
  auto found = cache.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code_object, sample().code_object);
  EXPECT_EQ(found->resources, sample().resources);
  EXPECT_EQ(found->compiler, "a compiler");
  EXPECT_EQ(found->waits, Waits::Everything);
  EXPECT_FALSE(cache.find(std::string(64, 'b')));
}

TEST(DiskCache, IsPrivateToTheUser) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path() + "/cache");
  ASSERT_TRUE(cache.store(key, info, sample()));
  struct stat status{};
  ASSERT_EQ(stat(cache.directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(cache.path(key).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(DiskCache, TakesADamagedFileForNone) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample()));
  std::string good;
  {
    std::ifstream file(cache.path(key), std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  auto write = [&](const std::string &bytes) {
    std::ofstream(cache.path(key), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t at = 0; at < good.size(); at += 13) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    write(damaged);
    EXPECT_FALSE(cache.find(key)) << "byte " << at;
  }
  for (size_t length : {size_t{0}, size_t{7}, size_t{40}, size_t{48}, good.size() / 2, good.size() - 1}) {
    write(good.substr(0, length));
    EXPECT_FALSE(cache.find(key)) << "length " << length;
  }
  write(good);
  EXPECT_TRUE(cache.find(key));
}

TEST(DiskCache, TakesAnotherKernelsFileForNone) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample()));
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
        EXPECT_TRUE(cache.store(key, info, sample()));
        EXPECT_TRUE(cache.find(key));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(directory.files(), 1u);
}

std::string key_of(int kernel) { return fmt::format("{:064}", kernel); }

/// Says that a file was last used `hours` ago.
void set_age(const std::string &path, int hours) {
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST(DiskCache, RemovesWhatWasNotUsedForLongestWhenItGrowsTooLarge) {
  TemporaryDirectory directory;
  const DiskCache large(directory.path(), uint64_t{1} << 30);
  for (int kernel = 0; kernel < 8; ++kernel) {
    ASSERT_TRUE(large.store(key_of(kernel), info, sample()));
    set_age(large.path(key_of(kernel)), 100 - kernel);
  }
  ASSERT_TRUE(large.find(key_of(0))) << "the oldest, but used just now";
  const uint64_t one = std::filesystem::file_size(large.path(key_of(0)));

  const DiskCache small(directory.path(), 8 * one);
  ASSERT_TRUE(small.store(key_of(8), info, sample()));
  // Nine are too many for eight: the six that three quarters hold stay.
  EXPECT_EQ(directory.files(), 6u);
  for (int kernel : {1, 2, 3})
    EXPECT_FALSE(small.find(key_of(kernel))) << kernel;
  for (int kernel : {0, 4, 5, 6, 7, 8})
    EXPECT_TRUE(small.find(key_of(kernel))) << kernel;
}

TEST(DiskCache, RemovesOnlyItsOwnFiles) {
  TemporaryDirectory directory;
  const auto write = [&](const std::string &name, int age) {
    std::ofstream(directory.path() + "/" + name) << std::string(10000, 'x');
    set_age(directory.path() + "/" + name, age);
  };
  write("notes.txt", 1000);
  write("new-abcdef", 2);
  write("new-ghijkl", 0);
  const DiskCache cache(directory.path(), 1);
  ASSERT_TRUE(cache.store(key, info, sample()));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/notes.txt"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/new-abcdef")) << "left by a writer that ended";
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/new-ghijkl")) << "somebody writes it now";
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
  const Status stored = DiskCache(file + "/cache").store(key, info, sample());
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
  EXPECT_TRUE(cache.store(key, info, sample()));
  EXPECT_FALSE(cache.find(key));
}

} // namespace
} // namespace nereid::jit
