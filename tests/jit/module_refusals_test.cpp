// Code objects that are not loaded, launches that are not made: what is wrong and whose fault it is.
#include <gtest/gtest.h>

#include <llvm/Object/OffloadBundle.h>
#include <llvm/Support/Endian.h>

#include "jit/compile/code_object_metadata.h"
#include "jit/module.h"
#include "nereid/nereid.h"
#include "tests/jit/module_input.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

#define EXPECT_REFUSED(result, expected)                                                                     \
  do {                                                                                                       \
    const auto &refused = (result);                                                                          \
    ASSERT_FALSE(refused.ok());                                                                              \
    EXPECT_EQ(refused.error().owner, Owner::User) << refused.error().text();                                 \
    EXPECT_NE(refused.error().text().find(expected), std::string::npos) << refused.error().text();           \
  } while (false)

std::string number(uint64_t value) {
  std::string bytes(8, '\0');
  llvm::support::endian::write64le(bytes.data(), value);
  return bytes;
}

/// A clang offload bundle of targets and their content.
std::string bundle_of(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string header = "__CLANG_OFFLOAD_BUNDLE__" + number(entries.size());
  size_t offset = header.size();
  for (const auto &[target, content] : entries)
    offset += 24 + target.size();
  std::string contents;
  for (const auto &[target, content] : entries) {
    header += number(offset + contents.size()) + number(content.size()) + number(target.size()) + target;
    contents += content;
  }
  return header + contents;
}

std::string saxpy_text() {
  const std::vector<uint8_t> object = saxpy_object();
  return {object.begin(), object.end()};
}

class ModuleRefusals : public testing::Test {
protected:
  Result<Module> load(const std::string &bytes) {
    return Module::load(device, std::vector<uint8_t>(bytes.begin(), bytes.end()));
  }
  const Device device = Device::simulator();
};

TEST_F(ModuleRefusals, OfWhatIsNoCodeObject) {
  EXPECT_REFUSED(load(""), "0 bytes that are no ELF file");
  EXPECT_REFUSED(load("#include <hip/hip_runtime.h>"), "no ELF file");
  EXPECT_REFUSED(load("\x7f"
                      "ELF"),
                 "code object: ");
  const std::string program = text_of("/proc/self/exe");
  EXPECT_REFUSED(load(program), "not for AMDGPU");
}

TEST_F(ModuleRefusals, OfAnotherIsaNamesBoth) {
  for (const std::string &bytes :
       {saxpy_text(), bundle_of({{"hipv4-amdgcn-amd-amdhsa--gfx950", saxpy_text()}})})
    EXPECT_TRUE(load(bytes).ok());
  EXPECT_REFUSED(Module::load(device, program_object("loops.gfx942")),
                 "it is for gfx942, the device is a gfx950");
}

TEST_F(ModuleRefusals, OfARelocatableObject) {
  llvm::SmallVector<char, 0> object;
  std::string messages;
  ASSERT_TRUE(jit::assemble(text_of(NEREID_SAXPY), object, messages));
  EXPECT_REFUSED(load({object.begin(), object.end()}), "Link it: ld.lld -shared");
}

TEST_F(ModuleRefusals, OfAnObjectWithoutKernels) {
  const std::vector<uint8_t> bytes =
      assembled(".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n.text\ns_endpgm\n"
                ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
                "amdhsa.kernels: []\n...\n.end_amdgpu_metadata\n");
  EXPECT_REFUSED(Module::load(device, bytes), "it has no kernels");
}

TEST_F(ModuleRefusals, OfDamageAtAnyByteOrLengthEndsInAnError) {
  const std::string whole = saxpy_text();
  for (size_t length = 0; length < whole.size(); length += 7)
    (void)load(whole.substr(0, length));
  for (size_t at = 0; at < whole.size(); at += 5) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)load(damaged);
  }
}

