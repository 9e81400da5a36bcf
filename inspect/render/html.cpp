// The page: its style, its program and the report as JSON in one file.
#include <algorithm>

#include <fmt/format.h>

#include "inspect/render/json_value.h"
#include "inspect/render/page.h"
#include "inspect/render/render.h"
#include "jit/json_text.h"

namespace nereid::inspect {
namespace {

/// What a page may have, with room for what is added around the JSON.
constexpr size_t max_json = 1'850'000;

/// JSON as it may stand in a script element: no "</script>" and no "<!--" in it.
std::string in_script(const std::string &json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

std::string page(const std::string &title, const std::string &json) {
  return fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
                     "<noscript>This report needs JavaScript; nothing is fetched from anywhere.</noscript>\n"
                     "<script type=\"application/json\" id=\"report\">{}</script>\n<script>\n{}</script>\n"
                     "</body>\n</html>\n",
                     escaped(title), page_style, json, page_program);
}

/// Leaves out half of what is the least use at its size; false when there is nothing more to leave out.
bool shorten(Report &report) {
  constexpr const char *ir_note =
      "the LLVM IR is too long for the page: nereid compile --emit llvm prints it";
  constexpr const char *timeline_note = "a part of the timeline was left out of the page";
  const auto note = [&](const char *text) {
    if (std::find(report.notes.begin(), report.notes.end(), text) == report.notes.end())
      report.notes.emplace_back(text);
  };
  if (!report.llvm_ir.empty()) {
    report.llvm_ir.clear();
    note(ir_note);
    return true;
  }
  if (report.run && report.run->timeline.size() > 500) {
    report.run->timeline.resize(report.run->timeline.size() / 2);
    report.run->timeline_is_cut = true;
    note(timeline_note);
    return true;
  }
  for (SourceFile &file : report.files)
    if (file.lines.size() > 100) {
      file.lines.clear();
      return true;
    }
  if (!report.layouts.empty() || !report.tile_ir.empty()) {
    report.layouts.clear();
    report.tile_ir.clear();
    note("layouts and tile IR are too long for the page");
    return true;
  }
  return false;
}

} // namespace

std::string to_html(const Report &report) {
  Report shown = report;
  std::string json = in_script(jit::json_text(json_value(shown), false));
  while (json.size() > max_json && shorten(shown))
    json = in_script(jit::json_text(json_value(shown), false));
  return page(report.kernel + " - nereid inspect", json);
}

std::string to_html(const Comparison &comparison) {
  Comparison shown = comparison;
  // The page of a comparison shows figures and code.
  for (Report *report : {&shown.a, &shown.b}) {
    report->llvm_ir.clear();
    report->tile_ir.clear();
    report->layouts.clear();
    report->dots.clear();
    if (report->run)
      report->run->timeline.clear();
    for (Instruction &instruction : report->code)
      if (instruction.lds)
        instruction.lds->lanes.clear();
  }
  return page(comparison.a.kernel + " and " + comparison.b.kernel + " - nereid inspect",
              in_script(jit::json_text(json_value(shown), false)));
}

} // namespace nereid::inspect
