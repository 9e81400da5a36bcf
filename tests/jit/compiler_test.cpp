// Both compilers' contract: what they give, what LLVM's errors and crashes become, what they leave alone.
#include "jit/compile/compiler.h"

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "jit/compile/assembler.h"
#include "jit/compile/code_object_info.h"
#include "jit/compile/compiler_availability.h"
#include "jit/compile/inspection.h"
#include "jit/compile/linker.h"
#include "jit/compile/resources_json.h"
#include "tests/jit/temporary_directory.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

// What a crash of LLVM held is lost on purpose.
extern "C" [[gnu::visibility("default")]] const char *__lsan_default_suppressions() {
  return "leak:nereid::jit::run_llvm_job\n";
}

namespace nereid::jit {
namespace {

ModuleMaker parsed(std::string text) {
  return [text = std::move(text)](llvm::LLVMContext &context) -> Result<std::unique_ptr<llvm::Module>> {
    llvm::SMDiagnostic problem;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
    if (!module)
      return nereid_error("parsing: " + problem.getMessage().str());
    return module;
  };
}

std::string kernel_text(const std::string &body, const std::string &declarations = "") {
  return "define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %i) #0 {\n" + body + "  ret void\n}\n" +
         declarations + "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"256,256\" }\n";
}

Result<Binary> compile(const std::string &text) {
  JitTimes times;
  return embedded_compiler().compile(parsed(text), times);
}

const std::string good = kernel_text("  store i32 %i, ptr addrspace(1) %p\n");

TEST(EmbeddedCompiler, MakesACodeObject) {
  JitTimes times;
  auto binary = embedded_compiler().compile(parsed(good), times);
  ASSERT_TRUE(binary) << binary.error().text();
  const std::string elf(binary->code_object.begin(), binary->code_object.begin() + 4);
  EXPECT_EQ(elf, "\x7f"
                 "ELF");
  EXPECT_GT(binary->resources.vgpr, 0u);
  EXPECT_EQ(binary->resources.lds, 0u);
  EXPECT_EQ(binary->resources.scratch, 0u);
  EXPECT_EQ(binary->resources.occupancy, 8u);
  EXPECT_GT(times.codegen, 0.0);
  EXPECT_GT(times.link, 0.0);
  EXPECT_EQ(binary->compiler, embedded_compiler().name());
}

TEST(EmbeddedCompiler, IsDeterministic) {
  auto first = compile(good), second = compile(good);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->code_object, second->code_object);
}

TEST(EmbeddedCompiler, ReadsLdsFromTheMetadata) {
  auto binary = compile("@l = internal addrspace(3) global [1024 x i32] poison\n" +
                        kernel_text("  %a = getelementptr i32, ptr addrspace(3) @l, i32 %i\n"
                                    "  store volatile i32 1, ptr addrspace(3) %a\n"));
  ASSERT_TRUE(binary) << binary.error().text();
  EXPECT_EQ(binary->resources.lds, 4096u);
}

TEST(EmbeddedCompiler, WritesAssemblerText) {
  auto text = embedded_compiler().assembly(parsed(good));
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_NE(text->find(".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\""), std::string::npos);
  EXPECT_NE(text->find(".amdhsa_kernel k"), std::string::npos);
  EXPECT_NE(text->find(".amdgpu_metadata"), std::string::npos);
  EXPECT_NE(text->find("_store_dword"), std::string::npos);
}

TEST(EmbeddedCompiler, CompilesWhatItsTextSays) {
  auto text = embedded_compiler().assembly(parsed(good));
  auto binary = compile(good);
  ASSERT_TRUE(text && binary);
  llvm::SmallVector<char, 0> object;
  std::string messages;
  ASSERT_TRUE(assemble(*text, object, messages)) << messages;
  auto linked = link_code_object({object.data(), object.size()});
  ASSERT_TRUE(linked) << linked.error().text();
  EXPECT_EQ(*linked, binary->code_object);
}

TEST(Assembler, ReportsWhatItDoesNotKnow) {
  llvm::SmallVector<char, 0> object;
  std::string messages;
  const Status assembled = assemble("v_bogus v0\n", object, messages);
  ASSERT_FALSE(assembled);
  EXPECT_NE(assembled.error().message.find("invalid instruction"), std::string::npos);
}

TEST(Linker, ReportsWhatIsNoObject) {
  auto linked = link_code_object("not an object");
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().owner, Owner::Nereid);
  EXPECT_NE(linked.error().message.find("linking"), std::string::npos);
  // LLD goes on.
  EXPECT_TRUE(compile(good));
}

struct BadModule {
  const char *name;
  std::string text;
  Owner owner;
  const char *message;
};

class BadModules : public testing::TestWithParam<BadModule> {};

TEST_P(BadModules, AreErrorsAndTheCompilerGoesOn) {
  const BadModule &bad = GetParam();
  for (int i = 0; i < 2; ++i) {
    auto binary = compile(bad.text);
    ASSERT_FALSE(binary);
    EXPECT_EQ(binary.error().owner, bad.owner);
    EXPECT_NE(binary.error().message.find(bad.message), std::string::npos) << binary.error().message;
    EXPECT_FALSE(binary.error().remedy.empty());
  }
  auto next = compile(good);
  EXPECT_TRUE(next);
}

