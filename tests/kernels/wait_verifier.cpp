// The wait verifier on the library's own code, and on the same code with what compilers do wrong planted into
// it.
#include <algorithm>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "codegen/lower/lower.h"
#include "jit/verify/compile_and_verify.h"
#include "jit/verify/wait_verifier.h"
#include "tests/kernels/backend.h"
#include "tests/kernels/machine_loop.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

struct Code {
  jit::MachineFunction function;
  std::vector<codegen::PipelineContract> contracts;
};

CompiledResult compiled_gemm(const Partial<TileConfig> &tile, const ProblemSize &size) {
  NEREID_TRY(const GemmConfig config, gemm_kernel.complete({.tile = tile}, size));
  return gemm_kernel.compile(config, size, test_device());
}

Code code_of(const Partial<TileConfig> &tile, const ProblemSize &size) {
  const CompiledResult compiled = compiled_gemm(tile, size);
  EXPECT_TRUE(compiled.ok()) << compiled.error().text();
  Code code;
  code.function = jit::read_functions((*compiled)->code_object()).value().at(0);
  llvm::LLVMContext context;
  code.contracts = codegen::lower((*compiled)->function(), context).value().contracts;
  return code;
}

const Code &small_tile() {
  static const Code code = code_of({.block_m = 64, .block_n = 128}, {4096, 4096, 4096});
  return code;
}

/// Why the verifier refuses a function; empty when it does not.
std::string refusal(const jit::MachineFunction &function, const codegen::PipelineContract &contract) {
  const Status verified = jit::verify_waits(function, contract);
  return verified ? "" : verified.error().message;
}

bool is_load(const std::string &text) { return text.rfind("buffer_load", 0) == 0; }
bool is_copy(const std::string &text) {
  return is_load(text) && text.size() > 4 && text.substr(text.size() - 4) == " lds";
}

/// The code with one change at each place of the loop that `change` accepts is refused, at an instruction.
using Change = std::function<bool(std::vector<jit::MachineInstruction> &code, size_t at)>;
void expect_refused(const Code &code, const Change &change, const char *what) {
  const auto [begin, end] = matrix_loop(code.function);
  ASSERT_LT(begin, end);
  unsigned planted = 0;
  for (size_t at = begin; at < end; ++at) {
    jit::MachineFunction changed = code.function;
    if (!change(changed.instructions, at))
      continue;
    ++planted;
    const Status verified = jit::verify_waits(changed, code.contracts[0]);
    ASSERT_FALSE(verified) << what << " at " << code.function.instructions[at].text << " is accepted";
    EXPECT_EQ(verified.error().owner, Owner::Nereid);
    EXPECT_NE(verified.error().message.find("(at 0x"), std::string::npos) << verified.error().message;
  }
  EXPECT_GT(planted, 0u) << what;
}

void remove(std::vector<jit::MachineInstruction> &code, size_t at) { code[at].text = "s_nop 0"; }

/// Loses the explicit waits of the first modules that it is given.
class LosingCompiler : public jit::Compiler {
public:
  explicit LosingCompiler(int losses) : losses_(losses) {}

  std::string name() const override { return jit::embedded_compiler().name(); }
  const std::string &identity() const override { return jit::embedded_compiler().identity(); }
  Result<std::string> assembly(const jit::ModuleMaker &make) const override {
    return jit::embedded_compiler().assembly(make);
  }
  Result<jit::Binary> compile(const jit::ModuleMaker &make, JitTimes &times) const override {
    if (losses_-- <= 0)
      return jit::embedded_compiler().compile(make, times);
    const jit::ModuleMaker losing = [&](llvm::LLVMContext &context) {
      auto module = make(context);
      if (module)
        without_waits(**module);
      return module;
    };
    return jit::embedded_compiler().compile(losing, times);
  }

private:
  static void without_waits(llvm::Module &module) {
    std::vector<llvm::Instruction *> waits;
    for (llvm::Function &function : module)
      for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &instruction : block)
          if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
              call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_waitcnt)
            waits.push_back(call);
    for (llvm::Instruction *wait : waits)
      wait->eraseFromParent();
  }

  mutable int losses_;
};

std::shared_ptr<const CompiledKernel> small_kernel() {
  return compiled_gemm({.block_m = 64, .block_n = 128}, {4096, 4096, 4096}).value();
}