TEST_F(ModuleRefusals, OfDamageToTheMetadataEndsInAnAnswer) {
  const std::vector<uint8_t> whole = saxpy_object();
  const std::string name("AMDGPU\0\0", 8);
  const size_t name_at = std::string(whole.begin(), whole.end()).find(name);
  ASSERT_NE(name_at, std::string::npos);
  const size_t begin = name_at + name.size();
  const size_t end = begin + llvm::support::endian::read32le(whole.data() + name_at - 8);
  ASSERT_LE(end, whole.size());
  // What MessagePack begins an empty map, a map, an empty array, an array and nil with.
  constexpr uint8_t types[] = {0x80, 0x81, 0x90, 0x91, 0xc0};
  for (size_t at = begin; at < end; ++at) {
    std::vector<uint8_t> damaged = whole;
    damaged[at] = static_cast<uint8_t>(~whole[at]);
    (void)jit::read_code_object(damaged);
    for (const uint8_t type : types) {
      damaged[at] = type;
      (void)jit::read_code_object(damaged);
    }
  }
  std::vector<uint8_t> damaged = whole;
  damaged[begin + 1] = 0x90; // the first key of the outermost map
  EXPECT_REFUSED(jit::read_code_object(damaged), "its metadata is not valid MessagePack");
}

TEST_F(ModuleRefusals, OfBundles) {
  const std::string target = "hipv4-amdgcn-amd-amdhsa--gfx950:xnack-";
  EXPECT_TRUE(load(bundle_of({{"host-x86_64-unknown-linux--", ""}, {target, saxpy_text()}})).ok());
  EXPECT_REFUSED(
      load(bundle_of({{"host-x86_64-unknown-linux--", ""}, {"hipv4-amdgcn-amd-amdhsa--gfx942", "x"}})),
      "it has no entry for gfx950; it has host-x86_64-unknown-linux--, hipv4-amdgcn-amd-amdhsa--gfx942");
  EXPECT_REFUSED(load("__CLANG_OFFLOAD_BUNDLE__"), "ends in its header");
  EXPECT_REFUSED(load("__CLANG_OFFLOAD_BUNDLE__" + number(UINT64_MAX)), "ends in its entry 0");
  const std::string bundle = bundle_of({{target, saxpy_text()}});
  EXPECT_REFUSED(load(bundle.substr(0, bundle.size() - 1)), "lies outside");
  EXPECT_REFUSED(load("\x10\xFF\x10\xAD..."), "LLVM offload binary");
}

TEST_F(ModuleRefusals, OfCompressedBundles) {
  const std::string bundle = bundle_of({{"hipv4-amdgcn-amd-amdhsa--gfx950", saxpy_text()}});
  const auto source = llvm::MemoryBuffer::getMemBuffer(bundle, "", /*RequiresNullTerminator=*/false);
  auto made = llvm::object::CompressedOffloadBundle::compress(
      llvm::compression::Params(llvm::compression::Format::Zstd), *source,
      llvm::object::CompressedOffloadBundle::DefaultVersion);
  ASSERT_TRUE(bool(made));
  const std::string compressed = (*made)->getBuffer().str();
  EXPECT_TRUE(load(compressed).ok());
  EXPECT_REFUSED(load(compressed.substr(0, 20)), "fat binary: ");
  std::string huge = compressed; // the uncompressed size of version 3 stands at 16
  huge.replace(16, 8, number(uint64_t{1} << 50));
  EXPECT_REFUSED(load(huge), "fat binary: ");
}

TEST_F(ModuleRefusals, OfFiles) {
  const TemporaryDirectory directory;
  EXPECT_REFUSED(Module::load(device, directory.path() + "/none"), "cannot read");
  EXPECT_REFUSED(Module::load(device, directory.path()), "not a regular file");
  EXPECT_REFUSED(Module::load(device, std::string("/dev/zero")), "not a regular file");
  const std::string path = directory.path() + "/text";
  std::ofstream(path) << "text";
  EXPECT_REFUSED(Module::load(device, path), "/text: code object: ");
}

TEST_F(ModuleRefusals, OfNamesListTheKernelsThereAre) {
  const Module one = load(saxpy_text()).value();
  EXPECT_REFUSED(one.kernel("axpy"), "the code object has no kernel 'axpy'. Its kernels: saxpy");
  const Module many = Module::load(device, program_object("launches.O3")).value();
  EXPECT_REFUSED(many.kernel(), "the code object has 7 kernels");
  EXPECT_REFUSED(many.kernel(), "tickets");
}

