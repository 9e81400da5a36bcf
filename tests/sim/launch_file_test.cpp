#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>

#include "sim/coverage.h"
#include "sim/decode/program.h"
#include "sim/launch_file.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// A directory with the code object k.hsaco; removed with the object.
class LaunchFileTest : public testing::Test {
protected:
  LaunchFileTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-launch", path));
    directory_ = path.str().str();
  }
  ~LaunchFileTest() override { llvm::sys::fs::remove_directories(directory_); }

  void put(const std::string &name, const void *data, size_t size) {
    std::ofstream(directory_ + "/" + name, std::ios::binary)
        .write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
  }
  void put_code(const std::string &body, const KernelOptions &options = {}) {
    const std::vector<std::byte> code = assemble(body, options);
    put("k.hsaco", code.data(), code.size());
  }
  template <class T> std::vector<T> get(const std::string &name) {
    std::ifstream file(directory_ + "/" + name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
    return result;
  }
  Result<LaunchFile> read(const std::string &text) {
    put("launch.json", text.data(), text.size());
    return read_launch_file(directory_ + "/launch.json");
  }
  LaunchAnswer run_text(const std::string &text) {
    auto file = read(text);
    if (!file) {
      LaunchAnswer answer;
      answer.error = file.error();
      return answer;
    }
    return run_launch_file(*file, 1'000'000);
  }
  /// The message of the error that a launch file ends with.
  std::string refusal(const std::string &text) {
    const LaunchAnswer answer = run_text(text);
    EXPECT_STREQ(answer.status(), "error") << text;
    if (!answer.error)
      return "";
    EXPECT_EQ(answer.error->owner, Owner::User) << answer.error->message;
    return answer.error->message;
  }
  void expect_refusal(const std::string &text, const std::string &part) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find(part), std::string::npos) << message << "\n" << text;
  }

  std::string directory_;
};

/// A launch of one wave of k.hsaco with further members.
std::string one_wave(const std::string &members) {
  return R"({"code_object": "k.hsaco", "grid": [1, 1, 1], "block": [64, 1, 1])" +
         (members.empty() ? "" : ", " + members) + "}";
}

/// out[i] = in[i] + n for 64 words: in at 0, out at 8, n at 16 of the argument block.
constexpr const char *adds = "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_load_dword s12, s[0:1], 0x10\n"
                             "v_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
                             "global_load_dword v2, v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                             "v_add_u32 v2, s12, v2\nglobal_store_dword v1, v2, s[10:11]";
/// Copies the first 64 bytes of the argument block to the buffer at 0.
constexpr const char *shows_arguments =
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_mov_b64 exec, 0xffff\n"
    "v_mov_b32 v3, s1\nv_add_co_u32 v2, vcc, s0, v1\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n"
    "global_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v4, s[8:9]";

