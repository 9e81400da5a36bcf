// Reports as JSON. Members that are empty or zero are left out of instructions, of which there are many.
#include "inspect/render/json_value.h"

#include <algorithm>
#include <cmath>

#include "inspect/render/render.h"
#include "jit/json_text.h"

namespace nereid::inspect {
namespace {

using jit::json_string;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

Value integer(uint64_t value) { return static_cast<int64_t>(value); }
/// Rounded to a thousandth.
Value number(double value) {
  const double rounded = std::round(value * 1000) / 1000;
  if (std::abs(rounded) < 9e15 && rounded == std::floor(rounded))
    return static_cast<int64_t>(rounded);
  return rounded;
}

template <class List, class Item> Array array(const List &list, const Item &item) {
  Array values;
  for (const auto &element : list)
    values.push_back(item(element));
  return values;
}

template <class Map> Object numbers(const Map &map) {
  Object object;
  for (const auto &[name, value] : map)
    object[name] = number(static_cast<double>(value));
  return object;
}

void add_place(Object &object, const Place &place) {
  if (!place.known())
    return;
  object["file"] = place.file;
  object["line"] = place.line;
}

Value ir_line(const IrLine &line) {
  Object object{{"text", json_string(line.text)}};
  if (line.operation)
    object["operation"] = line.operation;
  add_place(object, line.place);
  return object;
}

Value instruction(const Instruction &instruction) {
  Object object{{"address", integer(instruction.address)},
                {"text", json_string(instruction.text)},
                {"kind", instruction.kind},
                {"live", Array{instruction.live_vgpr, instruction.live_agpr, instruction.live_sgpr}}};
  add_place(object, instruction.place);
  if (instruction.operation)
    object["operation"] = instruction.operation;
  if (instruction.target >= 0)
    object["target"] = instruction.target;
  if (instruction.executed > 0) {
    object["executed"] = number(instruction.executed);
    object["issue_clocks"] = number(instruction.issue_clocks);
  }
  if (!instruction.stalls.empty())
    object["stalls"] = numbers(instruction.stalls);
  if (const auto &global = instruction.global)
    object["global"] = Object{{"executed", integer(global->executed)},
                              {"bytes", integer(global->bytes)},
                              {"lines", integer(global->lines)},
                              {"fewest_lines", integer(global->fewest_lines)},
                              {"coalescing", number(global->coalescing())},
                              {"writes", global->writes}};
  if (const auto &lds = instruction.lds)
    object["lds"] = Object{{"executed", integer(lds->executed)},
                           {"bytes", integer(lds->bytes)},
                           {"clocks", integer(lds->clocks)},
                           {"conflict_clocks", integer(lds->conflict_clocks())},
                           {"first", integer(lds->first)},
                           {"end", integer(lds->end)},
                           {"lane_bytes", lds->lane_bytes},
                           {"banks", lds->banks},
                           {"writes", lds->writes},
                           {"lanes", array(lds->lanes, [](int64_t address) -> Value { return address; })}};
  return object;
}

Value loop(const Loop &loop) {
  return Object{{"first", loop.first},
                {"last", loop.last},
                {"iterations", number(loop.iterations)},
                {"mix", numbers(loop.mix)}};
}

Object occupancy(const Occupancy &occupancy) {
  return Object{{"waves", occupancy.waves},
                {"waves_of_workgroup", occupancy.waves_of_workgroup},
                {"limits", array(occupancy.limits, [](const OccupancyLimit &limit) -> Value {
                   return Object{{"what", limit.what},
                                 {"waves", limit.waves},
                                 {"detail", limit.detail},
                                 {"remedy", limit.remedy},
                                 {"next", limit.next}};
                 })}};
}

/// The timeline is an array of [instruction, wave, ready, issue, end, done, reason].
Object run_object(const Run &run) {
  const auto sizes = [](const std::array<uint32_t, 3> &of) { return Array{of[0], of[1], of[2]}; };
  return Object{{"grid", sizes(run.grid)},
                {"block", sizes(run.block)},
                {"caches", run.caches},
                {"us", number(run.us)},
                {"cycles_per_workgroup", number(run.cycles_per_workgroup)},
                {"limit", run.limit},
                {"stalls", numbers(run.stalls)},
                {"operands", run.operands},
                {"traffic", array(run.traffic,
                                  [](const Traffic &traffic) -> Value {
                                    return Object{{"level", traffic.level},
                                                  {"bytes", number(traffic.bytes)},
                                                  {"us", number(traffic.us)}};
                                  })},
                {"reasons", array(run.reasons, [](const std::string &reason) -> Value { return reason; })},
                {"timeline_is_cut", run.timeline_is_cut},
                {"timeline", array(run.timeline, [](const Issue &issue) -> Value {
                   return Array{issue.instruction, issue.wave, issue.ready, issue.issue,
                                issue.end,         issue.done, issue.reason};
                 })}};
}

Value layout(const LayoutFacts &layout) {
  Object object{{"name", layout.name},
                {"type", layout.type},
                {"text", layout.text},
                {"shape", array(layout.shape, [](int64_t size) -> Value { return size; })}};
  add_place(object, layout.place);
  const char *const spaces[] = {"register", "lane", "wave"};
  for (size_t space = 0; space < layout.bases.size(); ++space)
    object[spaces[space]] = array(layout.bases[space], [](const std::vector<uint32_t> &basis) -> Value {
      return array(basis, [](uint32_t coordinate) -> Value { return coordinate; });
    });
  object["repeats"] = array(layout.repeats, [&](const LayoutFacts::Repeat &repeat) -> Value {
    return Object{{"space", spaces[repeat.space]}, {"count", repeat.count}, {"dim", repeat.dim}};
  });
  return object;
}

Value dot(const DotFacts &dot) {
  Object object{
      {"text", dot.text}, {"instruction", dot.instruction}, {"operands", array(dot.operands, layout)}};
  add_place(object, dot.place);
  return object;
}

Value remark(const RemarkFacts &remark) {
  Object object{{"kind", remark.kind},
                {"message", json_string(remark.message)},
                {"remedy", json_string(remark.remedy)}};
  add_place(object, remark.place);
  return object;
}

Value tuning(const Tuning &tuning) {
  return Object{{"kernel", tuning.kernel},
                {"device", tuning.device},
                {"key", tuning.key},
                {"unit", tuning.unit},
                {"ranking", tuning.ranking},
                {"caches", tuning.caches},
                {"configs", array(tuning.configs, [](const TunedConfig &config) -> Value {
                   Object object{{"config", config.config},       {"rejected", json_string(config.rejected)},
                                 {"vgpr", config.vgpr},           {"lds", config.lds},
                                 {"occupancy", config.occupancy}, {"launches", config.launches},
                                 {"winner", config.winner}};
                   object["figure"] = config.figure ? number(*config.figure) : Value(nullptr);
                   return object;
                 })}};
}

/// "a=1,b=x" as {"a": 1, "b": "x"}.
Object config(const std::string &text) {
  Object object;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    const auto [entry, behind] = rest.split(',');
    const auto [name, value] = entry.split('=');
    int64_t as_integer = 0;
    object[name.str()] = value.getAsInteger(10, as_integer) ? Value(value.str()) : Value(as_integer);
    rest = behind;
  }
  return object;
}

} // namespace

