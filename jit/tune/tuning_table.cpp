// Winners by kernel and key, from all tables of a directory.
#include "jit/tune/tuning_table.h"

#include <algorithm>

#include "jit/tune/table_file.h"
#include "llvm/Support/FileSystem.h"

namespace nereid {

Result<TuningTable> TuningTable::load(const std::string &directory, const std::string &device) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (llvm::sys::fs::directory_iterator file(directory, failed), end; !failed && file != end;
       file.increment(failed))
    if (llvm::StringRef(file->path()).ends_with(table_suffix))
      paths.push_back(file->path());
  if (failed && failed != std::errc::no_such_file_or_directory)
    return environment_error("cannot read " + directory + ": " + failed.message(),
                             "Choose a directory for tuning tables that can be read");
  std::sort(paths.begin(), paths.end());
  TuningTable table;
  for (const std::string &path : paths) {
    NEREID_TRY(const KernelTunings tunings, TableFile::read_path(path));
    if (tunings.device() == device)
      table.add(tunings);
  }
  return table;
}

void TuningTable::add(const KernelTunings &tunings) {
  for (const std::string &key : tunings.keys()) {
    const TuningRecord *winner = tunings.winner(key);
    if (!winner)
      continue;
    Choice choice{winner->config, *winner->figure, winner->unit, winner->ranking, winner->caches};
    const auto [place, added] = choices_[tunings.kernel()].try_emplace(key, choice);
    const Choice &present = place->second;
    if (!added && choice.ranking != present.ranking && says_more(choice.ranking, "", present.ranking, ""))
      place->second = std::move(choice);
  }
}

const TuningTable::Choice *TuningTable::lookup(std::string_view kernel, std::string_view key) const & {
  const auto choices = choices_.find(kernel);
  if (choices == choices_.end())
    return nullptr;
  const auto found = choices->second.find(key);
  return found == choices->second.end() ? nullptr : &found->second;
}

std::vector<std::string> TuningTable::keys(std::string_view kernel) const {
  std::vector<std::string> keys;
  if (const auto choices = choices_.find(kernel); choices != choices_.end())
    for (const auto &[key, choice] : choices->second)
      keys.push_back(key);
  return keys;
}

size_t TuningTable::size() const {
  size_t count = 0;
  for (const auto &[kernel, choices] : choices_)
    count += choices.size();
  return count;
}

} // namespace nereid