INSTANTIATE_TEST_SUITE_P(
    Embedded, BadModules,
    testing::Values(
        BadModule{"CannotSelect",
                  // gfx10 and later only
                  kernel_text("  %v = call i32 @llvm.amdgcn.permlane16.i32(i32 %i, i32 %i, i32 %i, i32 %i, "
                              "i1 false, i1 false)\n"
                              "  store i32 %v, ptr addrspace(1) %p\n",
                              "declare i32 @llvm.amdgcn.permlane16.i32(i32, i32, i32, i32, i1, i1)\n"),
                  Owner::Nereid, "annot select"},
        BadModule{"UnknownInstruction", kernel_text("  call void asm sideeffect \"v_bogus v0\", \"\"()\n"),
                  Owner::Nereid, "invalid instruction"},
        BadModule{"BrokenModule", "define amdgpu_kernel i32 @k() {\n  ret i32 0\n}\n", Owner::Nereid,
                  "broken"},
        BadModule{"TooMuchLds",
                  "@l = internal addrspace(3) global [200000 x i8] poison\n" +
                      kernel_text("  %a = getelementptr i8, ptr addrspace(3) @l, i32 %i\n"
                                  "  store volatile i8 1, ptr addrspace(3) %a\n"),
                  Owner::User, "local memory (200000) exceeds limit"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(EmbeddedCompiler, LeavesSignalHandlersAsTheyWere) {
  struct sigaction before{}, after{};
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &before), 0);
  ASSERT_TRUE(compile(good));
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(EmbeddedCompiler, WorksOnSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(compile(good));
        if (t == 0) {
          EXPECT_FALSE(compile("define amdgpu_kernel i32 @k() {\n  ret i32 0\n}\n"));
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(CodeObjectInfo, RefusesWhatIsNoCodeObject) {
  const std::vector<uint8_t> garbage(100, 1);
  auto resources = read_resources(garbage);
  ASSERT_FALSE(resources);
  EXPECT_NE(resources.error().message.find("damaged"), std::string::npos);
  EXPECT_FALSE(read_lines(garbage));
  EXPECT_FALSE(disassemble(garbage, [](unsigned) { return std::string(); }));
}

TEST(Occupancy, FollowsRegistersLdsAndSlots) {
  EXPECT_EQ(occupancy(32, 0, 4), 8u);
  EXPECT_EQ(occupancy(64, 0, 4), 8u);
  EXPECT_EQ(occupancy(65, 0, 4), 7u);
  EXPECT_EQ(occupancy(128, 0, 4), 4u);
  EXPECT_EQ(occupancy(168, 0, 4), 3u);
  EXPECT_EQ(occupancy(256, 0, 4), 2u);
  EXPECT_EQ(occupancy(264, 0, 4), 1u);
  EXPECT_EQ(occupancy(512, 0, 4), 1u);
  EXPECT_EQ(occupancy(32, 80 * 1024, 4), 2u);
  EXPECT_EQ(occupancy(32, 160 * 1024, 4), 1u);
  EXPECT_EQ(occupancy(32, 160 * 1024, 8), 2u);
  EXPECT_EQ(occupancy(32, 160 * 1024 + 1, 4), 0u);
  EXPECT_EQ(occupancy(256, 0, 16), 0u);
  EXPECT_EQ(occupancy(128, 0, 16), 4u);
}

TEST(Occupancy, SumsOfLargeArgumentsDoNotWrap) {
  constexpr unsigned large = ~0u;
  EXPECT_EQ(occupancy(large, 0, 4), 0u);
  EXPECT_EQ(occupancy(32, large, 4), 0u);
  EXPECT_EQ(occupancy(32, 1, large), 0u);
}

TEST(Resources, TextNamesEveryField) {
  EXPECT_EQ(to_json({1, 2, 3, 4, 5, 6, 7}),
            R"({"vgpr": 1, "agpr": 2, "sgpr": 3, "lds": 4, "scratch": 5, "spills": 6, "occupancy": 7})");
  const Resources resources{17, 4, 20, 4096, 0, 2, 8};
  EXPECT_EQ(resources_of(resources_json(resources)), resources);
  EXPECT_EQ(resources_of(llvm::json::Object{{"vgpr", 17}}), std::nullopt);
  llvm::json::Object negative = resources_json(resources), large = resources_json(resources);
  negative["lds"] = -1;
  large["lds"] = int64_t{1} << 32;
  EXPECT_EQ(resources_of(negative), std::nullopt);
  EXPECT_EQ(resources_of(large), std::nullopt);
}

TEST(Compilers, AreChosenByName) {
  EXPECT_EQ(*compiler_named("embedded"), &embedded_compiler());
  auto unknown = compiler_named("gcc");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().owner, Owner::User);
  EXPECT_NE(unknown.error().message.find("gcc"), std::string::npos);
  auto automatic = compiler_named("auto");
  ASSERT_TRUE(automatic);
  auto comgr = comgr_compiler();
  EXPECT_EQ(*automatic, comgr ? *comgr : &embedded_compiler());
}

TEST(Compilers, AreListedWithReasons) {
  test::ScopedEnvironment choice("NEREID_COMPILER", "embedded");
  const auto all = compilers();
  ASSERT_EQ(all.size(), 2u);
  for (const CompilerAvailability &one : all) {
    EXPECT_FALSE(one.detail.empty());
    EXPECT_EQ(one.chosen, one.name == "embedded");
  }
  EXPECT_TRUE(all[1].available);
}

} // namespace
} // namespace nereid::jit