Object json_value(const Report &report) {
  Object object{{"version", 1},
                {"kernel", json_string(report.kernel)},
                {"origin", report.origin},
                {"config", config(report.config)},
                {"compiler", report.compiler},
                {"key", report.key},
                {"resources", Object{{"vgpr", report.resources.vgpr},
                                     {"agpr", report.resources.agpr},
                                     {"sgpr", report.resources.sgpr},
                                     {"lds", report.resources.lds},
                                     {"scratch", report.resources.scratch},
                                     {"spills", report.resources.spills},
                                     {"occupancy", report.occupancy.waves}}},
                {"occupancy", occupancy(report.occupancy)},
                {"plan", json_string(report.plan)},
                {"hot_loop", report.hot_loop < 0 ? Value(nullptr) : Value(report.hot_loop)}};
  object["files"] = array(report.files, [](const SourceFile &file) -> Value {
    return Object{{"path", json_string(file.path)}, {"lines", array(file.lines, json_string)}};
  });
  object["tile_ir"] = array(report.tile_ir, ir_line);
  object["llvm_ir"] = array(report.llvm_ir, ir_line);
  object["remarks"] = array(report.remarks, remark);
  object["layouts"] = array(report.layouts, layout);
  object["dots"] = array(report.dots, dot);
  object["code"] = array(report.code, instruction);
  object["loops"] = array(report.loops, loop);
  object["tuning"] = array(report.tuning, tuning);
  object["notes"] = array(report.notes, json_string);
  object["run"] = report.run ? Value(run_object(*report.run)) : Value(nullptr);
  return object;
}

Object json_value(const Comparison &comparison) {
  return Object{
      {"version", 1},
      {"a", json_value(comparison.a)},
      {"b", json_value(comparison.b)},
      {"figures", array(comparison.figures,
                        [](const Figure &figure) -> Value {
                          return Object{{"group", figure.group},
                                        {"name", figure.name},
                                        {"unit", figure.unit},
                                        {"a", number(figure.a)},
                                        {"b", number(figure.b)}};
                        })},
      {"code", array(comparison.code, [](const CodeLine &line) -> Value { return Array{line.a, line.b}; })}};
}

std::string to_json(const Report &report) { return jit::json_text(json_value(report)); }
std::string to_json(const Comparison &comparison) { return jit::json_text(json_value(comparison)); }

} // namespace nereid::inspect
