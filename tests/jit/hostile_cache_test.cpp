// What may stand in a cache directory in place of a kernel, and who may have put it there.
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "jit/cache/bundle.h"
#include "jit/cache/cache_contents.h"
#include "jit/cache/digest.h"
#include "jit/cache/disk_cache.h"
#include "jit/cache/entry_file.h"
#include "jit/cache/trust.h"
#include "tests/jit/sample_binary.h"
#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid::jit {
namespace {

using test::sample_binary;
using test::TemporaryDirectory;

const std::string key(64, 'a');
const CachedKernelInfo info{"add", "block=1024", "div16,-"};

std::string content_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// What the compiler makes of a kernel.
Binary binary_of_add() {
  const Kernel kernel("add", test::add);
  return *kernel.compile(test::AddConfig{}, {}, Device::simulator()).value()->binary();
}

TEST(HostileCache, AnyByteThatIsFlippedIsSeen) {
  const std::string good = kernel_file(key, info, sample_binary());
  ASSERT_TRUE(read_kernel_file(good, key));
  for (size_t at = 0; at < good.size(); ++at)
    for (const int bit : {0, 7}) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(read_kernel_file(damaged, key)) << "byte " << at;
    }
}

TEST(HostileCache, AnyTruncationIsSeen) {
  const std::string good = kernel_file(key, info, sample_binary());
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(read_kernel_file(std::string_view(good).substr(0, length), key)) << length;
  EXPECT_FALSE(read_kernel_file(good + '\0', key));
}

TEST(HostileCache, ADescriptionThatIsNestedDeeplyIsDamage) {
  const std::string description(2'000'000, '[');
  const uint64_t length = description.size();
  const std::string payload =
      std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + description;
  const std::string magic = kernel_file(key, info, sample_binary()).substr(0, 8);
  const Result<KernelFile> read = read_kernel_file(magic + digest({payload}) + payload, key);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("has no description"), std::string::npos);
}

TEST(HostileCache, ADamagedFileIsReplaced) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  const std::string good = content_of(cache.path(key));
  write(cache.path(key), good.substr(0, good.size() / 2));
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  EXPECT_TRUE(cache.find(key));
}

/// Something that is no regular file, under a kernel's name.
struct Intruder {
  const char *what;
  void (*make)(const std::string &path);
  const char *problem;
  bool can_be_replaced = true;
};

const Intruder intruders[] = {
    {"FIFO", [](const std::string &path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }, "it is a FIFO"},
    {"directory", [](const std::string &path) { std::filesystem::create_directory(path); },
     "it is a directory", false},
    {"link to /dev/zero", [](const std::string &path) { std::filesystem::create_symlink("/dev/zero", path); },
     "it is a symbolic link"},
    {"link to a FIFO",
     [](const std::string &path) {
       ASSERT_EQ(mkfifo((path + "-fifo").c_str(), 0600), 0);
       std::filesystem::create_symlink(path + "-fifo", path);
     },
     "it is a symbolic link"},
    {"link to nothing", [](const std::string &path) { std::filesystem::create_symlink("/nowhere", path); },
     "it is a symbolic link"},
    {"socket",
     [](const std::string &path) {
       const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
       sockaddr_un address{};
       address.sun_family = AF_UNIX;
       // A socket's path is shorter than a kernel's may be: it gets its name later.
       const std::string made = std::filesystem::path(path).parent_path() / "s";
       made.copy(address.sun_path, sizeof(address.sun_path) - 1);
       ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
       close(fd);
       ASSERT_EQ(rename(made.c_str(), path.c_str()), 0);
     },
     "it is a socket"},
    {"file of 1 TiB",
     [](const std::string &path) {
       const int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
       ASSERT_EQ(ftruncate(fd, off_t{1} << 40), 0);
       close(fd);
     },
     "it has 1099511627776 bytes"}};

TEST(HostileCache, WhatIsNoRegularFileIsNotOpened) {
  for (const Intruder &intruder : intruders) {
    SCOPED_TRACE(intruder.what);
    TemporaryDirectory directory;
    const DiskCache cache(directory.path());
    intruder.make(cache.path(key));
    const EntryFile entry = read_entry_file(cache.path(key));
    EXPECT_EQ(entry.state, EntryState::Unusable);
    EXPECT_EQ(entry.problem, intruder.problem);
    EXPECT_FALSE(cache.find(key));
    EXPECT_EQ(cache.store(key, info, sample_binary()).ok(), intruder.can_be_replaced);
    EXPECT_EQ(cache.find(key).has_value(), intruder.can_be_replaced);
  }
}

