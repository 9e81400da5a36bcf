// nereid tune merge: tables of several machines into one directory.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>

#include "jit/tune/table_file.h"
#include "tools/command.h"

namespace nereid::tools {
namespace {

constexpr const char *tune_merge_footer =
    R"(Adds the records of tables, files or directories of them, to those of the directory OUT. Of two records of a
config for the same code, ranking and caches the better figure stays, and a rejection that the code decides before a figure; for other code the one that is named
later. A damaged table is an error, and then nothing is written.

Example:
  nereid tune merge tables part1 part2)";

struct MergeCommand {
  std::string out;
  std::vector<std::string> in;
  bool best = false;
};

/// The tables of a directory, or the file itself.
Result<std::vector<std::string>> tables_at(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path))
    return std::vector{path};
  std::vector<std::string> tables;
  std::error_code failed;
  for (llvm::sys::fs::directory_iterator file(path, failed), end; !failed && file != end;
       file.increment(failed))
    if (llvm::StringRef(file->path()).ends_with(table_suffix))
      tables.push_back(file->path());
  if (failed)
    return environment_error(fmt::format("cannot read {}: {}", path, failed.message()));
  std::sort(tables.begin(), tables.end());
  return tables;
}

/// All tables, by the file that they go into.
Result<std::map<std::string, std::vector<KernelTunings>>> read_all(const MergeCommand &options) {
  std::map<std::string, std::vector<KernelTunings>> all;
  for (const std::string &path : options.in) {
    NEREID_TRY(const std::vector<std::string> tables, tables_at(path));
    for (const std::string &table : tables) {
      NEREID_TRY(KernelTunings tunings, TableFile::read_path(table));
      all[table_path(options.out, tunings.kernel(), tunings.device())].push_back(std::move(tunings));
    }
  }
  if (all.empty())
    return user_error("there are no tables to merge", fmt::format("their names end in {}", table_suffix));
  return all;
}

Outcome merge(const MergeCommand &options) {
  NEREID_TRY(const auto all, read_all(options));
  Outcome outcome;
  llvm::json::Array paths;
  for (const auto &[path, tables] : all) {
    const TableFile file(options.out, tables.front().kernel(), tables.front().device());
    NEREID_CHECK(file.update([&](KernelTunings &merged) -> Status {
      for (const KernelTunings &tunings : tables)
        NEREID_CHECK(merged.add(tunings));
      if (options.best)
        merged = merged.winners();
      return {};
    }));
    outcome.text += path + "\n";
    paths.push_back(json_string(path));
  }
  outcome.json["tables"] = std::move(paths);
  return outcome;
}

} // namespace

void add_tune_merge(Subcommand tune, Invocation &invocation) {
  auto options = std::make_shared<MergeCommand>();
  Subcommand command = add_command(tune, invocation, "merge", "Put tuning tables together",
                                   [options] { return merge(*options); });
  command.footer(tune_merge_footer);
  command.flag("--best", options->best, "Keep the winner of each key alone");
  command.option("OUT", options->out, "Directory of the merged tables").required();
  command.option("IN", options->in, "Tables, or directories of them").required();
}

} // namespace nereid::tools
