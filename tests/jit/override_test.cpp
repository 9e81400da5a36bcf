// Edited stages of kernels: which file is taken, what is made of it, and what is wrong with it.
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

constexpr int items = 64;

/// Writes 1000 + i: the constant is there to be edited, in every stage.
void thousand(const AddConfig &c, Ptr<i32> out) {
  const Tile<i32> i = arange(0, c.block);
  store(out + i, i + 1000);
}

/// The first result of a run on a new device.
struct Launched {
  Result<LaunchInfo> info = user_error("not run");
  int first = 0;
  std::string log; ///< stderr
};

Launched run() {
  const Device device = Device::simulator();
  const Buffer<int> out = device.allocate<int>(items).value();
  const Kernel kernel("thousand", thousand);
  Launched result;
  testing::internal::CaptureStderr();
  result.info = kernel(device.stream(), {1}, AddConfig{.block = items, .waves = 1}, out);
  result.log = testing::internal::GetCapturedStderr();
  result.first = out.to_host().value()[0];
  return result;
}

std::string content_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in\n" << text;
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A directory with all that NEREID_DUMP_DIR writes of the kernel, and a disk cache with the kernel.
class Overrides : public testing::Test {
protected:
  Overrides() {
    const ScopedEnvironment dump("NEREID_DUMP_DIR", directory_.path());
    Launched plain = run();
    EXPECT_TRUE(plain.info) << plain.info.error().text();
    EXPECT_EQ(plain.first, 1000);
    key_ = plain.info->compiled->key();
  }

  std::string file(const std::string &extension) const {
    return directory_.path() + "/thousand-" + key_.substr(0, 12) + extension;
  }
  /// Replaces 1000 by 2000 in a stage.
  void edit(const std::string &extension, const std::string &from, const std::string &to) const {
    write(file(extension), replaced(content_of(file(extension)), from, to));
  }
  Launched run_overridden() const {
    const ScopedEnvironment chosen("NEREID_OVERRIDE_DIR", directory_.path());
    return run();
  }
  void expect_taken(const std::string &extension) const {
    const Launched edited = run_overridden();
    ASSERT_TRUE(edited.info) << edited.info.error().text();
    EXPECT_EQ(edited.first, 2000);
    EXPECT_EQ(edited.info->override_file(), file(extension));
    EXPECT_EQ(edited.log, "nereid: warning: kernel 'thousand': " + file(extension) +
                              " is taken in place of what the compiler makes\n");
    EXPECT_EQ(edited.info->cache, CacheLevel::None);
    EXPECT_NE(edited.info->compiled->key(), key_);
    const std::vector<Remark> remarks = edited.info->compiled->remarks().value();
    ASSERT_FALSE(remarks.empty());
    EXPECT_EQ(remarks.front().kind, RemarkKind::Overridden);
    EXPECT_NE(remarks.front().message.find(file(extension)), std::string::npos);
    EXPECT_TRUE(edited.info->compiled->annotated_isa());

    const Launched plain = run();
    ASSERT_TRUE(plain.info);
    EXPECT_EQ(plain.first, 1000) << "the cache on disk has the plain kernel";
    EXPECT_EQ(plain.info->cache, CacheLevel::Disk);
    EXPECT_EQ(plain.info->override_file(), "");
    EXPECT_EQ(plain.log, "");
  }
  void expect_refused(const std::string &extension, const std::string &content, unsigned line,
                      const std::string &message) const {
    write(file(extension), content);
    const Launched edited = run_overridden();
    ASSERT_FALSE(edited.info);
    const Error &error = edited.info.error();
    EXPECT_EQ(error.owner, Owner::User) << error.text();
    EXPECT_EQ(error.where.line, line) << error.text();
    EXPECT_NE(error.text().find(file(extension)), std::string::npos) << error.text();
    EXPECT_NE(error.message.find(message), std::string::npos) << error.text();
  }

  TemporaryDirectory cache_, directory_;
  ScopedEnvironment disk_{"NEREID_CACHE_DIR", cache_.path()};
  std::string key_;
};

TEST_F(Overrides, FilesWithoutAnEditChangeNothing) {
  const Launched same = run_overridden();
  ASSERT_TRUE(same.info);
  EXPECT_EQ(same.info->cache, CacheLevel::Disk);
  EXPECT_EQ(same.info->override_file(), "");
  EXPECT_EQ(same.log, "");
}

TEST_F(Overrides, TileIr) {
  edit(".ir", "bits = 1000", "bits = 2000");
  expect_taken(".ir");
  const Launched edited = run_overridden();
  EXPECT_NE(edited.info->compiled->ir().find("bits = 2000"), std::string::npos);
  EXPECT_TRUE(edited.info->compiled->isa());
}

TEST_F(Overrides, LlvmIr) {
  edit(".ll", " 1000", " 2000");
  expect_taken(".ll");
  const Result<std::string> isa = run_overridden().info->compiled->isa();
  ASSERT_FALSE(isa);
  EXPECT_NE(isa.error().message.find(file(".ll")), std::string::npos);
}

