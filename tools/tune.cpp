// nereid tune: the listed configs of mxfp4_linear, compiled, run, checked and ranked, for a list of shapes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "jit/tune/tuner.h"
#include "kernels/linear_config.h"
#include "tools/command.h"
#include "tools/kernel_choice.h"
#include "tools/progress.h"
#include "tools/tune_request.h"
#include "tools/tune_shapes.h"

namespace nereid::tools {
namespace {

constexpr const char *tune_footer =
    R"(Compiles, runs and checks configs of all paths of mxfp4_linear on seeded data: the library's lists and, of a generated
space, those that a quick estimate puts first. Rejects those that are
wrong or do not fit, and ranks the rest: --mode measure by device time on a GPU, model by the time that the
simulator computes, with rotating caches if --caches does not say otherwise. off takes the first config as it is. KERNEL and --path leave out the paths of other kernels;
with --table what the library takes at present is tried in any case, as the table's winner takes its place.
With --table, figures are kept in a table of that directory (docs/tuning.md): a run that was interrupted goes on where
it was, and only what is new is measured.

Examples:
  nereid tune --shape 16,2112,7168
  nereid tune mxfp4_gemm_fused --shape 4,2880,512 --path fused --json
  nereid tune --shapes shapes.csv --table tables --shard 1/4    # on the first of four machines
  nereid tune merge tables part1 part2 part3 part4
  nereid tune import a4w4_blockscale_tuned_gemm.csv --table tables)";

struct TuneCommand {
  std::string kernel = kernels::linear_name;
  ShapeOptions shapes;
  std::string path = "auto";
  std::string mode;
  std::string caches = "rotating";
  std::string table;
  double compile_seconds = 60;
  TunedConfigs configs;
};

using kernels::GemmPath;

/// The paths to try: mxfp4_gemm multiplies in two passes alone, mxfp4_gemm_fused in all others.
Result<std::vector<GemmPath>> chosen_paths(const TuneCommand &options) {
  std::vector<GemmPath> paths = {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass};
  NEREID_TRY(const GemmPath wanted, kernels::path_named(options.path));
  std::erase_if(paths, [&](GemmPath path) {
    const bool two_pass = path == GemmPath::TwoPass;
    return (wanted != GemmPath::Auto && path != wanted) ||
           (options.kernel == kernels::gemm_kernel.name && !two_pass) ||
           (options.kernel == kernels::gemm_fused_kernel.name && two_pass);
  });
  if (paths.empty())
    return user_error(fmt::format("{} is not what --path {} multiplies with", options.kernel, options.path));
  return paths;
}

/// A time that ends: 0 < seconds < infinity.
std::string problem_of_seconds(const std::string &text) {
  double value = 0;
  if (llvm::StringRef(text).getAsDouble(value) || !std::isfinite(value) || value <= 0)
    return fmt::format("{} is no number of seconds above 0", text);
  return "";
}

template <size_t n> size_t index_of(const std::string_view (&names)[n], const std::string &name) {
  return static_cast<size_t>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

std::optional<TuneMode> chosen_mode(const std::string &name) {
  if (name.empty())
    return std::nullopt;
  return static_cast<TuneMode>(index_of(tune_mode_names, name));
}

/// That of --device; where it is auto, the one that the mode needs.
Result<Device> device_for(const CommonOptions &common, std::optional<TuneMode> mode) {
  if (common.device == "auto" && mode == TuneMode::Model)
    return ready_device(Device::simulator());
  if (common.device == "auto" && mode == TuneMode::Measure)
    return ready_device(Device::hip());
  return chosen_device(common);
}

Result<TuneReport> tune_shape(const TuneCommand &options, const Device &device,
                              const kernels::ProblemSize &size, const std::vector<GemmPath> &paths,
                              Progress &progress) {
  // A table says what the library takes: with the best of one path it could be less than without.
  TunedConfigs configs = options.configs;
  configs.dispatched_of_any_path = !options.table.empty();
  NEREID_TRY(const LinearTuning tuning, LinearTuning::make(device, size, paths, configs));
  TuneOptions tune_options = tuning.options();
  tune_options.mode = chosen_mode(options.mode);
  tune_options.caches = *sim::cache_state_named(options.caches);
  tune_options.table = options.table;
  tune_options.compile_seconds = options.compile_seconds;
  const std::string &key = tuning.request().key;
  tune_options.progress = [&](size_t done, size_t of) { progress.show(key, done, of); };
  progress.show(key, 0, 1);
  NEREID_TRY(TuneReport report, tune(tuning.request(), tuning.stream(), tune_options));
  progress.finish(key, report.winner ? report.winning_config() : "no candidate gave a right result");
  return report;
}

llvm::json::Value json_of(const TuneReport &report) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(report.json());
  if (json)
    return std::move(*json);
  llvm::consumeError(json.takeError());
  return nullptr;
}

Outcome run(const CommonOptions &common, const TuneCommand &options) {
  NEREID_TRY(const std::vector<kernels::ProblemSize> shapes, chosen_shapes(options.shapes));
  NEREID_TRY(const std::vector<GemmPath> paths, chosen_paths(options));
  NEREID_TRY(const Device device, device_for(common, chosen_mode(options.mode)));
  Outcome outcome;
  if (shapes.empty())
    outcome.text = fmt::format("shard {} has none of the shapes\n", options.shapes.shard);
  llvm::json::Array tunings;
  size_t without_winner = 0;
  {
    Progress progress;
    for (const kernels::ProblemSize &size : shapes) {
      NEREID_TRY(const TuneReport report, tune_shape(options, device, size, paths, progress));
      outcome.text += report.text();
      tunings.push_back(json_of(report));
      without_winner += report.winner ? 0 : 1;
    }
  }
  outcome.json["tunings"] = std::move(tunings);
  if (without_winner) {
    // The report has each candidate's reason with its owner.
    const Error none = user_error(
        fmt::format("no candidate gave a right result for {} of {} shapes", without_winner, shapes.size()),
        "See why each was rejected; other paths, more --generated configs or --compile-seconds may help");
    outcome.code = ExitCode::Wrong;
    outcome.error = none.text();
    outcome.json["error"] = to_json(none);
  }
  return outcome;
}

} // namespace

