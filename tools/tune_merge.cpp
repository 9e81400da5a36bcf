// nereid tune merge: tables of several machines into one directory.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>

#include "jit/tune/table_file.h"
#include "tools/command.h"

namespace nereid::tools {
namespace {

constexpr const char *footer =
    R"(Adds the records of tables, files or directories of them, to those of the directory OUT. Of two records of a
config for the same code the better figure stays, and a rejection before a figure; for other code the one that is named
later. A damaged table is an error, and then nothing is written.

Example:
  nereid tune merge tables part1 part2)";

struct Options {
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

/// The last of the tables that go into the same file.
const KernelTunings *last_of_file(const std::vector<KernelTunings> &all, const KernelTunings &tunings) {
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const KernelTunings &other) {
    return other.kernel() == tunings.kernel() && other.device() == tunings.device();
  });
  return &*found;
}

Outcome merge(const Options &options) {
  std::vector<KernelTunings> all;
  for (const std::string &path : options.in) {
    NEREID_TRY(const std::vector<std::string> tables, tables_at(path));
    for (const std::string &table : tables) {
      NEREID_TRY(KernelTunings tunings, TableFile::read_path(table));
      all.push_back(std::move(tunings));
    }
  }
  if (all.empty())
    return user_error("there are no tables to merge", fmt::format("their names end in {}", table_suffix));
  Outcome outcome;
  llvm::json::Array tables;
  for (const KernelTunings &tunings : all) {
    const TableFile file(options.out, tunings.kernel(), tunings.device());
    NEREID_CHECK(file.update([&](KernelTunings &merged) -> Status {
      NEREID_CHECK(merged.add(tunings));
      if (options.best && &tunings == last_of_file(all, tunings))
        merged = merged.winners();
      return {};
    }));
    if (const llvm::json::Value path = json_string(file.path());
        std::find(tables.begin(), tables.end(), path) == tables.end()) {
      outcome.text += file.path() + "\n";
      tables.push_back(path);
    }
  }
  outcome.json["tables"] = std::move(tables);
  return outcome;
}

} // namespace

void add_tune_merge(CLI::App &tune, Invocation &invocation) {
  auto options = std::make_shared<Options>();
  CLI::App *command = add_command(tune, invocation, "merge", "Put tuning tables together",
                                  [options] { return merge(*options); });
  command->footer(footer);
  command->add_flag("--best", options->best, "Keep the winner of each key alone");
  command->add_option("OUT", options->out, "Directory of the merged tables")->required();
  command->add_option("IN", options->in, "Tables, or directories of them")->required();
}

} // namespace nereid::tools
