// Simulated times of mxfp4_linear's paths and configs, beside those of launch files, at the benchmark shapes.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/operand_buffers.h"
#include "kernels/plan_choice.h"
#include "kernels/plan_space.h"
#include "kernels/quick_estimate.h"
#include "kernels/registry.h"
#include "sim/launch_file.h"
#include "tools/demo_shapes.h"
#include "tools/size_options.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

/// What a path takes with one config.
struct Row {
  GemmPath path;
  std::string config;
  double us = 0;
  std::vector<double> launches; ///< their times
  double estimate = 0;          ///< what quick_estimate says
  sim::LaunchTime longest;      ///< of the launches
  bool dispatched = false;      ///< what the library takes when it is left the choice
};

Result<Row> time_config(const Device &device, const OperandBuffers &operands, const ProblemSize &size,
                        GemmPath path, const Partial<GemmConfig> &config) {
  Mxfp4Linear linear(device);
  NEREID_TRY(const LinearReport report, linear(device.stream(), operands.operands(), size, path, config));
  Row row{.path = report.path, .config = config_text(report.gemm), .launches = {}, .longest = {}};
  double longest = 0;
  for (const LaunchRecord &record : report.launches) {
    if (!record.info.time)
      continue; // a memset
    row.us += record.info.time->us;
    row.launches.push_back(record.info.time->us);
    if (record.info.time->us > longest) {
      longest = record.info.time->us;
      row.longest = *record.info.time;
    }
  }
  return row;
}

/// The floor: what no kernel of one launch can be faster than, an empty launch, one round trip to HBM, and
/// each byte once at the rate of HBM.
double floor_us(const ProblemSize &size) {
  constexpr double launch = 2.0, round_trip = 0.35, bytes_per_us = 6.44e6; // docs/timing.md
  const double bytes = static_cast<double>(size.m * size.k * 2 + host::shuffled_b_bytes(size.n, size.k) +
                                           host::shuffled_scale_bytes(size.n, size.k) + size.m * size.n * 2);
  return launch + round_trip + bytes / bytes_per_us;
}

constexpr GemmPath paths[] = {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass};

/// A path and perhaps a config of it, "workspace:block_n=64,split_k=4"; without one its default, its tuning
/// list and the best of its generated space.
struct Choice {
  GemmPath path;
  std::optional<Partial<GemmConfig>> config;

  static Result<Choice> parse(const std::string &text) {
    const size_t colon = text.find(':');
    NEREID_TRY(const GemmPath path, path_named(text.substr(0, colon)));
    if (colon == std::string::npos)
      return Choice{path, std::nullopt};
    NEREID_TRY(const Partial<GemmConfig> config,
               parse_keys<GemmConfig>("mxfp4_linear", text.substr(colon + 1)));
    return Choice{path, config};
  }
};

/// Configs of each path that are taken from its generated space, by the quick estimate.
constexpr size_t generated = 8;

/// The distinct plans that choices mean for a shape; the dispatched one is the first where there are no
/// choices. Error (User): a config that is refused.
Result<std::vector<GemmPlan>> plans_of(const std::vector<Choice> &choices, const ProblemSize &size) {
  std::vector<GemmPlan> plans;
  const auto add = [&](const GemmPlan &plan) {
    for (const GemmPlan &known : plans)
      if (known.path == plan.path && config_text(known.gemm) == config_text(plan.gemm))
        return;
    plans.push_back(plan);
  };
  const auto add_all_of = [&](GemmPath path) {
    std::vector<Partial<GemmConfig>> configs = tuning_list(path);
    configs.insert(configs.begin(), Partial<GemmConfig>{});
    for (const Partial<GemmConfig> &config : configs)
      if (const Result<GemmPlan> plan = plan_gemm(path, config, size))
        add(*plan); // lists are for all shapes: what does not fit this one is left out
    for (const EstimatedPlan &each : best_of_space(path, size, generated))
      add(each.plan);
  };
  NEREID_CHECK(check_shape(size));
  if (choices.empty()) {
    NEREID_TRY(const GemmPlan dispatched, choose_plan(size, simulated_device));
    add(dispatched);
    for (const GemmPath path : paths)
      add_all_of(path);
  }
  for (const Choice &choice : choices) {
    if (!choice.config && choice.path != GemmPath::Auto) {
      add_all_of(choice.path);
      continue;
    }
    NEREID_TRY(const GemmPlan plan,
               plan_gemm(choice.path, choice.config.value_or(Partial<GemmConfig>{}), size));
    add(plan);
  }
  return plans;
}

void print_details(const sim::LaunchTime &time) {
  fmt::print("              {:.0f} cycles a workgroup:", time.cycles_per_workgroup);
  for (const auto &[reason, share] : time.stalls)
    fmt::print(" {} {:.0f} %", reason, 100 * share);
  fmt::print("\n");
}