TEST_F(LaunchFileTest, RunsAKernelOnFiles) {
  put_code(adds);
  std::vector<uint32_t> in(80);
  for (unsigned i = 0; i < 80; ++i)
    in[i] = 3 * i;
  put("in.bin", in.data(), in.size() * 4);
  const LaunchAnswer answer = run_text(one_wave(
      R"("kernel": "k", "buffers": {"in": {"file": "in.bin"}, "out": {"size": 260, "fill": 7}},
         "args": [{"offset": 0, "buffer": "in", "at": 64}, {"offset": 8, "buffer": "out"},
                  {"offset": 16, "i32": -5}],
         "outputs": {"out": "out.bin"}, "timing": true, "order": "any")"));
  ASSERT_STREQ(answer.status(), "ok") << (answer.error ? answer.error->text() : answer.report.fault->text);
  const auto out = get<uint32_t>("out.bin");
  ASSERT_EQ(out.size(), 65u);
  for (unsigned i = 0; i < 64; ++i)
    ASSERT_EQ(out[i], 3 * (i + 16) - 5) << i;
  EXPECT_EQ(out[64], 0x07070707u);
  EXPECT_EQ(answer.report.waves, 1u);
  EXPECT_EQ(answer.report.counts.vmem_store, 1u);
}

TEST_F(LaunchFileTest, PlacesArguments) {
  put_code(shows_arguments);
  const LaunchAnswer answer = run_text(one_wave(
      R"("buffers": {"out": {"size": 64, "fill": 255}}, "outputs": {"out": "out.bin"},
         "args": [{"offset": 8, "u32": 4294967295}, {"offset": 12, "f32": -1.5}, {"offset": 16, "f64": 0.25},
                  {"offset": 24, "i64": -2}, {"offset": 32, "u64": 18446744073709551615},
                  {"offset": 44, "i32": -2147483648}, {"offset": 0, "buffer": "out"}])"));
  ASSERT_STREQ(answer.status(), "ok") << (answer.error ? answer.error->text() : answer.report.fault->text);
  const std::vector<uint32_t> expected = {0xFFFFFFFF, 0xBFC00000, 0,          0x3FD00000, 0xFFFFFFFE,
                                          0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0,          0x80000000,
                                          0,          0,          0,          0};
  const auto out = get<uint32_t>("out.bin");
  ASSERT_EQ(out.size(), 16u);
  EXPECT_EQ(std::vector<uint32_t>(out.begin() + 2, out.end()), expected);
}

TEST_F(LaunchFileTest, PlacesValuesByTheMetadata) {
  const std::vector<std::byte> code = compile_ir(R"(
target triple = "amdgcn-amd-amdhsa"
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
define amdgpu_kernel void @f(i32 %a, ptr addrspace(1) %out, i16 %b, double %c) {
  %hidden = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %hidden
  %p1 = getelementptr i32, ptr addrspace(1) %out, i32 1
  %p2 = getelementptr i32, ptr addrspace(1) %out, i32 2
  %p4 = getelementptr i32, ptr addrspace(1) %out, i32 4
  %b32 = sext i16 %b to i32
  store i32 %a, ptr addrspace(1) %out
  store i32 %b32, ptr addrspace(1) %p1
  store double %c, ptr addrspace(1) %p2
  store i32 %blocks, ptr addrspace(1) %p4
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}
)");
  put("k.hsaco", code.data(), code.size());
  const std::string buffers = R"("buffers": {"out": {"size": 20}}, "outputs": {"out": "out.bin"}, )";
  const LaunchAnswer answer =
      run_text(R"({"code_object": "k.hsaco", "grid": [3, 1, 1], "block": [1, 1, 1], )" + buffers +
               R"("values": [{"i32": 9}, {"buffer": "out"}, {"i32": -3}, {"f64": 1}]})");
  ASSERT_STREQ(answer.status(), "ok") << (answer.error ? answer.error->text() : answer.report.fault->text);
  EXPECT_EQ(get<uint32_t>("out.bin"), (std::vector<uint32_t>{9, 0xFFFFFFFD, 0, 0x3FF00000, 3}));
  expect_refusal(one_wave(buffers + R"("values": [{"f64": 9}])"),
                 "values[0]: 8 bytes do not fit argument 'a' of 4 bytes");
  expect_refusal(one_wave(buffers + R"("values": [{"i32": 9}, {"buffer": "out"}, {"i32": 65536}])"),
                 "values[2]: 4 bytes do not fit argument 'b' of 2 bytes");
  expect_refusal(one_wave(R"("values": [{"i32": 1}, {"u64": 0}, {"i32": 1}, {"f64": 1}, {"i32": 5}])"),
                 "values[4]: kernel 'f' has 4 arguments");
  expect_refusal(one_wave(R"("args": [{"offset": 32, "u32": 1}])"),
                 "args[0]: bytes 32 to 35 overlap hidden_");
  expect_refusal(one_wave(R"("kernarg_size": 32)"),
                 "kernarg_size: 32 bytes do not hold the argument hidden_");
}

TEST_F(LaunchFileTest, ArgumentBlocksMayBeLargerThanTheMetadataSays) {
  KernelOptions options;
  options.kernarg_size = 8;
  put_code(shows_arguments, options);
  const std::string members = R"("buffers": {"out": {"size": 64}}, "outputs": {"out": "out.bin"},
      "args": [{"offset": 0, "buffer": "out"}, {"offset": 60, "u32": 77}])";
  expect_refusal(one_wave(members),
                 "args[1]: offset 60 and 4 bytes are beyond the argument block of 8 bytes");
  ASSERT_STREQ(run_text(one_wave(members + R"(, "kernarg_size": 64)")).status(), "ok");
  EXPECT_EQ(get<uint32_t>("out.bin")[15], 77u);
}

TEST_F(LaunchFileTest, OutputsAreWrittenAfterAFault) {
  // Workgroup 0 writes; then lane 16 of the second store is beyond the buffer.
  put_code("s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 5\n"
           "s_waitcnt lgkmcnt(0)\ns_mov_b64 exec, 0xffff\nglobal_store_dword v1, v2, s[8:9]\n"
           "s_mov_b64 exec, -1\nglobal_store_dword v1, v2, s[8:9]");
  const LaunchAnswer answer = run_text(one_wave(
      R"("buffers": {"out": {"size": 64, "fill": 1}}, "values": [{"buffer": "out"}],
         "outputs": {"out": "out.bin"}, "checks": "none")"));
  ASSERT_STREQ(answer.status(), "fault");
  const Fault &fault = *answer.report.fault;
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault.instruction, "global_store_dword v1, v2, s[8:9]");
  EXPECT_EQ(fault.lane, 16);
  EXPECT_EQ(get<uint32_t>("out.bin"), std::vector<uint32_t>(16, 5));
  EXPECT_GT(answer.report.counts.total, 0u);
}

TEST_F(LaunchFileTest, EndlessLoopsEndWithTheBudget) {
  put_code("1:\ns_branch 1b");
  const LaunchAnswer answer = run_text(one_wave(""));
  ASSERT_STREQ(answer.status(), "fault");
  EXPECT_EQ(answer.report.fault->kind, FaultKind::Budget);
}

TEST_F(LaunchFileTest, RefusesMalformedFiles) {
  put_code("s_nop 0");
  expect_refusal("{", "is not JSON");
  expect_refusal(std::string(100'000, '['), "is nested deeper than 64");
  std::string objects;
  for (unsigned k = 0; k < 100'000; ++k)
    objects += R"({"a":)";
  expect_refusal(objects, "is nested deeper than 64");
  expect_refusal(R"({"grid": [1, 1, 1], "grid" : [2, 1, 1]})", "has the key 'grid' twice");
  expect_refusal(R"({"buffers": {"a": {"size": 1}, "b": {"size": 1}, "a": {"size": 2}}})",
                 "has the key 'a' twice");
  expect_refusal("[]", "is not a JSON object");
  expect_refusal("{}", "code_object: is missing");
  expect_refusal(R"({"code_object": "k.hsaco", "block": [1, 1, 1]})", "grid: is missing");
  expect_refusal(R"({"code_object": "k.hsaco", "grid": [1, 1, 1]})", "block: is missing");
  expect_refusal(R"({"code_object": 1, "grid": [1, 1, 1], "block": [1, 1, 1]})",
                 "code_object: is not a string");
  const struct {
    const char *members, *message;
  } cases[] = {
      {R"("grids": 1)", "grids: unknown key"},
      {R"("kernel": 3)", "kernel: is not a string"},
      {R"("kernel": "other")", "kernel: there is no kernel 'other'"},
      {R"("dynamic_lds": -1)", "dynamic_lds: is not an integer"},
      {R"("dynamic_lds": 163841)", "dynamic_lds: is not an integer from 0 to 163840"},
      {R"("kernarg_size": "64")", "kernarg_size: is not an integer"},
      {R"("buffers": [])", "buffers: is not an object"},
      {R"("buffers": {"a": {}})", "buffers.a: has neither"},
      {R"("buffers": {"a": {"file": "k.hsaco", "size": 4}})", "buffers.a: has neither"},
      {R"("buffers": {"a": {"size": 4, "fil": 4}})", "buffers.a.fil: unknown key"},
      {R"("buffers": {"a": {"size": 4, "fill": 256}})", "buffers.a.fill: is not an integer from 0 to 255"},
      {R"("buffers": {"a": {"size": 1.5}})", "buffers.a.size: is not an integer"},
      {R"("buffers": {"a": {"size": 1000000000000}})", "buffers.a: out of simulated device memory"},
      {R"("buffers": {"a": {"file": "missing.bin"}})", "buffers.a.file: cannot read"},
      {R"("buffers": {"a": {"file": "."}})", "buffers.a.file: "},
      {R"("args": {})", "args: is not an array"},
      {R"("args": [], "values": [])", "args: cannot be together"},
      {R"("args": [{"offset": 0}])", "args[0]: has not"},
      {R"("args": [{"i32": 1}])", "args[0]: has not"},
      {R"("args": [{"offset": 0, "i32": 1, "u32": 1}])", "args[0]: has not"},
      {R"("args": [{"offset": 0, "i32": 1, "at": 1}])", "args[0]: has not"},
      {R"("args": [{"offset": 0, "i16": 1}])", "args[0].i16: unknown key"},
      {R"("args": [{"offset": -4, "i32": 1}])", "args[0].offset: is not an integer"},
      {R"("args": [{"offset": 0, "i32": 2147483648}])", "args[0].i32: is not a signed integer of 32 bits"},
      {R"("args": [{"offset": 0, "u32": -1}])", "args[0].u32: is not an integer"},
      {R"("args": [{"offset": 0, "f32": 1e300}])", "args[0].f32: is beyond the range of f32"},
      {R"("args": [{"offset": 0, "f64": "1"}])", "args[0].f64: is not a number"},
      {R"("args": [{"offset": 0, "buffer": "b"}])", "args[0].buffer: there is no buffer 'b'"},
      {R"("buffers": {"b": {"size": 4}}, "args": [{"offset": 0, "buffer": "b", "at": 5}])",
       "args[0].at: 5 is beyond the 4 bytes of buffer 'b'"},
      {R"("args": [{"offset": 0, "u64": 1}, {"offset": 4, "u32": 1}])",
       "args[1]: bytes 4 to 7 overlap args[0]"},
      {R"("args": [{"offset": 61, "u32": 1}])", "args[0]: offset 61 and 4 bytes are beyond"},
      {R"("values": [{"offset": 0, "u64": 1}])", "values[0].offset: unknown key"},
      {R"("values": [{"u64": 1}, {"u64": 1}])", "values[1]: kernel 'k' has 1 arguments"},
      {R"("outputs": {"b": "x"})", "outputs.b: there is no buffer of that name"},
      {R"("checks": "some")", "checks: is neither"},
      {R"("checks": ["outofbounds"])", "checks[0]: there is no kind 'outofbounds'"},
      {R"("timing": 1)", "timing: is not true, false or"},
      {R"("timing": "some")", "timing: is not true, false or"},
      {R"("timing": "only", "caches": "hot")", "caches: is none of \"cold\", \"warm\", \"rotating\""},
      {R"("timing": "only", "buffers": {"b": {"size": 4}}, "outputs": {"b": "x"})",
       "outputs: are not computed where \"timing\" is \"only\""},
      {R"("caches": "warm")", "caches: says what a timed launch finds"},
      {R"("order": "random")", "order: is neither"},
  };
  for (const auto &[members, message] : cases)
    expect_refusal(one_wave(members), message);
}

TEST_F(LaunchFileTest, RefusesBadShapesBeforeAnythingIsLoaded) {
  auto shaped = [](const std::string &grid, const std::string &block) {
    return fmt::format(R"({{"code_object": "missing", "grid": {}, "block": {}}})", grid, block);
  };
  expect_refusal(shaped("[0, 1, 1]", "[64, 1, 1]"), "grid[0]: is 0");
  expect_refusal(shaped("[1, 1]", "[64, 1, 1]"), "grid: is not [x, y, z]");
  expect_refusal(shaped("[1, 1, 1]", "[64, 0, 1]"), "block[1]: is 0");
  expect_refusal(shaped("[1, 1, 1]", "[1025, 1, 1]"), "block: 1025x1x1 work-items are more than 1024");
  expect_refusal(shaped("[1, 1, 1]", "[32, 33, 1]"), "block: 32x33x1 work-items are more than 1024");
  expect_refusal(shaped("[4294967295, 1, 1]", "[2, 1, 1]"), "grid: more than 2^32 - 1 work-items");
  expect_refusal(shaped("[4294967295, 4294967295, 4294967295]", "[1, 1, 1]"), "grid: more than");
  expect_refusal(shaped("[1, 1, 1]", "[64, 1, 1]"), "code_object: cannot read");
}

TEST_F(LaunchFileTest, KernelsLimitBlocksAndLds) {
  KernelOptions options;
  options.max_workgroup_size = 64;
  options.lds_size = 1024;
  put_code("s_nop 0", options);
  expect_refusal(R"({"code_object": "k.hsaco", "grid": [1, 1, 1], "block": [65, 1, 1]})",
                 "block: 65 work-items, kernel 'k' takes at most 64");
  expect_refusal(one_wave(R"("dynamic_lds": 163840)"),
                 "dynamic_lds: 163840 bytes and the 1024 of kernel 'k'");
  EXPECT_STREQ(run_text(one_wave(R"("dynamic_lds": 162816)")).status(), "ok");
}

TEST_F(LaunchFileTest, AFaultOutsideNamesTheBuffer) {
  put_code(R"(s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v1, 0
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0))");
  const auto outside = [&](const char *value) {
    const LaunchAnswer answer = run_text(one_wave(fmt::format(
        R"("buffers": {{"first": {{"size": 64, "fill": 0}}, "second": {{"size": 64, "fill": 0}}}},
           "values": [{}])",
        value)));
    EXPECT_STREQ(answer.status(), "fault");
    return answer.report.fault ? answer.report.fault->text : std::string();
  };
  const std::string second = outside(R"({"buffer": "second", "at": 62})");
  EXPECT_TRUE(second.ends_with("it reaches 2 bytes beyond the end; the buffer is 'second'")) << second;
  const std::string first = outside(R"({"buffer": "first", "at": 64})");
  EXPECT_TRUE(first.ends_with("is 0 bytes beyond the end; the buffer is 'first'")) << first;
  const std::string null = outside(R"({"u64": 0})");
  EXPECT_TRUE(null.ends_with("is outside every allocation")) << null;
}

TEST_F(LaunchFileTest, RefusesCodeObjectsOfOtherMachines) {
  std::vector<std::byte> code = assemble("s_nop 0");
  code[48] = std::byte{0x4C}; // gfx942
  put("k.hsaco", code.data(), code.size());
  expect_refusal(one_wave(""), "another ISA than gfx950");
  put("k.hsaco", code.data(), 100);
  expect_refusal(one_wave(""), "code_object: ");
}

TEST_F(LaunchFileTest, AnOutputThatCannotBeWrittenIsAnError) {
  put_code("s_nop 0");
  const LaunchAnswer answer =
      run_text(one_wave(R"("buffers": {"b": {"size": 4}}, "outputs": {"b": "none/b.bin"})"));
  ASSERT_STREQ(answer.status(), "error");
  EXPECT_NE(answer.error->message.find("outputs.b: cannot write"), std::string::npos);
}

TEST_F(LaunchFileTest, ChecksAreThoseThatThisVersionHas) {
  auto all = read(one_wave(R"("checks": "all")"));
  auto plain = read(one_wave(""));
  auto none = read(one_wave(R"("checks": "none")"));
  auto some = read(one_wave(R"("checks": ["budget", "misaligned"])"));
  ASSERT_TRUE(all.ok() && plain.ok() && none.ok() && some.ok());
  EXPECT_EQ(all->checks, plain->checks);
  EXPECT_TRUE(none->checks.empty());
  EXPECT_EQ(some->checks, (std::vector<std::string>{"budget", "misaligned"}));
  const std::set<std::string> found(all->checks.begin(), all->checks.end());
  EXPECT_FALSE(found.contains("race_global")) << "it is asked for by name";
  for (const char *kind : {"out_of_bounds", "undefined", "race_lds", "race_global", "wait", "misaligned",
                           "hazard", "barrier", "nan_scale", "budget", "unsupported"}) {
    auto one = read(one_wave(fmt::format(R"("checks": ["{}"])", kind)));
    ASSERT_TRUE(one.ok()) << kind;
    EXPECT_EQ(one->checks, std::vector<std::string>{kind});
    EXPECT_EQ(found.contains(kind), std::string(kind) != "race_global") << kind;
  }
}

TEST_F(LaunchFileTest, SurvivesDamage) {
  put_code(adds);
  const std::string good = one_wave(
      R"("buffers": {"in": {"size": 256, "fill": 3}, "out": {"size": 256}}, "order": "id", "checks": "all",
         "args": [{"offset": 0, "buffer": "in"}, {"offset": 8, "buffer": "out", "at": 0}], "dynamic_lds": 16, "kernarg_size": 64)");
  std::mt19937 random(5);
  unsigned ran = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    std::string text = good;
    for (unsigned change = 0; change <= round % 3; ++change) {
      const size_t at = random() % text.size();
      if (random() % 2)
        text[at] = text[random() % text.size()];
      else
        text[at] = static_cast<char>(random());
    }
    auto file = parse_launch_file(text, directory_);
    if (!file) {
      ASSERT_EQ(file.error().owner, Owner::User);
      continue;
    }
    const LaunchAnswer answer = run_launch_file(*file, 100'000);
    ran += answer.error ? 0 : 1;
  }
  EXPECT_GT(ran, 20u);
}

TEST(Coverage, HasEveryInstructionOnce) {
  const std::vector<CoverageRow> rows = coverage();
  std::set<std::string> names;
  for (const CoverageRow &row : rows) {
    EXPECT_TRUE(names.insert(row.mnemonic).second) << row.mnemonic;
    EXPECT_EQ(row.done, find_operation(row.mnemonic) != nullptr);
    EXPECT_TRUE(row.done || !row.note.empty()) << row.mnemonic;
  }
  EXPECT_GT(names.size(), 1200u);
  for (const char *name : {"s_add_u32",
                           "s_movk_i32",
                           "s_cmp_eq_u64",
                           "s_endpgm",
                           "s_load_dwordx16",
                           "s_memtime",
                           "v_mov_b32",
                           "v_fmaak_f32",
                           "v_cmp_class_f16",
                           "v_fma_f64",
                           "v_bitop3_b32",
                           "v_permlane32_swap_b32",
                           "v_pk_fma_f32",
                           "v_mfma_f32_16x16x128_f8f6f4",
                           "v_mfma_scale_f32_16x16x128_f8f6f4",
                           "v_mfma_ld_scale_b32",
                           "v_mfma_scale_f32_32x32x64_f8f6f4",
                           "v_smfmac_i32_16x16x128_i8",
                           "v_mfma_f64_16x16x4_f64",
                           "v_cvt_scalef32_sr_pk32_fp6_f32",
                           "ds_read_b64_tr_b4",
                           "ds_gws_init",
                           "ds_wrap_rtn_b32",
                           "flat_atomic_add_f64",
                           "global_load_lds_dwordx4",
                           "scratch_load_lds_dword",
                           "buffer_atomic_pk_add_bf16",
                           "tbuffer_load_format_xyzw",
                           "buffer_load_dwordx4"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const char *name : {"v_wmma_f32_16x16x16_f16", "image_load", "exp", "s_delay_alu"})
    EXPECT_FALSE(names.contains(name)) << name;
}

} // namespace
} // namespace nereid::sim::test
