#pragma once

#include <string_view>

namespace nereid::inspect {

/// The page's style and program: inspect/page/page.css and its *.js files in the order in which they run.
extern const std::string_view page_style;
extern const std::string_view page_program;

} // namespace nereid::inspect
