#pragma once

#include <string>
#include <vector>

#include "inspect/report.h"

namespace nereid::inspect {

/// What the .lines file beside a code object of NEREID_DUMP_DIR says: the source line of each operation, from
/// the first on, not known where it has none. Empty where there is no such file.
std::vector<SourceLine> read_operation_lines(const std::string &code_object);

/// Collects the source files that places name.
class SourceFiles {
public:
  /// Relative paths are looked up in `directory` too.
  explicit SourceFiles(std::string directory = {}) : directory_(std::move(directory)) {}

  /// The place of a line; not known where the line is not.
  Place place(const SourceLine &line);
  /// All files with what can be read of them.
  std::vector<SourceFile> read() const;

private:
  std::string directory_;
  std::vector<std::string> paths_;
};

} // namespace nereid::inspect