class LaunchRefusals : public ModuleRefusals {
protected:
  const ModuleKernel saxpy = load(saxpy_text())->kernel().value();
  const Buffer<float> x = device.allocate<float>(256).value();
  const Buffer<float> y = device.allocate<float>(256).value();
  const Stream stream = device.stream();
  const ModuleLaunchShape shape{.grid = {1}, .block = {256}};
};

TEST_F(LaunchRefusals, OfArgumentsThatTheMetadataDoesNotHave) {
  EXPECT_REFUSED(saxpy(stream, shape, x, y, 1.0F),
                 "it takes 4 arguments, the launch gives 3. Its arguments: global_buffer x, global_buffer y, "
                 "by_value a of 4 bytes, by_value n of 4 bytes");
  EXPECT_REFUSED(saxpy(stream, shape, x, y.address(), 1.0F, 256), "argument 1 'y' is a global_buffer");
  EXPECT_REFUSED(saxpy(stream, shape, x, y, x, 256), "argument 2 'a' is by_value of 4 bytes");
  EXPECT_REFUSED(saxpy(stream, shape, x, y, 1.0, 256), "argument 2 'a' has 4 bytes, the launch gives 8");
  EXPECT_REFUSED(saxpy(stream, shape, x, y, 1.0F, int64_t{256}), "argument 3 'n' has 4 bytes");
  const DevicePointer<float> outside = y.at() + INT64_MIN / 4;
  EXPECT_REFUSED(saxpy(stream, shape, x, outside, 1.0F, 256), "beyond the address space");
}

TEST_F(LaunchRefusals, OfABlockOfBytesOfAnotherLength) {
  const std::vector<std::byte> bytes(64);
  for (size_t length : {size_t{0}, size_t{23}, size_t{33}, size_t{64}})
    EXPECT_REFUSED(saxpy.launch_raw(stream, shape, std::span(bytes).first(length)), "it takes 24 to 32");
}

TEST_F(LaunchRefusals, OfAnotherDevice) {
  const Device other = Device::simulator();
  const Buffer<float> there = other.allocate<float>(256).value();
  EXPECT_REFUSED(saxpy(stream, shape, x, there, 1.0F, 256), "lives on another device");
  EXPECT_REFUSED(saxpy(other.stream(), shape, there, there, 1.0F, 256), "the stream is of another device");
}

TEST_F(LaunchRefusals, OfShapesBeyondTheLimits) {
  const auto launch = [&](const ModuleLaunchShape &wanted) { return saxpy(stream, wanted, x, y, 1.0F, 0); };
  EXPECT_REFUSED(launch({.grid = {0}, .block = {256}}), "it has no programs");
  EXPECT_REFUSED(launch({.grid = {1, 65536}, .block = {256}}), "y is more than 65535");
  EXPECT_REFUSED(launch({.grid = {int64_t{1} << 24}, .block = {256}}),
                 "work-items in x are more than 2^32 - 1");
  EXPECT_REFUSED(launch({.grid = {1}, .block = {0}}), "a block of 0 x 1 x 1: each size is 1 to 1024");
  EXPECT_REFUSED(launch({.grid = {1}, .block = {1, -1}}), "each size is 1 to 1024");
  EXPECT_REFUSED(launch({.grid = {1}, .block = {1, int64_t{1} << 40}}), "each size is 1 to 1024");
  EXPECT_REFUSED(launch({.grid = {1}, .block = {64, 5}}),
                 "has 320 work-items; it was compiled for at most 256");
  EXPECT_REFUSED(launch({.grid = {1}, .block = {256}, .dynamic_lds = 163841}),
                 "163841 bytes of dynamic LDS and its own 0 are more than the 163840");
  EXPECT_TRUE(launch({.grid = {1}, .block = {256}, .dynamic_lds = 163840}).ok());
}

TEST_F(LaunchRefusals, OfABlockThatTheKernelWasNotCompiledFor) {
  const ModuleKernel kernel =
      Module::load(device, program_object("launches.O3"))->kernel("of_one_shape").value();
  EXPECT_TRUE(kernel(stream, {.grid = {1}, .block = {32, 2}}, x).ok());
  EXPECT_REFUSED(kernel(stream, {.grid = {1}, .block = {64}}, x), "it was compiled for 32 x 2 x 1 alone");
}

} // namespace
} // namespace nereid::test