TEST_F(Overrides, Assembly) {
  edit(".s", "0x3e8", "0x7d0");
  expect_taken(".s");
}

TEST_F(Overrides, CodeObject) {
  edit(".hsaco", std::string("\xe8\x03\0\0", 4), std::string("\xd0\x07\0\0", 4));
  expect_taken(".hsaco");
}

TEST_F(Overrides, TheLastStageThatWasEditedIsTaken) {
  edit(".ir", "bits = 1000", "bits = 3000");
  edit(".s", "0x3e8", "0x7d0");
  expect_taken(".s");
}

TEST_F(Overrides, AFileAloneIsEnough) {
  edit(".ll", " 1000", " 2000");
  for (const char *extension : {".ir", ".plan", ".s", ".hsaco"})
    std::filesystem::remove(file(extension));
  expect_taken(".ll");
}

TEST_F(Overrides, DumpsOfAnOverriddenKernelLeaveTheFilesAlone) {
  edit(".ll", " 1000", " 2000");
  const std::string edited = content_of(file(".ll"));
  const ScopedEnvironment dump("NEREID_DUMP_DIR", directory_.path());
  EXPECT_EQ(run_overridden().first, 2000);
  EXPECT_EQ(content_of(file(".ll")), edited);
}

TEST_F(Overrides, RefusesWhatIsNotOfItsLanguage) {
  const std::string ir = content_of(file(".ir"));
  expect_refused(".ir", "kernel @thousand(%0: ptr<i32>) options {waves = 1} {\n  %1 = frobnicate\n}\n", 2,
                 "frobnicate");
  expect_refused(".ir", replaced(ir, "@thousand", "@million"), 1, "another name or other arguments");
  expect_refused(".ir", replaced(ir, "ptr<i32>", "ptr<i16>"), 1, "another name or other arguments");
  write(file(".ir"), ir);
  const std::string llvm_ir = content_of(file(".ll"));
  expect_refused(".ll", "define void @thousand() {\n  frobnicate\n}\n", 2, "expected instruction opcode");
  expect_refused(".ll", "define void @another() {\n  ret void\n}\n", 0, "it defines no function 'thousand'");
  expect_refused(".ll", "define void @thousand() {\n  ret void\n}\n", 0,
                 "its function 'thousand' is no amdgpu_kernel");
  write(file(".ll"), llvm_ir);
  const std::string assembly = content_of(file(".s"));
  expect_refused(".s", replaced(assembly, "thousand", "millions"), 0,
                 "it has no kernel 'thousand', but 'millions'");
  expect_refused(".s", "", 0, "");
  expect_refused(".s", "  s_endpgm\n  v_frobnicate v0\n", 2, "invalid instruction");
  write(file(".s"), assembly);
  expect_refused(".hsaco", replaced(content_of(file(".hsaco")), "thousand", "millions"), 0,
                 "it has no kernel 'thousand', but 'millions'");
  expect_refused(".hsaco", "no code object", 0, "the code object is damaged");
}

TEST_F(Overrides, RefusesWhatALaunchDoesNotFit) {
  const std::string assembly = content_of(file(".s"));
  const std::string other_arguments = "its arguments have other offsets or sizes than a launch gives";
  expect_refused(".s", replaced(assembly, ".max_flat_workgroup_size: 64", ".max_flat_workgroup_size: 32"), 0,
                 "it is not compiled for 64 work-items, which a launch has in a workgroup");
  expect_refused(".s", replaced(assembly, ".size:           8", ".size:           4"), 0, other_arguments);
  write(file(".s"), assembly);
  const std::string llvm_ir = content_of(file(".ll"));
  const size_t parenthesis = llvm_ir.find("@thousand(") + std::string("@thousand(").size();
  ASSERT_LT(parenthesis, llvm_ir.size());
  expect_refused(".ll", std::string(llvm_ir).insert(parenthesis, "i64 %more, "), 0, other_arguments);
}

TEST_F(Overrides, RefusesAnObjectWithoutBound) {
  const std::string assembly = content_of(file(".s"));
  expect_refused(".s", assembly + "\n\t.data\n\t.space 0x100000000000\n", 0,
                 "the object has more than 268435456 bytes");
}

TEST_F(Overrides, RefusesADirectoryThatIsNone) {
  const ScopedEnvironment chosen("NEREID_OVERRIDE_DIR", file(".ir"));
  const Launched refused = run();
  ASSERT_FALSE(refused.info);
  EXPECT_EQ(refused.info.error().owner, Owner::User);
  EXPECT_EQ(refused.info.error().message,
            "NEREID_OVERRIDE_DIR is '" + file(".ir") + "', which is no directory");
}

TEST_F(Overrides, RefusesAFileThatIsNone) {
  std::filesystem::remove(file(".s"));
  std::filesystem::create_directory(file(".s"));
  const Launched refused = run_overridden();
  ASSERT_FALSE(refused.info);
  EXPECT_EQ(refused.info.error().message, file(".s") + " is not a regular file");
}

} // namespace
} // namespace nereid::test