void add_tune(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<TuneCommand>();
  Subcommand command =
      add_command(app, invocation, "tune", "Find the best path and config of mxfp4_linear for shapes",
                  [&invocation, options] { return run(invocation.common, *options); });
  command.footer(tune_footer);
  add_device_option(command, invocation);
  command.option("kernel", options->kernel, "mxfp4_linear, mxfp4_gemm_fused or mxfp4_gemm")
      .one_of({"mxfp4_linear", "mxfp4_gemm_fused", "mxfp4_gemm"})
      .shows_default();
  command.option("--shape", options->shapes.shapes, "M,N,K; may be given several times").repeated();
  command.option("--shapes", options->shapes.file, "File with M,N,K on each line");
  command.option("--shard", options->shapes.shard, "i/n: of the shapes every n-th from the i-th on");
  command.option("--mode", options->mode, "off, model or measure; by default measure on a GPU, else model")
      .one_of({"off", "model", "measure"});
  add_path_option(command, options->path);
  command.option("--caches", options->caches, "What they hold when a simulated launch starts")
      .one_of({sim::cache_state_names.begin(), sim::cache_state_names.end()})
      .shows_default();
  command
      .option("--generated", options->configs.generated,
              "Configs of each path that are taken from the generated space, by a quick estimate")
      .at_least(0)
      .shows_default();
  command.flag("!--no-lists", options->configs.listed, "Leave out the configs of the library's lists");
  command.option("--table", options->table, "Directory of tuning tables");
  command.option("--compile-seconds", options->compile_seconds, "Time that the compile of a config may take")
      .checked_by(problem_of_seconds)
      .shows_default();
  add_tune_merge(command, invocation);
  add_tune_import(command, invocation);
}

} // namespace nereid::tools