/// The waits of assembler text, in its order.
std::vector<std::string> waits_in(const std::string &text) {
  std::vector<std::string> waits;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find("s_waitcnt"); at != std::string::npos)
      waits.push_back(line.substr(at, line.find_last_not_of(' ') + 1 - at));
  return waits;
}

struct TilesConfig {
  int block = 64;
  int block_k = 64;
  int waves = 4;
  int stages = 2;
  NEREID_CONFIG(TilesConfig, block, block_k, waves, stages)
};

/// A pipeline for each of the tiles that a program takes: a [m, k] times the transpose of b [n, k].
void tiles_in_turn(const TilesConfig &c, Ptr<const f16> a, Ptr<const f16> b, Ptr<f32> out, Int m, Int n,
                   Int k) {
  for (const Int &size : {m, n, k})
    assume((size > 0) & (size <= 1 << 20));
  Int across = cdiv(n, c.block);
  for (Int tile : range(program_id(0), cdiv(m, c.block) * across, num_programs(0))) {
    Tile<i32> row = tile / across * c.block + rows(c.block);
    Tile<i32> b_row = tile % across * c.block + rows(c.block);
    Var sum = zeros<f32>({c.block, c.block});
    for (Int first : range(0, k, c.block_k)) {
      Tile<i32> depth = first + cols(c.block_k);
      sum += dot(load(a + (row * k + depth), (row < m) & (depth < k)),
                 trans(load(b + (b_row * k + depth), (b_row < n) & (depth < k))));
    }
    Tile<i32> column = tile % across * c.block + cols(c.block);
    store(out + (row * n + column), sum, (row < m) & (column < n));
  }
}

} // namespace

TEST(WaitVerifier, APipelineWithinALoopIsVerified) {
  Kernel kernel("tiles_in_turn", tiles_in_turn);
  const ArgumentFacts whole{.divisibility = 16};
  for (int stages : {2, 3, 4})
    for (int64_t k_divisibility : {16, 64}) {
      const auto compiled = kernel.compile(
          {.stages = stages}, {whole, whole, whole, whole, whole, {.divisibility = k_divisibility}},
          test_device());
      ASSERT_TRUE(compiled) << compiled.error().text();
      llvm::LLVMContext context;
      EXPECT_FALSE(codegen::lower((*compiled)->function(), context).value().contracts.empty()) << stages;
      EXPECT_EQ((*compiled)->binary()->waits, jit::Waits::Counted) << stages;
    }
}

TEST(WaitVerifier, TheLibrarysKernelsAreVerified) {
  for (const Partial<TileConfig> &tile :
       std::initializer_list<Partial<TileConfig>>{{.block_m = 32, .block_n = 128},
                                                  {.block_m = 64, .block_n = 128},
                                                  {.block_m = 128, .block_n = 128},
                                                  {.block_m = 96, .block_n = 128},
                                                  {.block_m = 256, .block_n = 256}})
    for (const ProblemSize &size : {ProblemSize{4096, 4096, 4096}, ProblemSize{100, 144, 1056}}) {
      const Code code = code_of(tile, size);
      EXPECT_EQ(code.contracts.size(), size.k % 256 == 0 ? 1u : 2u) << config_text(tile);
      for (const codegen::PipelineContract &contract : code.contracts)
        EXPECT_EQ(refusal(code.function, contract), "") << config_text(tile);
    }
}

TEST(WaitVerifier, DeletedLoadsAreFound) {
  expect_refused(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (!is_load(code[at].text))
          return false;
        remove(code, at);
        return true;
      },
      "a deleted load");
}

