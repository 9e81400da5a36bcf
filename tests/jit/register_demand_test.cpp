// How many vector registers code has live at a time, and what follows from it.
#include <gtest/gtest.h>

#include "jit/compile/crowded_allocation.h"
#include "jit/compile/large_code.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace nereid::jit {
namespace {

class Parsed {
public:
  explicit Parsed(const std::string &body) {
    llvm::SMDiagnostic error;
    module_ = llvm::parseAssemblyString(
        "define void @k(ptr addrspace(1) %x, float %f, i1 %c) {\n" + body + "}\n", error, context_);
    EXPECT_TRUE(module_) << error.getMessage().str();
  }
  llvm::Function &kernel() const { return *module_->getFunction("k"); }
  unsigned registers() const {
    return register_demand(kernel(), [](const llvm::Value &) { return false; }).registers;
  }

private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST(RegisterDemand, CountsWhatIsLiveAtATime) {
  EXPECT_EQ(Parsed("ret void\n").registers(), 0u);
  const Parsed chain(
      "%a = load float, ptr addrspace(1) %x\n %b = fadd float %a, %a\n %c2 = fadd float %b, %b\n"
      "store float %c2, ptr addrspace(1) %x\n ret void\n");
  EXPECT_EQ(chain.registers(), 1u);
  const Parsed together(
      "%a = load <4 x float>, ptr addrspace(1) %x\n %b = load <4 x float>, ptr addrspace(1) %x\n"
      "%s = fadd <4 x float> %a, %b\n store <4 x float> %s, ptr addrspace(1) %x\n ret void\n");
  EXPECT_EQ(together.registers(), 8u);
}

TEST(RegisterDemand, PiecesCountAsTheirRegister) {
  const Parsed bytes("%a = load i32, ptr addrspace(1) %x\n %h = lshr i32 %a, 8\n %b0 = trunc i32 %a to i8\n"
                     "%b1 = trunc i32 %h to i8\n store i8 %b0, ptr addrspace(1) %x\n"
                     "store i8 %b1, ptr addrspace(1) %x\n ret void\n");
  EXPECT_EQ(bytes.registers(), 1u);
}

TEST(RegisterDemand, ALoopCarriesItsValues) {
  const Parsed loop("%a = load <8 x float>, ptr addrspace(1) %x\n br label %body\nbody:\n"
                    "%s = phi <8 x float> [ %a, %0 ], [ %t, %body ]\n"
                    "%l = load <8 x float>, ptr addrspace(1) %x\n %m = fmul <8 x float> %l, %a\n"
                    "%t = fadd <8 x float> %s, %m\n br i1 %c, label %body, label %end\nend:\n"
                    "store <8 x float> %t, ptr addrspace(1) %x\n ret void\n");
  EXPECT_EQ(loop.registers(), 24u) << "a through the loop, the sum, and one load or product";
}

TEST(RegisterDemand, UniformValuesAreInScalarRegisters) {
  const Parsed one("%a = load float, ptr addrspace(1) %x\n store float %a, ptr addrspace(1) %x\n ret void\n");
  EXPECT_EQ(register_demand(one.kernel(), [](const llvm::Value &) { return true; }).registers, 0u);
}

TEST(LargeCode, IsRefusedWhereScratchMemoryWouldNotHold) {
  const Parsed empty("ret void\n");
  EXPECT_EQ(registers_of_lane(1), 512u);
  EXPECT_EQ(registers_of_lane(8), 256u);
  EXPECT_TRUE(check_demand(empty.kernel(), {512 + 3 * 1024, 7}, 4));
  const Status refused = check_demand(empty.kernel(), {512 + 3 * 1024 + 1, 7}, 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().owner, Owner::User);
  EXPECT_EQ(refused.error().where.line, 7u);
  EXPECT_NE(refused.error().message.find("needs about 3585 vector registers a lane at a time, which has 512"),
            std::string::npos);
  EXPECT_NE(refused.error().remedy.find("smaller tiles or more waves"), std::string::npos);
}

TEST(LargeCode, ElementsOfNarrowVectorsCountOneByOne) {
  EXPECT_EQ(size_of_code(Parsed("%a = load <16 x i8>, ptr addrspace(1) %x\n %b = add <16 x i8> %a, %a\n"
                                "store <16 x i8> %b, ptr addrspace(1) %x\n ret void\n")
                             .kernel()),
            34u);
  EXPECT_EQ(size_of_code(Parsed("%a = load <4 x float>, ptr addrspace(1) %x\n ret void\n").kernel()), 2u);
}

TEST(Crowded, IsWhatHasManyValuesAndTooFewRegisters) {
  EXPECT_FALSE(is_crowded({.registers = 512, .values = 10000, .has_loop = true}, 512));
  EXPECT_FALSE(is_crowded({.registers = 2000, .values = 1000, .has_loop = true}, 512));
  EXPECT_TRUE(is_crowded({.registers = 513, .values = 1001, .has_loop = true}, 512));
  EXPECT_TRUE(is_crowded({.registers = 257, .values = 1001, .has_loop = true}, 256));
}

TEST(Crowded, IsWhatRunsOnceAndNearlyTakesTheRegisters) {
  EXPECT_FALSE(is_crowded({.registers = 409, .values = 10000}, 512));
  EXPECT_FALSE(is_crowded({.registers = 2000, .values = 500}, 512));
  EXPECT_TRUE(is_crowded({.registers = 410, .values = 501}, 512));
  EXPECT_TRUE(is_crowded({.registers = 205, .values = 501}, 256));
}

TEST(LargeCode, LongBlocksAreCut) {
  std::string body;
  for (int i = 0; i < 9000; ++i)
    body += "store float %f, ptr addrspace(1) %x\n";
  const Parsed parsed(body + "ret void\n");
  const unsigned before = parsed.kernel().getInstructionCount();
  cut_long_blocks(parsed.kernel());
  EXPECT_EQ(parsed.kernel().getInstructionCount(), before + 9);
  const Parsed small("store float %f, ptr addrspace(1) %x\n ret void\n");
  cut_long_blocks(small.kernel());
  EXPECT_EQ(small.kernel().getInstructionCount(), 2u);
}

} // namespace
} // namespace nereid::jit
