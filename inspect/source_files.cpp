// The user's source files, as far as they are here.
#include "inspect/source_files.h"

#include <algorithm>

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

namespace nereid::inspect {
namespace {

/// A source file that has more is no kernel's.
constexpr uint64_t max_bytes = uint64_t{1} << 20;

std::vector<std::string> lines_of_file(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || !llvm::sys::fs::is_regular_file(status) ||
      status.getSize() > max_bytes)
    return {};
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return {};
  std::vector<std::string> lines;
  llvm::StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    const auto [line, behind] = rest.split('\n');
    lines.push_back(line.rtrim('\r').str());
    rest = behind;
  }
  return lines;
}

} // namespace

std::vector<SourceLine> read_operation_lines(const std::string &code_object) {
  if (llvm::sys::path::extension(code_object) != ".hsaco")
    return {};
  llvm::SmallString<128> path(code_object);
  llvm::sys::path::replace_extension(path, ".lines");
  std::vector<SourceLine> operations;
  for (const std::string &text : lines_of_file(path.str().str())) {
    const auto [file, digits] = llvm::StringRef(text).rsplit(':');
    SourceLine line;
    if (!digits.getAsInteger(10, line.line))
      line.file = file.str();
    operations.push_back(std::move(line));
  }
  return operations;
}

Place SourceFiles::place(const SourceLine &line) {
  if (!line.known())
    return {};
  auto found = std::find(paths_.begin(), paths_.end(), line.file);
  if (found == paths_.end())
    found = paths_.insert(found, line.file);
  return {static_cast<int>(found - paths_.begin()), line.line};
}

std::vector<SourceFile> SourceFiles::read() const {
  std::vector<SourceFile> files;
  for (const std::string &path : paths_) {
    files.push_back({path, lines_of_file(path)});
    if (files.back().lines.empty() && !path.starts_with('/') && !directory_.empty())
      files.back().lines = lines_of_file(directory_ + "/" + path);
  }
  return files;
}

} // namespace nereid::inspect