TEST(HostileCache, ADirectoryInPlaceOfAKernelKeepsNoOtherFromBeingRemoved) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  const std::string in_place = std::string(64, '0'), damaged = std::string(64, 'f');
  std::filesystem::create_directory(cache.path(in_place));
  write(cache.path(damaged), "damaged");
  ASSERT_TRUE(cache.store(key, info, binary_of_add()));
  const auto expect_named = [&](const Result<Removed> &removed) {
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().message, cache.path(in_place) + " is a directory");
  };
  expect_named(remove_unusable(cache, read_contents(cache).value()));
  EXPECT_FALSE(std::filesystem::exists(cache.path(damaged)));
  EXPECT_TRUE(cache.find(key));
  expect_named(remove_kernels(cache));
  EXPECT_FALSE(cache.find(key));
}

TEST(HostileCache, AnEntryWithoutCodeOfItsKernelIsDamaged) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  const std::string no_code(64, '0'), of_another(64, '1');
  ASSERT_TRUE(cache.store(no_code, info, sample_binary()));
  ASSERT_TRUE(
      cache.store(of_another, {.kernel = "multiply", .config = {}, .specialization = {}}, binary_of_add()));
  ASSERT_TRUE(cache.store(key, info, binary_of_add()));
  const CacheContents contents = read_contents(cache).value();
  ASSERT_EQ(contents.kernels.size(), 3u);
  EXPECT_EQ(contents.kernels[0].problem, "the file of a cached kernel holds no code: code object: 1000 bytes "
                                         "that are no ELF file");
  EXPECT_EQ(contents.kernels[1].problem,
            "the file of a cached kernel holds no code of kernel 'multiply', but of 'add'");
  EXPECT_EQ(contents.kernels[2].problem, "");

  for (const std::string &bad : {no_code, of_another}) {
    const Result<KernelFiles> kernels = read_bundle(bundle({{bad, content_of(cache.path(bad))}}));
    ASSERT_FALSE(kernels);
    EXPECT_EQ(kernels.error().owner, Owner::User);
    EXPECT_NE(kernels.error().message.find("holds no code"), std::string::npos) << kernels.error().message;
  }
  EXPECT_EQ(kernel_files(cache)->size(), 1u);
  EXPECT_EQ(remove_unusable(cache, contents)->files, 2u);
  EXPECT_TRUE(cache.find(key));
}

TEST(HostileCache, TrustsTheUserAndRootWhereOthersDoNotWrite) {
  struct Row {
    uid_t owner;
    mode_t mode;
    const char *distrust;
  };
  constexpr uid_t user = 1000;
  for (const Row &row :
       {Row{1000, 0600, ""}, Row{1000, 0775, ""}, Row{0, 0755, ""},
        Row{1001, 0600, "it belongs to user 1001"}, Row{1000, 0602, "everybody may write to it"},
        Row{0, 01777, "everybody may write to it"}, Row{1000, S_IFDIR | 0775, ""},
        Row{1000, S_IFREG | 0644, ""}, Row{1000, S_IFREG | 0660, "its group may write to it"}}) {
    struct stat status{};
    status.st_uid = row.owner;
    status.st_mode = row.mode;
    EXPECT_EQ(distrust(status, user).value_or(""), row.distrust) << row.owner << " " << row.mode;
  }
}

TEST(HostileCache, AnEntryThatEverybodyMayWriteIsNotUsed) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  ASSERT_EQ(chmod(cache.path(key).c_str(), 0666), 0);
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  EXPECT_TRUE(cache.find(key)) << "the new file is private";
}

TEST(HostileCache, ADirectoryThatEverybodyMayWriteIsNotUsed) {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  ASSERT_EQ(chmod(directory.path().c_str(), 0777), 0);
  EXPECT_FALSE(cache.find(key));
  const Status stored = cache.store(test::key_of(1), info, sample_binary());
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().owner, Owner::Environment);
  EXPECT_NE(stored.error().message.find("everybody may write to it"), std::string::npos);
  EXPECT_NE(stored.error().remedy.find("chmod go-w"), std::string::npos);
  EXPECT_EQ(directory.files(), 1u);
}

TEST(HostileCache, AnotherUsersFilesAreNotUsed) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives files to others";
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  ASSERT_EQ(chown(cache.path(key).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.store(key, info, sample_binary()));
  EXPECT_TRUE(cache.find(key));
  ASSERT_EQ(chown(directory.path().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache.find(key));
  EXPECT_FALSE(cache.store(key, info, sample_binary()));
}

void use_an_open_directory() {
  TemporaryDirectory directory;
  const DiskCache cache(directory.path());
  chmod(directory.path().c_str(), 0777);
  for (int i = 0; i < 3; ++i) {
    (void)cache.find(key);
    cache.try_store(key, info, sample_binary());
  }
}

TEST(HostileCache, DistrustIsSaidOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // in a process that has not said it yet
  EXPECT_EXIT(
      {
        use_an_open_directory();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^nereid: warning: environment error: the directory of kernels [^\n]* is not used: everybody may write "
      "to "
      "it[^\n]*\n$");
}

} // namespace
} // namespace nereid::jit
