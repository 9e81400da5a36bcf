// nereid compile: a library kernel in the form that is asked for.
#include <fmt/format.h>

#include <llvm/Support/raw_ostream.h>

#include "tools/command.h"
#include "tools/files.h"
#include "tools/kernel_choice.h"
#include "tools/launch_json.h"

namespace nereid::tools {
namespace {

struct CompileOptions {
  KernelChoice choice;
  std::string emit = "isa";
  std::string out;
};

constexpr const char *compile_footer =
    R"(What --emit gives: ir, the canonical tile IR; plan, the layouts, dots, wave split and loops that the code
generator decides on, and its remarks; llvm, the LLVM IR; isa, assembler text with the kernel's metadata, of
which llvm-mc and ld.lld make the code object; hsaco, the code object; resources, JSON.
--shape sets alignment and divisibility, and with const_k=1 the constant K; mxfp4_quant's shape is M,0,K.

Examples:
  nereid compile mxfp4_gemm_fused --config block_m=16,block_n=64,split_k=8 --shape 16,2112,7168 --emit isa
  nereid compile mxfp4_quant --config path=hw,shuffled=1 --shape 256,0,3072 --emit hsaco -o quant.hsaco)";

std::string json_text(llvm::json::Object object) {
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str();
}

/// Kernel, config and shape, as a comment of assembler text and of LLVM IR.
std::string header(const ChosenKernel &chosen, const KernelChoice &choice) {
  const std::string shape = choice.shape.empty() ? "any shape" : "shape " + choice.shape;
  return fmt::format("; {} {}, {}\n", chosen.compiled->name(), config_text(chosen.config), shape);
}

Result<std::string> emitted(const ChosenKernel &chosen, const KernelChoice &choice, const std::string &what) {
  const CompiledKernel &kernel = *chosen.compiled;
  if (what == "ir")
    return kernel.ir();
  if (what == "plan" || what == "llvm" || what == "isa") {
    NEREID_TRY(const std::string text, what == "plan"   ? kernel.plan()
                                       : what == "llvm" ? kernel.llvm_ir()
                                                        : kernel.isa());
    return header(chosen, choice) + text;
  }
  if (what == "resources") {
    llvm::json::Object object = jit::resources_json(kernel.resources());
    object["kernel"] = kernel.name();
    object["config"] = config_json(chosen.config);
    return json_text(std::move(object));
  }
  const SharedBytes object = kernel.code_object();
  return std::string(object.begin(), object.end());
}

Outcome run(const CommonOptions &common, const CompileOptions &options) {
  if (common.json && options.out.empty() && options.emit == "hsaco")
    return user_error("a code object does not fit into JSON", "give -o FILE");
  NEREID_TRY(const ChosenKernel chosen, compile_choice(options.choice));
  const CompiledKernel &compiled = *chosen.compiled;
  NEREID_TRY(std::string text, emitted(chosen, options.choice, options.emit));
  if (!options.out.empty())
    NEREID_CHECK(write_file(options.out, text));

  Outcome outcome;
  outcome.json = llvm::json::Object{{"kernel", compiled.name()},
                                    {"config", config_json(chosen.config)},
                                    {"emit", options.emit},
                                    {"key", compiled.key()},
                                    {"compiler", compiled.compiler()},
                                    {"cache", llvm::StringRef(name_of(compiled.cache())).str()},
                                    {"jit_ms", jit_json(compiled.times())},
                                    {"resources", jit::resources_json(compiled.resources())}};
  if (options.out.empty()) {
    if (options.emit != "hsaco")
      outcome.json["text"] = text;
    outcome.text = std::move(text);
  } else {
    outcome.json["file"] = json_string(options.out);
  }
  return outcome;
}

} // namespace

void add_compile(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<CompileOptions>();
  Subcommand command =
      add_command(app, invocation, "compile", "Compile a library kernel and print what it became",
                  [&invocation, options] { return run(invocation.common, *options); });
  command.footer(compile_footer);
  add_kernel_choice(command, options->choice);
  command.option("--emit", options->emit, "ir, plan, llvm, isa, hsaco or resources")
      .one_of({"ir", "plan", "llvm", "isa", "hsaco", "resources"})
      .shows_default();
  command.option("-o,--output", options->out, "File instead of stdout");
}

} // namespace nereid::tools
