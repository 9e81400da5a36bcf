// Which plan mxfp4_linear takes: tuning tables, else the estimate.
#include "kernels/plan_choice.h"

#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "base/float_environment.h"
#include "jit/tune/tuning_table.h"
#include "kernels/linear_config.h"
#include "kernels/plan_space.h"
#include "kernels/registry.h"
#include "kernels/shipped_table.h"

namespace nereid::kernels {
namespace {

constexpr int64_t largest_bucket = 16384;

Result<TuningTable> load_tables(const std::string &device) {
  TuningTable tables;
  if (const char *directory = std::getenv(tables_variable); directory && *directory) {
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

const TuningTable::Choice *tuned(const TuningTable &tables, const ProblemSize &size) {
  if (const auto *exact = tables.lookup(linear_name, linear_key(size)))
    return exact;
  auto bucket = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size.m)));
  for (; bucket <= largest_bucket && bucket < 4 * size.m; bucket *= 2)
    if (const auto *choice = tables.lookup(linear_name, linear_key({bucket, size.n, size.k})))
      return choice;
  return nullptr;
}

/// The plan with the least estimate over all paths.
Result<GemmPlan> estimated(const ProblemSize &size) {
  Result<GemmPlan> best = user_error("no plan fits " + size.text());
  double least = std::numeric_limits<double>::infinity();
  for (const GemmPath path : {GemmPath::Fused, GemmPath::Workspace, GemmPath::TwoPass})
    for (const EstimatedPlan &each : best_of_space(path, size, 1))
      if (each.us < least) {
        least = each.us;
        best = each.plan;
      }
  return best;
}

} // namespace

Result<GemmPlan> choose_plan(const ProblemSize &size, std::string_view device) {
  const FloatEnvironment environment;
  const Result<TuningTable> &tables = tables_for(device);
  if (!tables)
    return tables.error();
  if (const TuningTable::Choice *choice = tuned(*tables, size)) {
    const Result<Partial<LinearConfig>> config = parse_keys<LinearConfig>(linear_name, choice->config);
    // A table of another version may name a config that is refused today.
    if (config && config->path)
      if (Result<GemmPlan> plan = plan_gemm(*config->path, config->gemm, size))
        return plan;
  }
  return estimated(size);
}

} // namespace nereid::kernels
