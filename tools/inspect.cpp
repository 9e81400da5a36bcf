// nereid inspect: registers and machine code of a library kernel beside its source lines.
#include <fmt/format.h>

#include "tools/command.h"
#include "tools/kernel_choice.h"
#include "tools/launch_json.h"

namespace nereid::tools {
namespace {

constexpr const char *inspect_footer =
    R"(Prints registers, LDS and occupancy, and the machine code with the kernel's source lines beside the
instructions that come from them.

Example:
  nereid inspect mxfp4_gemm_fused --config block_m=16,block_n=32 --shape 16,2880,512)";

std::string resources_text(const Resources &resources) {
  return fmt::format("VGPRs {} (of these AGPRs {})  SGPRs {}  LDS {} bytes  scratch {} bytes  spills {}\n"
                     "occupancy {} waves a SIMD\n",
                     resources.vgpr, resources.agpr, resources.sgpr, resources.lds, resources.scratch,
                     resources.spills, resources.occupancy);
}

Outcome run(const KernelChoice &choice) {
  NEREID_TRY(const ChosenKernel chosen, compile_choice(choice));
  const CompiledKernel &compiled = *chosen.compiled;
  NEREID_TRY(const std::string isa, compiled.annotated_isa());
  Outcome outcome;
  outcome.json = llvm::json::Object{{"kernel", compiled.name()},
                                    {"config", config_json(chosen.config)},
                                    {"compiler", compiled.compiler()},
                                    {"key", compiled.key()},
                                    {"waves", compiled.block() / 64},
                                    {"resources", jit::resources_json(compiled.resources())},
                                    {"jit_ms", jit_json(compiled.times())},
                                    {"isa", isa}};
  outcome.text = fmt::format("{} {}\ncompiled by {}, {:.1f} ms, key {}\n{}\n{}", compiled.name(),
                             config_text(chosen.config), compiled.compiler(), compiled.times().total(),
                             compiled.key(), resources_text(compiled.resources()), isa);
  return outcome;
}

} // namespace

void add_inspect(CLI::App &app, Invocation &invocation) {
  auto choice = std::make_shared<KernelChoice>();
  CLI::App *command =
      add_command(app, invocation, "inspect", "Show what the compiler made of a library kernel",
                  [choice] { return run(*choice); });
  command->footer(inspect_footer);
  add_kernel_choice(*command, *choice);
}

} // namespace nereid::tools