void compare(const Device &device, const ProblemSize &size, const std::vector<GemmPlan> &plans,
             bool dispatched, unsigned shown, bool details) {
  const Result<OperandBuffers> operands = OperandBuffers::allocate(device, size);
  if (!operands) {
    fmt::print("{}\n", operands.error().text());
    return;
  }
  std::vector<Row> rows;
  double staged = 0;
  for (const GemmPlan &plan : plans) {
    const Result<Partial<GemmConfig>> config = parse_keys<GemmConfig>("mxfp4_linear", config_text(plan.gemm));
    const Result<Row> row =
        config ? time_config(device, *operands, size, plan.path, *config) : Result<Row>(config.error());
    if (!row) {
      fmt::print("  {} {}: {}\n", name_of(plan.path), config_text(plan.gemm), row.error().text());
      continue;
    }
    if (plan.path == GemmPath::TwoPass)
      staged = staged > 0 ? std::min(staged, row->us) : row->us;
    rows.push_back(*row);
    rows.back().dispatched = dispatched && &plan == &plans.front();
    rows.back().estimate = quick_estimate(plan, size);
  }
  if (rows.empty())
    return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.us < b.us; });
  const double floor = floor_us(size);
  fmt::print("M={} N={} K={}: floor {:.2f} us, best {:.2f} us = {:.2f} floors", size.m, size.n, size.k, floor,
             rows.front().us, rows.front().us / floor);
  if (staged > 0)
    fmt::print(" = {:.2f} of the staged path's {:.2f} us", rows.front().us / staged, staged);
  fmt::print("\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i >= shown && !rows[i].dispatched)
      continue;
    fmt::print("{} {:8.2f} us = {:<12} (estimated {:.2f})  {:<9}  {:<13}  {}\n",
               rows[i].dispatched ? ">" : " ", rows[i].us,
               fmt::format("{:.2f}", fmt::join(rows[i].launches, " + ")), rows[i].estimate,
               name_of(rows[i].path), rows[i].longest.limit, rows[i].config);
    if (!details)
      continue;
    print_details(rows[i].longest);
  }
}

/// A code object of others, as a launch file describes its launch; with its caches where none are given.
int compare_file(const std::string &path, std::optional<sim::CacheState> caches, bool details) {
  Result<sim::LaunchFile> file = sim::read_launch_file(path);
  if (!file) {
    fmt::print(stderr, "{}\n", file.error().text());
    return 2;
  }
  file->timing = sim::Timing::Only;
  file->outputs.clear();
  file->caches = caches.value_or(file->caches);
  const sim::LaunchAnswer answer = sim::run_launch_file(*file, uint64_t{1} << 32);
  if (answer.error || answer.report.fault) {
    fmt::print(stderr, "{}: {}\n", path,
               answer.error ? answer.error->text() : answer.report.fault->error().text());
    return 1;
  }
  fmt::print("{}: {:.2f} us, {} caches, limit {}\n", path, answer.report.time->us,
             sim::cache_state_names.at(static_cast<size_t>(file->caches)), answer.report.time->limit);
  if (details)
    print_details(*answer.report.time);
  return 0;
}

/// One line for what the user got wrong; the exit code.
int refuse(const std::string &why) {
  fmt::print(stderr, "{}\n", why);
  return 2;
}

} // namespace

int main(int count, char **words) {
  CLI::App app(
      "Simulated times of mxfp4_linear: the dispatched plan (marked >), the configs of its tuning lists "
      "and of its generated space that a quick estimate puts first; or of launch files");
  std::vector<std::string> files, shapes, choice_texts;
  std::string caches = "rotating";
  unsigned shown = 12;
  bool details = false;
  app.add_option("--shape", shapes, "M,N,K; default: the six benchmark shapes");
  app.add_option("--config", choice_texts, "PATH or PATH:key=value,...; default: all paths");
  app.add_option("--launch-file", files,
                 "A launch file of any code object (docs/simulator.md), alone or beside --shape");
  CLI::Option *caches_option =
      app.add_option("--caches", caches, "What a launch finds in the caches; for a launch file: what it says")
          ->check(CLI::IsMember(sim::cache_state_names))
          ->capture_default_str();
  app.add_option("--rows", shown, "Configs shown of each shape")->capture_default_str();
  app.add_flag("--details", details,
               "Cycles of a workgroup of the longest launch, and what its waves wait for");
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &wrong) {
    return refuse(wrong.what());
  }
  const sim::CacheState state = *sim::cache_state_named(caches);
  const Device device = Device::simulator({.timing = sim::Timing::Only, .caches = state});
  std::vector<Choice> choices;
  for (const std::string &text : choice_texts) {
    Result<Choice> choice = Choice::parse(text);
    if (!choice)
      return refuse(choice.error().text());
    choices.push_back(*choice);
  }
  std::vector<ProblemSize> sizes;
  for (const std::string &shape : shapes) {
    const Result<ProblemSize> size = tools::parse_size(shape);
    if (!size)
      return refuse(size.error().text());
    sizes.push_back(*size);
  }
  if (shapes.empty() && files.empty())
    for (const tools::DemoShape &shape : tools::demo_shapes)
      if (shape.kind == "benchmark")
        sizes.push_back(shape.size);
  std::vector<std::vector<GemmPlan>> plans;
  for (const ProblemSize &size : sizes) {
    Result<std::vector<GemmPlan>> of_size = plans_of(choices, size);
    if (!of_size)
      return refuse(of_size.error().text());
    plans.push_back(std::move(*of_size));
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    compare(device, sizes[i], plans[i], choices.empty(), shown, details);
  int code = 0;
  for (const std::string &file : files)
    code = std::max(
        code, compare_file(file, caches_option->count() ? std::optional(state) : std::nullopt, details));
  return code;
}
