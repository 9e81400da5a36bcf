// nereid aot: library kernels as files for programs without Nereid.
#include <fmt/format.h>

#include "jit/aot/export.h"
#include "tools/command.h"
#include "tools/kernel_choice.h"
#include "tools/launch_json.h"
#include "tools/size_options.h"

namespace nereid::tools {
namespace {

struct AotOptions {
  std::vector<std::string> kernels;
  std::string config;
  std::string shape;
  std::string directory;
  std::string name;
};

constexpr const char *aot_footer =
    R"(For each kernel NAME it writes NAME.hsaco (the code object), NAME.h and NAME.c (a launcher in C11 that needs
HIP's module API and nothing else) and NAME.json (arguments, grid, resources, what a launch has to keep), and the
headers that launchers share. The same command gives the same bytes.
--shape sets what the code relies on: alignment, divisibility, tails, and with const_k=1 the constant K. Launchers
refuse a launch that does not keep it. Without --shape the code takes any shape, more slowly.

Example:
  nereid aot mxfp4_quant mxfp4_gemm --shape 64,7168,2048 -o kernels
  nereid aot mxfp4_gemm --shape 64,7168,2048 --name gemm_64 -o kernels)";

Result<aot::Export> exported(const AotOptions &options, const std::string &kernel) {
  NEREID_TRY(const kernels::NamedKernel *named, kernels::kernel_named(kernel));
  KernelChoice choice{kernel, options.config, options.shape};
  // The shape is that of the product; the kernels that have no N leave it out.
  if (named->rule.n.is_absent() && !options.shape.empty()) {
    NEREID_TRY(const kernels::ProblemSize size, parse_size(options.shape));
    choice.shape = fmt::format("{},0,{}", size.m, size.k);
  }
  NEREID_TRY(const kernels::ConfiguredKernel configured, configure_choice(choice));
  return configured.export_for_aot(Device::simulator());
}

Outcome run(const AotOptions &options) {
  if (!options.name.empty() && options.kernels.size() > 1)
    return user_error("--name is for one kernel", "Export the kernels one at a time");
  std::vector<aot::Export> exports;
  for (const std::string &kernel : options.kernels) {
    NEREID_TRY(aot::Export made, exported(options, kernel));
    made.name = options.name;
    exports.push_back(std::move(made));
  }
  NEREID_TRY(const std::vector<std::string> files, aot::write(options.directory, exports));

  Outcome outcome;
  llvm::json::Array kernels, paths;
  for (const aot::Export &made : exports) {
    const CompiledKernel &compiled = *made.kernel;
    kernels.push_back(llvm::json::Object{{"kernel", compiled.name()},
                                         {"config", compiled.config()},
                                         {"key", compiled.key()},
                                         {"resources", jit::resources_json(compiled.resources())}});
  }
  for (const std::string &file : files) {
    paths.push_back(json_string(file));
    outcome.text += file + "\n";
  }
  outcome.json = llvm::json::Object{{"kernels", std::move(kernels)}, {"files", std::move(paths)}};
  return outcome;
}

} // namespace

void add_aot(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<AotOptions>();
  Subcommand command = add_command(app, invocation, "aot", "Write library kernels as files for C programs",
                                   [options] { return run(*options); });
  command.footer(aot_footer);
  command.option("kernels", options->kernels, "Kernels of the library, by name").required();
  command.option("--config", options->config, "key=value,... of each kernel");
  command.option("--shape", options->shape, "M,N,K");
  command.option("--name", options->name,
                 "Of the files and C functions, where one kernel is exported; its own when not given");
  command.option("-o,--output", options->directory, "Directory, made when it is missing").required();
}

} // namespace nereid::tools
