// Which plan mxfp4_linear takes: tuning tables, else the estimate.
#include "kernels/plan_choice.h"

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "base/log.h"
#include "jit/tune/tuning_table.h"
#include "kernels/linear_config.h"
#include "kernels/plan_space.h"
#include "kernels/quick_estimate.h"
#include "kernels/registry.h"
#include "kernels/shipped_table.h"

namespace nereid::kernels {
namespace {

constexpr int64_t largest_bucket = 16384;

Result<TuningTable> load_tables(const std::string &device) {
  TuningTable tables;
  if (const char *directory = std::getenv(tables_variable); directory && *directory) {
    if (!std::filesystem::is_directory(directory))
      return environment_error(fmt::format("{} names {}, which is no directory", tables_variable, directory),
                               "Make it, or unset the variable");
    NEREID_TRY(tables, TuningTable::load(directory, device));
  }
  NEREID_TRY(const KernelTunings shipped, KernelTunings::parse(shipped_table, "the table of the library"));
  tables.add(shipped);
  return tables;
}

/// The tables for a device, read once.
const Result<TuningTable> &tables_for(std::string_view device) {
  static std::mutex mutex;
  static std::map<std::string, Result<TuningTable>, std::less<>> tables;
  const std::lock_guard lock(mutex);
  if (const auto found = tables.find(device); found != tables.end())
    return found->second;
  const std::string name(device);
  return tables.emplace(name, load_tables(name)).first->second;
}

/// One line for each entry of a table that is refused.
void warn(const std::string &key, const TuningTable::Choice &choice, const std::string &why) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(key + ": " + choice.config).second)
    log(LogLevel::Warning,
        fmt::format("the tuning table's config '{}' for {} is left out: {}", choice.config, key, why));
}

/// What a table's entry for a shape is for another M.
struct TunedPlan {
  GemmPlan plan;
  std::optional<double> us; ///< at the entry's own shape, if its figure is that of this library's kernels
};

/// The plan of the entry for `entry`, applied to `size`; nothing where there is none or it is refused.
std::optional<TunedPlan> tuned(const TuningTable &tables, const ProblemSize &entry, const ProblemSize &size) {
  const std::string key = linear_key(entry);
  const TuningTable::Choice *choice = tables.lookup(linear_name, key);
  if (!choice)
    return std::nullopt;
  const Result<Partial<LinearConfig>> config = parse_keys<LinearConfig>(linear_name, choice->config);
  if (!config) {
    warn(key, *choice, config.error().message);
    return std::nullopt;
  }
  // Auto is the question, not an answer.
  if (!config->path || *config->path == GemmPath::Auto) {
    warn(key, *choice, "it names no path");
    return std::nullopt;
  }
  const Result<GemmPlan> plan = plan_gemm(*config->path, config->gemm, size);
  const bool is_time = choice->unit == "us" && choice->ranking != imported_ranking;
  if (plan)
    return TunedPlan{*plan, is_time ? std::optional(choice->figure) : std::nullopt};
  if (entry == size)
    warn(key, *choice, plan.error().message);
  return std::nullopt;
}

/// Plans of the entries for the powers of two next to M.
std::vector<std::pair<ProblemSize, TunedPlan>> neighbours(const TuningTable &tables,
                                                          const ProblemSize &size) {
  std::vector<std::pair<ProblemSize, TunedPlan>> found;
  const auto look = [&](int64_t bucket) {
    const ProblemSize entry{bucket, size.n, size.k};
    if (std::optional<TunedPlan> plan = tuned(tables, entry, size))
      found.emplace_back(entry, *plan);
    return tables.lookup(linear_name, linear_key(entry)) != nullptr;
  };
  const auto above = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size.m)));
  for (int64_t bucket = above; bucket <= largest_bucket && bucket < 4 * size.m; bucket *= 2)
    if (look(bucket))
      break;
  for (int64_t bucket = above / 2; bucket > 0 && 4 * bucket > size.m; bucket /= 2)
    if (look(bucket))
      break;
  return found;
}

/// The plan with the least estimate over the tables' entries for other M and all paths.
Result<GemmPlan> estimated(const TuningTable &tables, const ProblemSize &size) {
  // Says why where there is none.
  Result<GemmPlan> best = plan_gemm(GemmPath::TwoPass, {}, size);
  if (best)
    best = nereid_error("no path has a config for " + size.text());
  double least = std::numeric_limits<double>::infinity();
  const auto take = [&](const GemmPlan &plan, double us) {
    if (us < least) {
      least = us;
      best = plan;
    }
  };
  for (const auto &[entry, tuned] : neighbours(tables, size)) {
    const double scale = tuned.us ? *tuned.us / quick_estimate(tuned.plan, entry) : 1;
    take(tuned.plan, quick_estimate(tuned.plan, size) * scale);
  }
  for (const GemmPath path : {GemmPath::Fused, GemmPath::Workspace, GemmPath::TwoPass})
    for (const EstimatedPlan &each : best_of_space(path, size, 1))
      take(each.plan, each.us);
  return best;
}

} // namespace

Result<GemmPlan> choose_plan(const ProblemSize &size, std::string_view device) {
  const FloatEnvironment environment;
  const Result<TuningTable> &tables = tables_for(device);
  if (!tables)
    return tables.error();
  // A table of another version may name a config that is refused today.
  if (const std::optional<TunedPlan> exact = tuned(*tables, size, size))
    return exact->plan;
  return estimated(*tables, size);
}

} // namespace nereid::kernels
