// Which passes of LLVM run, and which do not.
#include "jit/compile/pass_pipeline.h"

#include <fmt/format.h>

#include "codegen/lower/sink_offsets.h"
#include "codegen/target/gfx950.h"
#include "jit/compile/crowded_allocation.h"
#include "jit/compile/large_code.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Transforms/Scalar/StraightLineStrengthReduce.h"

namespace nereid::jit {
namespace {

#define NEREID_COMBINE "instcombine<max-iterations=1;no-verify-fixpoint>"
#define NEREID_SIMPLIFY_CFG                                                                                  \
  "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;keep-loops;speculate-blocks;simplify-cond-"       \
  "branch>"

/// LLVM's O3 runs instcombine nine times and more than fifty passes that find nothing in what we emit: it has
/// no calls, no stack, no exceptions and few branches.
constexpr const char *optimization =
    "function(early-cse<>),ipsccp,"
    "function<eager-inv>("
    // clang-format off
      NEREID_COMBINE ",early-cse<memssa>,"
      NEREID_SIMPLIFY_CFG "," NEREID_COMBINE "," NEREID_SIMPLIFY_CFG ","
      "reassociate,constraint-elimination,"
      "loop-mssa(loop-instsimplify,licm<no-allowspeculation>,"
        "loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>),"
      NEREID_SIMPLIFY_CFG ","
      "loop(loop-deletion),gvn<>,"
      "loop-mssa(licm<allowspeculation>),"
      "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;"
        "switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts;speculate-blocks;"
        "simplify-cond-branch>,"
      "vector-combine,loop-unroll<O3>,infer-alignment,"
      NEREID_COMBINE ","
      "loop-mssa(licm<allowspeculation>),loop-sink,instsimplify,div-rem-pairs,"
      NEREID_SIMPLIFY_CFG "),"
    // clang-format on
    "amdgpu-attributor,globaldce";

/// After constant offsets stand beside their accesses.
constexpr const char *split_offsets = "function(separate-const-offset-from-gep)";
constexpr const char *clean_up = "function(early-cse<>)";

struct SinkOffsets : llvm::PassInfoMixin<SinkOffsets> {
  static llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    codegen::sink_offsets(module);
    return llvm::PreservedAnalyses::none();
  }
};

/// Not of large code: its time grows with the cube of a block's length, 12 s for a scan of 256 bytes a lane.
struct ReduceStrength : llvm::PassInfoMixin<ReduceStrength> {
  static llvm::PreservedAnalyses run(llvm::Function &kernel, llvm::FunctionAnalysisManager &analyses) {
    if (kernel.getInstructionCount() >= large_code)
      return llvm::PreservedAnalyses::all();
    return llvm::StraightLineStrengthReducePass().run(kernel, analyses);
  }
};

unsigned waves_of(const llvm::Function &kernel) {
  unsigned items = 0;
  const llvm::StringRef range = kernel.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString();
  range.split(',').second.getAsInteger(10, items);
  return items / codegen::gfx950::lanes;
}

/// Makes large code fit for code generation, or says why it is not.
struct PrepareLargeCode : llvm::PassInfoMixin<PrepareLargeCode> {
  explicit PrepareLargeCode(Status &result) : result(&result) {}

  llvm::PreservedAnalyses run(llvm::Function &kernel, llvm::FunctionAnalysisManager &analyses) {
    if (kernel.isDeclaration() || size_of_code(kernel) < large_code)
      return llvm::PreservedAnalyses::all();
    const llvm::UniformityInfo &uniformity = analyses.getResult<llvm::UniformityInfoAnalysis>(kernel);
    const auto is_uniform = [&](const llvm::Value &value) { return uniformity.isUniform(&value); };
    *result = check_demand(kernel, register_demand(kernel, is_uniform), waves_of(kernel));
    cut_long_blocks(kernel);
    return llvm::PreservedAnalyses::none();
  }

  Status *result;
};

Error refused(llvm::Error error) {
  return nereid_error("this LLVM does not know a pass: " + llvm::toString(std::move(error)),
                      "Build Nereid with LLVM 22");
}

} // namespace

Status optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, optimization))
    return refused(std::move(error));
  passes.addPass(SinkOffsets());
  if (llvm::Error error = builder.parsePassPipeline(passes, split_offsets))
    return refused(std::move(error));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(ReduceStrength()));
  if (llvm::Error error = builder.parsePassPipeline(passes, clean_up))
    return refused(std::move(error));
  Status fits;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(PrepareLargeCode(fits)));
  passes.run(module, modules);
  return fits;
}

/// What TargetMachine::addPassesToEmitFile does, without the pass that follows the values of variables for a
/// debugger: there are none, and it spends its time on tables of aliases of all registers.
Status generate_assembly(llvm::Module &module, llvm::TargetMachine &machine,
                         llvm::SmallVectorImpl<char> &text) {
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(machine.getTargetTriple()));
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::LiveDebugValuesID);
  passes.add(config);
  passes.add(info);
  for (const llvm::Function &kernel : module)
    if (size_of_code(kernel) >= large_code)
      NEREID_CHECK(allocate_crowded_in_one_pass(*config, registers_of_lane(waves_of(kernel))));
  if (config->addISelPasses())
    return nereid_error("this LLVM cannot select instructions for gfx950");
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                            info->getMMI().getContext()))
    return nereid_error("this LLVM cannot emit code for gfx950");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return {};
}

std::string pass_pipeline_identity() {
  constexpr size_t digits = 16;
  llvm::SHA256 hash;
  hash.update(optimization);
  hash.update(split_offsets);
  hash.update(clean_up);
  hash.update(large_code_identity());
  hash.update(crowded_allocation_identity());
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, digits);
}

} // namespace nereid::jit
