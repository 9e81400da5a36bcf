#pragma once

#include <string>
#include <vector>

#include "inspect/report.h"

namespace nereid::inspect {

/// A number that two reports have.
struct Figure {
  std::string group; ///< "resources", "hot loop", "time", "stalls", "traffic"
  std::string name;
  std::string unit; ///< may be empty
  double a = 0, b = 0;
};

/// A line of the code of both, or of one of them.
struct CodeLine {
  int a = -1; ///< index into the code of report a; -1: it is new in b
  int b = -1; ///< -1: b lacks it
};

/// Two reports side by side.
struct Comparison {
  Report a, b;
  std::vector<Figure> figures;
  std::vector<CodeLine> code; ///< instructions of both in order; equal ones share a line
};

/// Compares two reports. Instructions count as equal when they do the same operation, whichever registers
/// they do it on.
Comparison compare(Report a, Report b);

} // namespace nereid::inspect
