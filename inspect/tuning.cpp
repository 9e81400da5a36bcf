// The tuner's landscape: what its tables say of every config of a key.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>

#include "inspect/inspect.h"
#include "jit/tune/table_file.h"

namespace nereid::inspect {
namespace {

Result<std::vector<std::string>> tables_at(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path)) {
    if (llvm::sys::fs::exists(path))
      return std::vector<std::string>{path};
    return user_error("there is no tuning table " + path, "nereid tune --table DIR writes one");
  }
  std::vector<std::string> paths;
  std::error_code failure;
  for (llvm::sys::fs::directory_iterator at(path, failure), end; at != end && !failure; at.increment(failure))
    if (llvm::StringRef(at->path()).ends_with(table_suffix))
      paths.push_back(at->path());
  std::sort(paths.begin(), paths.end());
  if (paths.empty())
    return user_error("there is no tuning table in " + path, "nereid tune --table DIR writes one");
  return paths;
}

Tuning landscape(const KernelTunings &table, const std::string &key) {
  Tuning tuning{table.kernel(), table.device(), key};
  const TuningRecord *winner = table.winner(key);
  for (const TuningRecord &record : table.records(key)) {
    // Figures of one ranking compare; the winner's is the one that says most.
    const bool compares = winner && record.ranking == winner->ranking && record.caches == winner->caches;
    if (winner && !compares && record.rejected.empty())
      continue;
    tuning.configs.push_back({record.config, record.rejected.empty() ? record.figure : std::nullopt,
                              record.rejected, record.vgpr, record.lds, record.occupancy, record.launches,
                              winner && record == *winner});
  }
  if (winner) {
    tuning.unit = winner->unit;
    tuning.ranking = winner->ranking;
    tuning.caches = winner->caches;
  }
  std::stable_sort(
      tuning.configs.begin(), tuning.configs.end(), [](const TunedConfig &a, const TunedConfig &b) {
        return std::tuple(!a.figure, a.figure.value_or(0)) < std::tuple(!b.figure, b.figure.value_or(0));
      });
  return tuning;
}

} // namespace

Status add_tuning(Report &report, const std::string &path, const std::string &key) {
  NEREID_TRY(const std::vector<std::string> paths, tables_at(path));
  const size_t before = report.tuning.size();
  for (const std::string &table_path : paths) {
    NEREID_TRY(const KernelTunings table, TableFile::read_path(table_path));
    for (const std::string &of_table : table.keys())
      if (key.empty() || key == of_table)
        report.tuning.push_back(landscape(table, of_table));
  }
  if (report.tuning.size() == before)
    return user_error(fmt::format("{} has no record{}", path, key.empty() ? "" : " for " + key));
  return {};
}

} // namespace nereid::inspect
