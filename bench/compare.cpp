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
  sim::LaunchTime longest;      ///< of the launches
};

Result<Row> time_config(const Device &device, const OperandBuffers &operands, const ProblemSize &size,
                        GemmPath path, const Partial<GemmConfig> &config) {
  Mxfp4Linear linear(device);
  NEREID_TRY(const LinearReport report, linear(device.stream(), operands.operands(), size, path, config));
  Row row{report.path, config_text(report.gemm), 0, {}, {}};
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

/// What no kernel of one launch can be faster than: an empty launch, one round trip to HBM, and each byte
/// once at the rate of HBM.
double floor_us(const ProblemSize &size) {
  constexpr double launch = 2.0, round_trip = 0.35, bytes_per_us = 6.44e6; // docs/timing.md
  const double bytes = static_cast<double>(size.m * size.k * 2 + host::shuffled_b_bytes(size.n, size.k) +
                                           host::shuffled_scale_bytes(size.n, size.k) + size.m * size.n * 2);
  return launch + round_trip + bytes / bytes_per_us;
}

constexpr GemmPath paths[] = {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass};

/// A path and a config of it, "workspace:block_n=64,split_k=4"; without a config its whole tuning list.
struct Choice {
  GemmPath path;
  std::vector<Partial<GemmConfig>> configs;

  static Result<Choice> parse(const std::string &text) {
    const size_t colon = text.find(':');
    NEREID_TRY(const GemmPath path, path_named(text.substr(0, colon)));
    if (colon == std::string::npos)
      return whole_list(path);
    NEREID_TRY(const Partial<GemmConfig> config,
               parse_keys<GemmConfig>("mxfp4_linear", text.substr(colon + 1)));
    return Choice{path, {config}};
  }
  static Choice whole_list(GemmPath path) {
    Choice choice{path, tuning_list(path)};
    choice.configs.insert(choice.configs.begin(), Partial<GemmConfig>{});
    return choice;
  }
};

void compare(const Device &device, const ProblemSize &size, const std::vector<Choice> &choices,
             unsigned shown, bool details) {
  const Result<OperandBuffers> operands = OperandBuffers::allocate(device, size);
  if (!operands) {
    fmt::print("{}\n", operands.error().text());
    return;
  }
  std::vector<Row> rows;
  double staged = 0;
  for (const auto &[path, configs] : choices) {
    for (const Partial<GemmConfig> &config : configs) {
      const Result<Row> row = time_config(device, *operands, size, path, config);
      if (!row) {
        fmt::print("  {} {}: {}\n", name_of(path), config_text(config), row.error().text());
        continue;
      }
      if (path == GemmPath::TwoPass)
        staged = staged > 0 ? std::min(staged, row->us) : row->us;
      rows.push_back(*row);
    }
  }
  if (rows.empty())
    return;
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.us < b.us; });
  const double floor = floor_us(size);
  fmt::print("M={} N={} K={}: floor {:.2f} us, best {:.2f} us = {:.2f} floors = {:.2f} of the staged path's "
             "{:.2f} us\n",
             size.m, size.n, size.k, floor, rows.front().us, rows.front().us / floor,
             rows.front().us / staged, staged);
  for (size_t i = 0; i < rows.size() && i < shown; ++i) {
    fmt::print("  {:8.2f} us = {:<12} {:<9}  {:<13}  {}\n", rows[i].us,
               fmt::format("{:.2f}", fmt::join(rows[i].launches, " + ")), name_of(rows[i].path),
               rows[i].longest.limit, rows[i].config);
    if (!details)
      continue;
    fmt::print("              {:.0f} cycles a workgroup:", rows[i].longest.cycles_per_workgroup);
    for (const auto &[reason, share] : rows[i].longest.stalls)
      fmt::print(" {} {:.0f} %", reason, 100 * share);
    fmt::print("\n");
  }
}

/// A code object of others, as a launch file describes its launch.
int compare_file(const std::string &path, sim::CacheState caches) {
  Result<sim::LaunchFile> file = sim::read_launch_file(path);
  if (!file) {
    fmt::print(stderr, "{}\n", file.error().text());
    return 2;
  }
  file->timing = sim::Timing::Only;
  file->caches = caches;
  const sim::LaunchAnswer answer = sim::run_launch_file(*file, uint64_t{1} << 32);
  if (answer.error || answer.report.fault) {
    fmt::print(stderr, "{}: {}\n", path,
               answer.error ? answer.error->text() : answer.report.fault->error().text());
    return 1;
  }
  fmt::print("{}: {:.2f} us, limit {}\n", path, answer.report.time->us, answer.report.time->limit);
  return 0;
}

} // namespace

int main(int count, char **words) {
  CLI::App app("Simulated times of mxfp4_linear: each path and config of its tuning lists, and launch files");
  std::vector<std::string> files, shapes, choice_texts;
  std::string caches = "rotating";
  unsigned shown = 12;
  bool details = false;
  app.add_option("--shape", shapes, "M,N,K; default: the six benchmark shapes");
  app.add_option("--config", choice_texts, "PATH or PATH:key=value,...; default: the lists of all paths");
  app.add_option("--launch-file", files, "A launch file of any code object (docs/simulator.md)");
  app.add_option("--caches", caches, "What a launch finds in the caches")
      ->check(CLI::IsMember(sim::cache_state_names))
      ->capture_default_str();
  app.add_option("--rows", shown, "Configs shown of each shape")->capture_default_str();
  app.add_flag("--details", details,
               "Cycles of a workgroup of the longest launch, and what its waves wait for");
  CLI11_PARSE(app, count, words);
  const sim::CacheState state = *sim::cache_state_named(caches);
  const Device device = Device::simulator({.timing = sim::Timing::Only, .caches = state});
  std::vector<Choice> choices;
  for (const std::string &text : choice_texts) {
    Result<Choice> choice = Choice::parse(text);
    if (!choice) {
      fmt::print(stderr, "{}\n", choice.error().text());
      return 2;
    }
    choices.push_back(std::move(*choice));
  }
  if (choices.empty())
    for (const GemmPath path : paths)
      choices.push_back(Choice::whole_list(path));
  std::vector<ProblemSize> sizes;
  for (const std::string &shape : shapes) {
    const Result<ProblemSize> size = tools::parse_size(shape);
    if (!size) {
      fmt::print(stderr, "{}\n", size.error().text());
      return 2;
    }
    sizes.push_back(*size);
  }
  if (shapes.empty())
    for (const tools::DemoShape &shape : tools::demo_shapes)
      if (shape.kind == "benchmark")
        sizes.push_back(shape.size);
  for (const ProblemSize &size : sizes)
    compare(device, size, choices, shown, details);
  int code = 0;
  for (const std::string &file : files)
    code = std::max(code, compare_file(file, state));
  return code;
}
