// The nereid command: its subcommands, its output, its exit codes.
#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/raw_ostream.h>

#include "jit/json_text.h"
#include "tools/command.h"
#include "tools/standard_streams.h"
#include "tools/version.h"

using namespace nereid;
using namespace nereid::tools;

namespace {

constexpr const char *description =
    "Nereid: tiled GPU kernels in C++ for AMD gfx950, on a GPU or on its simulator.";
constexpr const char *command_footer = R"(Examples:
  nereid demo
  nereid sample --m 16 --n 2112 --k 7168 --out-dir data
  nereid quant --m 16 --k 7168 --in data/a.bin --out-q q.bin --out-scales s.bin --shuffled
  nereid gemm --m 16 --n 2112 --k 7168 --a data/a.bin --b data/b.bin --b-scales data/b_scales.bin --out c.bin
  nereid compile mxfp4_gemm_fused --config block_m=16,block_n=64,split_k=8 --shape 16,2112,7168 --emit isa
  nereid aot mxfp4_gemm_fused --shape 16,2112,7168 -o kernels
  nereid inspect mxfp4_gemm_fused --shape 16,2112,7168 --html report.html
  nereid tune --shape 16,2112,7168 --table tables
  nereid cache stat
  nereid doctor
  nereid sim run launch.json

Exit codes: 0 right, 1 wrong result or fault, 2 usage or bad input, 3 environment.
Results go to stdout, everything else to stderr. `nereid SUBCOMMAND --help` has the options.)";

/// Whether the command line asks for JSON, even where it cannot be parsed.
bool asks_for_json(int argc, char **argv) {
  return std::any_of(argv + std::min(argc, 1), argv + argc, [](const char *argument) {
    return llvm::StringRef(argument) == "--json" || llvm::StringRef(argument) == "--json=true";
  });
}

/// The arguments that no option and no subcommand took, without --json: "--device x". CLI11 gives them in
/// reverse, and only where nothing else is wrong.
std::string unexpected_arguments(const CLI::App &app) {
  std::vector<std::string> arguments = app.remaining(/*recurse=*/true);
  std::erase_if(arguments, [](llvm::StringRef argument) { return argument.starts_with("--json"); });
  return llvm::join(arguments, " ");
}

/// What is wrong with a command line; CLI11 does not name a subcommand that it does not know.
Error usage_error(const CLI::App &app, int argc, char **argv, const CLI::ParseError &error) {
  const CLI::App *command = &app;
  std::string name; // of the subcommand as far as there is one: "sim run "
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const auto has_name = [&](const CLI::App *candidate) { return candidate->check_name(argv[i]); };
    const std::vector<const CLI::App *> named = command->get_subcommands(has_name);
    if (named.empty()) {
      if (command->get_require_subcommand_min() > 0)
        return user_error("there is no subcommand '" + name + argv[i] + "'", "see nereid " + name + "--help");
      break;
    }
    command = named.front();
    name += std::string(argv[i]) + " ";
  }
  const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool names_none = kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError;
  const std::string unexpected = names_none ? unexpected_arguments(app) : "";
  return user_error(unexpected.empty() ? error.what() : "unexpected on the command line: " + unexpected,
                    "see nereid " + name + "--help");
}

/// Writes to stdout; a reader that went away or a full disk is the environment's fault.
int write_result(const std::string &text, ExitCode code) {
  llvm::outs() << text;
  llvm::outs().flush();
  if (const std::error_code failure = llvm::outs().error()) {
    llvm::outs().clear_error();
    llvm::errs() << "nereid: environment error: cannot write to stdout: " << failure.message() << "\n";
    code = ExitCode::Environment;
  }
  // Nobody is left to be told that stderr is closed.
  llvm::errs().clear_error();
  return static_cast<int>(code);
}

int finish(const Outcome &outcome, bool json) {
  if (!outcome.error.empty())
    llvm::errs() << "nereid: " << outcome.error << "\n";
  if (!json)
    return write_result(outcome.text, outcome.code);
  const llvm::json::Value object(llvm::json::Object(outcome.json));
  return write_result(jit::json_text(object), outcome.code);
}

/// What --help and --version print, with --json as {key: text}.
int finish_text(const CLI::App &app, const CLI::Success &success, const char *key, bool json) {
  std::ostringstream text;
  app.exit(success, text, text);
  Outcome outcome;
  outcome.text = text.str();
  outcome.json[key] = llvm::StringRef(text.str()).trim().str();
  return finish(outcome, json);
}

} // namespace

int main(int argc, char **argv) {
  reserve_standard_streams();
  CLI::App app(description, "nereid");
  app.footer(command_footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("nereid ") + version);
  Invocation invocation;
  const Subcommand command(app);
  add_demo(command, invocation);
  add_sample(command, invocation);
  add_quant(command, invocation);
  add_gemm(command, invocation);
  add_compile(command, invocation);
  add_aot(command, invocation);
  add_inspect(command, invocation);
  add_layout(command, invocation);
  add_tune(command, invocation);
  add_cache(command, invocation);
  add_doctor(command, invocation);
  add_sim(command, invocation);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion &success) {
    if (const std::string unexpected = unexpected_arguments(app); !unexpected.empty())
      return finish(Outcome(user_error("unexpected after --version: " + unexpected, "see nereid --help")),
                    asks_for_json(argc, argv));
    return finish_text(app, success, "version", asks_for_json(argc, argv));
  } catch (const CLI::Success &success) {
    return finish_text(app, success, "help", asks_for_json(argc, argv));
  } catch (const CLI::ParseError &error) {
    Outcome outcome(usage_error(app, argc, argv, error));
    // Which prints its JSON in any case.
    const bool runs_sim =
        argc > 2 && std::string_view(argv[1]) == "sim" && std::string_view(argv[2]) == "run";
    if (runs_sim)
      outcome.json["status"] = "error";
    return finish(outcome, runs_sim || asks_for_json(argc, argv));
  }
  try {
    return finish(invocation.run(), invocation.common.json);
  } catch (const std::bad_alloc &) {
    const Error error = environment_error("the host has not enough memory", "use a smaller shape");
    return finish(Outcome(error), invocation.common.json);
  } catch (const std::exception &failure) {
    return finish(Outcome(nereid_error(failure.what(), "please report this")), invocation.common.json);
  }
}
