// nereid layout: a layout from its text, as a table or a picture.
#include <fmt/format.h>

#include "base/output_file.h"
#include "codegen/layout/layout_svg.h"
#include "codegen/layout/layout_text.h"
#include "tools/command.h"

namespace nereid::tools {
namespace {

struct LayoutOptions {
  std::string text;
  std::string svg;
  unsigned rows = 64;
  unsigned columns = 64;
};

constexpr const char *footer =
    R"text(TEXT is a layout as `nereid compile --emit plan` writes it: a shape, then for registers, lanes and waves the
coordinates that each bit of the position flips; 0 is a broadcast. A cell of the table says which wave (w), lane
(l) and register (r) holds the element, and how many positions do (x4).

Examples:
  nereid layout "[16, 16] register: (1,0) (2,0) lane: (0,1) (0,2) (0,4) (0,8) (4,0) (8,0)"
  nereid layout "[16, 16] register: (1,0) (2,0) lane: (0,1) (0,2) (0,4) (0,8) (4,0) (8,0)" --svg layout.svg)text";

Outcome run(const LayoutOptions &options) {
  NEREID_TRY(const codegen::LinearLayout layout, codegen::parse_layout(options.text));
  const codegen::DrawingOptions shown{options.rows, options.columns};
  Outcome outcome;
  outcome.json["layout"] = layout.text();
  if (options.svg.empty()) {
    outcome.text = codegen::draw(layout, shown);
    outcome.json["table"] = outcome.text;
    return outcome;
  }
  NEREID_CHECK(write_file(options.svg, codegen::draw_svg(layout, shown)));
  outcome.text = options.svg + "\n";
  outcome.json["svg"] = json_string(options.svg);
  return outcome;
}

} // namespace

void add_layout(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<LayoutOptions>();
  Subcommand command =
      add_command(app, invocation, "layout", "Draw a layout: who holds which element of a tile",
                  [options] { return run(*options); });
  command.footer(footer);
  command.option("TEXT", options->text, "The layout").required();
  command.option("--svg", options->svg, "Write a picture to this file");
  for (const auto &[name, member] :
       {std::pair("--rows", &options->rows), std::pair("--columns", &options->columns)})
    command.option(name, *member, "Of a table, at most").at_least(1).shows_default();
}

} // namespace nereid::tools
