#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "codegen/staged_promise.h"
#include "jit/wait_proof.h"
#include "kernels/catalog.h"
#include "tests/kernels/backend.h"
#include "tests/kernels/machine_loop.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

/// The proof of a staged loop's waits on the library's own code, and on the same code with what compilers do
/// wrong planted into it.

namespace {

struct Code {
  jit::MachineFunction function;
  std::vector<codegen::StagedPromise> promises;
};

Code code_of(const ConfigValues &config, const ProblemSize &size) {
  const LibraryKernel &kernel = **kernel_named("mxfp4_gemm");
  const auto compiled = kernel.compile(kernel.complete(config, size).value(), size, test_device());
  EXPECT_TRUE(compiled.ok()) << compiled.error().text();
  Code code;
  code.function = jit::read_functions((*compiled)->code_object()).value().at(0);
  const std::string ir = (*compiled)->llvm_ir().value();
  const std::string name = std::string("\"") + codegen::staged_attribute + "\"=\"";
  const size_t begin = ir.find(name) + name.size();
  code.promises =
      codegen::promises_in(std::string_view(ir).substr(begin, ir.find('"', begin) - begin)).value();
  return code;
}

const Code &small_tile() {
  static const Code code = code_of({{"block_m", 64}, {"block_n", 128}}, {4096, 4096, 4096});
  return code;
}

bool is_load(const std::string &text) { return text.rfind("buffer_load", 0) == 0; }
bool is_copy(const std::string &text) {
  return is_load(text) && text.size() > 4 && text.substr(text.size() - 4) == " lds";
}

/// The code with one change at each place of the loop that `change` accepts; how many changes are proven.
using Change = std::function<bool(std::vector<jit::MachineInstruction> &code, size_t at)>;
void expect_unproven(const Code &code, const Change &change, const char *what) {
  const auto [begin, end] = matrix_loop(code.function);
  ASSERT_LT(begin, end);
  unsigned planted = 0;
  for (size_t at = begin; at < end; ++at) {
    jit::MachineFunction changed = code.function;
    if (!change(changed.instructions, at))
      continue;
    ++planted;
    EXPECT_TRUE(jit::unproven_wait(changed, code.promises[0]))
        << what << " at " << code.function.instructions[at].text << " is taken as proven";
  }
  EXPECT_GT(planted, 0u) << what;
}

void remove(std::vector<jit::MachineInstruction> &code, size_t at) { code[at].text = "s_nop 0"; }

} // namespace

TEST(WaitProof, TheLibrarysKernelsAreProven) {
  for (const ConfigValues &config :
       {ConfigValues{{"block_m", 32}, {"block_n", 128}}, ConfigValues{{"block_m", 64}, {"block_n", 128}},
        ConfigValues{{"block_m", 128}, {"block_n", 128}}, ConfigValues{{"block_m", 96}, {"block_n", 128}},
        ConfigValues{{"block_m", 256}, {"block_n", 256}}})
    for (const ProblemSize &size : {ProblemSize{4096, 4096, 4096}, ProblemSize{100, 144, 1056}}) {
      const Code code = code_of(config, size);
      EXPECT_EQ(code.promises.size(), size.k % 256 == 0 ? 1u : 2u) << config.text();
      for (const codegen::StagedPromise &promise : code.promises)
        EXPECT_EQ(jit::unproven_wait(code.function, promise).value_or(""), "") << config.text();
    }
}

TEST(WaitProof, DeletedLoadsAreFound) {
  expect_unproven(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (!is_load(code[at].text))
          return false;
        remove(code, at);
        return true;
      },
      "a deleted load");
}

TEST(WaitProof, MergedLoadsAreFound) {
  expect_unproven(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        const auto is_dword = [](const std::string &text) {
          return text.rfind("buffer_load_dword ", 0) == 0;
        };
        if (!is_dword(code[at].text))
          return false;
        for (size_t next = at + 1; next < code.size() && next < at + 40; ++next)
          if (is_dword(code[next].text)) {
            code[at].text.replace(0, std::string("buffer_load_dword").size(), "buffer_load_dwordx2");
            remove(code, next);
            return true;
          }
        return false;
      },
      "a merged load");
}

TEST(WaitProof, ReorderedLoadsAreFound) {
  // A copy that is the last of its stage changes places with the load after it.
  expect_unproven(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (!is_copy(code[at].text))
          return false;
        for (size_t next = at + 1; next < code.size(); ++next)
          if (is_load(code[next].text) || code[next].text.rfind("s_cbranch", 0) == 0) {
            if (!is_load(code[next].text) || is_copy(code[next].text))
              return false;
            std::swap(code[at].text, code[next].text);
            std::swap(code[at].position, code[next].position);
            return true;
          }
        return false;
      },
      "a reordered load");
}

TEST(WaitProof, WaitsForLessAndMissingBarriersAreFound) {
  const auto is_sync = [](const std::vector<jit::MachineInstruction> &code, size_t at) {
    return code[at].text.rfind("s_waitcnt", 0) == 0 && code[at + 1].text == "s_barrier";
  };
  expect_unproven(
      small_tile(),
      [&](std::vector<jit::MachineInstruction> &code, size_t at) {
        const size_t number = code[at].text.find("vmcnt(");
        if (!is_sync(code, at) || number == std::string::npos)
          return false;
        const int count = std::stoi(code[at].text.substr(number + 6));
        code[at].text = "s_waitcnt vmcnt(" + std::to_string(count + 1) + ") lgkmcnt(0)";
        return true;
      },
      "a wait for one less");
  expect_unproven(
      small_tile(),
      [&](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (!is_sync(code, at))
          return false;
        const size_t number = code[at].text.find(" lgkmcnt(0)");
        if (number == std::string::npos)
          return false;
        code[at].text = code[at].text.substr(0, number);
        return true;
      },
      "a wait without reads");
  expect_unproven(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (code[at].text != "s_barrier")
          return false;
        remove(code, at);
        return true;
      },
      "a missing barrier");
}

TEST(WaitProof, PromisesAreText) {
  const std::vector<codegen::StagedPromise> promises = {{40, 2, 2, 8, 4}, {40, 4, 2, 8, 1}};
  EXPECT_EQ(codegen::promises_in(codegen::text_of(promises)), promises);
  for (const char *text : {"1,2,3,4", "1,2,3,4,5", "1,2,3,4;", "x", "1,2,3,4,5;6"})
    EXPECT_FALSE(codegen::promises_in(text)) << text;
  EXPECT_TRUE(codegen::promises_in("")->empty());
}
