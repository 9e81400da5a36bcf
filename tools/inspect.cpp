// nereid inspect: a report of a kernel, a code object or a launch; or of two of them side by side.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>

#include "base/output_file.h"
#include "inspect/inspect.h"
#include "inspect/render/json_value.h"
#include "inspect/render/render.h"
#include "sim/launch/launch_time.h"
#include "tools/command.h"
#include "tools/files.h"
#include "tools/kernel_choice.h"
#include "tools/sized_run.h"

namespace nereid::tools {
namespace {

struct InspectOptions {
  std::vector<std::string> what;
  std::string config;
  std::string shape;
  std::string numbers;
  std::string kernel; ///< of a code object
  std::string caches;
  std::string table;
  std::string key;
  std::string html;
  std::string format = "text";
  bool diff = false;
};

constexpr const char *inspect_footer =
    R"(WHAT is a kernel of the library, perhaps with a config behind a colon; a code object (ELF), which need not be
Nereid's; or a launch file (JSON, as nereid sim run takes it). With --shape a kernel of the library is also
launched on the simulator, with zeros as operands and indices that give every program work; --numbers are what
such a launch has besides: batch, heads and key_heads of attention, experts and top_k of a mixture. A launch
file says itself what is launched.

The report: tile IR, plan, LLVM IR and machine code beside the source lines, registers and occupancy, the hot
loop, and of a launch stalls, coalescing, bank conflicts and traffic. Times are simulated, not measured.

Examples:
  nereid inspect mxfp4_gemm_fused --config block_m=16,block_n=32 --shape 16,2880,512
  nereid inspect mxfp4_gemm_fused --shape 16,2112,7168 --html report.html
  nereid inspect attention --shape 2048,2048,128 --numbers heads=32,key_heads=8 --html report.html
  nereid inspect launch.json --html report.html
  nereid inspect kernel.hsaco --format json
  nereid inspect --diff mxfp4_gemm_fused:block_n=32 mxfp4_gemm_fused:block_n=64 --shape 16,2112,7168)";

using inspect::Report;

Result<Report> library_report(const std::string &name, const std::string &config,
                              const InspectOptions &options) {
  if (!options.kernel.empty())
    return user_error("--kernel names a kernel of a code object, '" + name + "' is a kernel of the library");
  if (options.shape.empty() && !options.numbers.empty())
    return user_error("--numbers are of a launch", "say which with --shape");
  NEREID_TRY(const kernels::ConfiguredKernel configured, configure_choice({name, config, options.shape}));
  NEREID_TRY(const std::shared_ptr<const CompiledKernel> kernel, configured.compile(Device::simulator()));
  std::optional<inspect::RunRequest> run;
  if (!options.shape.empty()) {
    NEREID_TRY(run, sized_run(configured, options.numbers, options.caches));
  }
  NEREID_TRY(Report report, inspect::report_of(*kernel, run ? &*run : nullptr));
  report.origin = "library kernel";
  report.config = config_text(configured.config);
  if (!run)
    report.notes.emplace_back("--shape says which launch to simulate");
  return report;
}

bool is_elf(std::span<const uint8_t> bytes) {
  constexpr std::string_view magic = "\x7f"
                                     "ELF";
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

Result<Report> file_report(const std::string &path, const InspectOptions &options) {
  for (const auto &[name, value] :
       {std::pair("--config", &options.config), {"--shape", &options.shape}, {"--numbers", &options.numbers}})
    if (!value->empty())
      return user_error(fmt::format("{} is of kernels of the library, {} is a file", name, path));
  NEREID_TRY(const std::vector<uint8_t> bytes, read_file(path, "a code object or a launch file"));
  if (is_elf(bytes)) {
    if (!options.caches.empty())
      return user_error("--caches is of launches, " + path + " is a code object",
                        "give a launch file with it");
    return inspect::report_of(std::as_bytes(std::span(bytes)), options.kernel, nullptr, path);
  }
  const auto is_space = [](uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); };
  const auto first = std::find_if_not(bytes.begin(), bytes.end(), is_space);
  if (first == bytes.end() || *first != '{')
    return user_error(path + " is neither a code object (ELF) nor a launch file (JSON)");
  if (!options.kernel.empty())
    return user_error("--kernel is of code objects, a launch file names its kernel itself");
  return inspect::report_of_launch_file(path, options.caches);
}

Result<Report> report_of(const std::string &what, const InspectOptions &options) {
  const std::string name = what.substr(0, what.find(':'));
  const auto known = kernels::kernel_named(name);
  if (known) {
    const bool own = name.size() < what.size();
    if (own && !options.config.empty())
      return user_error("a config stands both behind the colon of '" + what + "' and at --config");
    return library_report(name, own ? what.substr(name.size() + 1) : options.config, options);
  }
  if (llvm::sys::fs::exists(what))
    return file_report(what, options);
  return user_error(fmt::format("there is no kernel and no file '{}'", what), known.error().remedy);
}

/// The page, JSON and text of a report or a comparison.
template <class Shown> Outcome rendered(const Shown &shown, const InspectOptions &options, bool json) {
  Outcome outcome;
  if (!options.html.empty()) {
    const std::string page = inspect::to_html(shown);
    NEREID_CHECK(write_file(options.html, page));
    outcome.text = fmt::format("{}: {} bytes\n", options.html, page.size());
  }
  if (json) {
    outcome.json = inspect::json_value(shown);
    if (!options.html.empty())
      outcome.json["html"] = json_string(options.html);
  } else if (options.html.empty()) {
    outcome.text = inspect::to_text(shown);
  }
  return outcome;
}

Outcome run(const CommonOptions &common, const InspectOptions &options) {
  if (options.what.size() != (options.diff ? 2 : 1))
    return user_error(options.diff ? "--diff takes two kernels or files" : "give one kernel or file",
                      options.diff ? "" : "--diff compares two");
  if (options.table.empty() && !options.key.empty())
    return user_error("--key is of a tuning table", "name it with --table");
  if (!options.html.empty()) {
    std::vector<NamedFile> inputs;
    for (const std::string &what : options.what)
      if (llvm::sys::fs::exists(what))
        inputs.push_back({"WHAT", what});
    const NamedFile outputs[] = {{"--html", options.html}};
    NEREID_CHECK(check_outputs(outputs, inputs));
  }
  NEREID_TRY(Report report, report_of(options.what.front(), options));
  if (!options.table.empty())
    NEREID_CHECK(inspect::add_tuning(report, options.table, options.key));
  if (!options.diff)
    return rendered(report, options, common.json);
  NEREID_TRY(Report other, report_of(options.what.back(), options));
  return rendered(inspect::compare(std::move(report), std::move(other)), options, common.json);
}

} // namespace

