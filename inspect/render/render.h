#pragma once

#include <span>
#include <string>
#include <string_view>

#include "inspect/compare.h"
#include "inspect/report.h"

/// Reports for people and programs.
namespace nereid::inspect {

/// A kind of instruction: its name in reports and what it is called for people.
struct Kind {
  std::string_view name, title;
};
/// All kinds, in the order in which a mix is shown.
std::span<const Kind> kinds();

/// For a terminal: a summary, the plan, and each form of the code with the user's lines.
std::string to_text(const Report &report);
std::string to_text(const Comparison &comparison);

/// One JSON object, indented; docs/inspect.md has its members.
std::string to_json(const Report &report);
std::string to_json(const Comparison &comparison);

/// One HTML page that needs nothing else: no network, no other file. Below 2 MB: of long LLVM IR, and then of
/// a long timeline, a part is left out, and a note says so.
std::string to_html(const Report &report);
std::string to_html(const Comparison &comparison);

} // namespace nereid::inspect