TEST(WaitVerifier, MergedLoadsAreFound) {
  expect_refused(
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

TEST(WaitVerifier, ReorderedLoadsAreFound) {
  // A copy that is the last of its stage changes places with the load after it.
  expect_refused(
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

TEST(WaitVerifier, WaitsForLessAndMissingBarriersAreFound) {
  const auto is_sync = [](const std::vector<jit::MachineInstruction> &code, size_t at) {
    return code[at].text.rfind("s_waitcnt", 0) == 0 && code[at + 1].text == "s_barrier";
  };
  expect_refused(
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
  expect_refused(
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
  expect_refused(
      small_tile(),
      [](std::vector<jit::MachineInstruction> &code, size_t at) {
        if (code[at].text != "s_barrier")
          return false;
        remove(code, at);
        return true;
      },
      "a missing barrier");
}

TEST(WaitVerifier, AKernelThatIsNotVerifiedWaitsForEverything) {
  const std::shared_ptr<const CompiledKernel> counted = small_kernel();
  JitTimes times;
  testing::internal::CaptureStderr();
  const Result<jit::Binary> careful = jit::compile_and_verify(LosingCompiler(1), counted->function(), times);
  const std::string warning = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(careful) << careful.error().text();
  EXPECT_NE(warning.find("warning: the waits of kernel 'mxfp4_gemm' are not verified"), std::string::npos)
      << warning;
  EXPECT_EQ(careful->waits, jit::Waits::Everything);

  const jit::MachineFunction function = jit::read_functions(careful->code_object).value().at(0);
  EXPECT_EQ(refusal(function, small_tile().contracts.at(0)), "");
  std::vector<std::string> waits;
  for (const jit::MachineInstruction &instruction : function.instructions)
    if (instruction.text.rfind("s_waitcnt", 0) == 0)
      waits.push_back(instruction.text);

  // What is shown of the kernel is what it runs.
  const CompiledKernel kernel(std::make_shared<const ir::Function>(counted->function()), counted->config(),
                              std::make_shared<const jit::Binary>(*careful), "key", times, CacheLevel::None);
  EXPECT_EQ(waits_in(kernel.isa().value()), waits);
  EXPECT_NE(waits_in(counted->isa().value()), waits);
  EXPECT_NE(kernel.llvm_ir().value(), counted->llvm_ir().value());
}

TEST(WaitVerifier, AKernelThatCannotBeVerifiedIsAnErrorOfNereid) {
  JitTimes times;
  testing::internal::CaptureStderr();
  const Result<jit::Binary> binary =
      jit::compile_and_verify(LosingCompiler(2), small_kernel()->function(), times);
  testing::internal::GetCapturedStderr();
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().owner, Owner::Nereid);
  EXPECT_NE(binary.error().message.find("the waits of an LDS pipeline are not verified"), std::string::npos);
  EXPECT_NE(binary.error().remedy.find("stages=1"), std::string::npos);
}

TEST(WaitVerifier, AContractOfNothingIsRefused) {
  const codegen::PipelineContract good = small_tile().contracts.at(0);
  for (unsigned codegen::PipelineContract::*number :
       {&codegen::PipelineContract::copies, &codegen::PipelineContract::reads,
        &codegen::PipelineContract::buffers}) {
    codegen::PipelineContract contract = good;
    contract.*number = 0;
    EXPECT_NE(refusal(small_tile().function, contract), "");
  }
  codegen::PipelineContract elsewhere = good;
  elsewhere.line = 1;
  EXPECT_EQ(refusal(small_tile().function, elsewhere), "the copies of a pipeline are not in the code");
}

TEST(WaitVerifier, ALoopThatNeverRunsIsLeftOut) {
  const jit::MachineFunction &function = small_tile().function;
  std::vector<codegen::PipelineContract> contracts = small_tile().contracts;
  codegen::PipelineContract gone = contracts.at(0);
  EXPECT_FALSE(jit::is_left_out(function, gone, contracts)) << "it is in the code";
  gone.line = 1;
  EXPECT_FALSE(jit::is_left_out(function, gone, {gone})) << "the copies that are there may be its own";
  contracts.push_back(gone);
  EXPECT_TRUE(jit::is_left_out(function, gone, contracts));
  contracts.erase(contracts.begin());
  EXPECT_FALSE(jit::is_left_out(function, gone, contracts)) << "a copy is nobody's";
}

TEST(WaitVerifier, InstructionsItDoesNotKnowAreRefused) {
  for (const char *text : {"s_setpc_b64 s[0:1]", "s_waitcnt 0x3f70", "s_branch 20000"}) {
    jit::MachineFunction function = small_tile().function;
    function.instructions[3].text = text;
    const std::string why = refusal(function, small_tile().contracts.at(0));
    EXPECT_NE(why.find("does not understand"), std::string::npos) << text << ": " << why;
    EXPECT_NE(why.find(text), std::string::npos) << why;
  }
}