void add_inspect(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<InspectOptions>();
  Subcommand command = add_command(app, invocation, "inspect", "Show what a kernel became and what it does",
                                   [&invocation, options] { return run(invocation.common, *options); });
  command.footer(inspect_footer);
  command.option("WHAT", options->what, "A kernel of the library, a code object or a launch file")
      .required()
      .takes(1, 2);
  command.option("--config", options->config, "key=value,... of a kernel of the library");
  command.option("--shape", options->shape, "M,N,K of a kernel of the library");
  command.option("--numbers", options->numbers,
                 "name=integer,... of a launch besides its shape, for instance heads=32");
  command.option("--kernel", options->kernel, "Which kernel of a code object; default: the only one");
  const std::vector<std::string> caches(sim::cache_state_names.begin(), sim::cache_state_names.end());
  command.option("--caches", options->caches, "What the launch finds in the caches: cold, warm, rotating")
      .one_of(caches);
  command.option("--table", options->table, "A tuning table, or a directory of them, to show with it");
  command.option("--key", options->key, "Of the table this key alone, for instance M=16,N=2112,K=7168");
  command.flag("--diff", options->diff, "Compare two");
  command.option("--html", options->html, "Write a page with all of it to this file");
  command.option("--format", options->format, "text or json")
      .one_of({"text", "json"})
      .each([&invocation](const std::string &format) { invocation.common.json |= format == "json"; })
      .shows_default();
}

} // namespace nereid::tools
