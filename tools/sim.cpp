// nereid sim: code objects on the simulator, and which instructions it executes.
#include <llvm/Support/JSON.h>

#include <fmt/format.h>

#include "jit/json_text.h"
#include "sim/coverage.h"
#include "sim/launch_file.h"
#include "tools/command.h"
#include "tools/instructions_json.h"
#include "tools/time_json.h"

namespace nereid::tools {
namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

constexpr const char *run_footer =
    R"(Prints one JSON object: status (ok, fault or error), the fault, instructions, waves, seconds. The file:
  {"code_object": "k.hsaco", "grid": [4, 1, 1], "block": [256, 1, 1],
   "buffers": {"in": {"file": "in.bin"}, "out": {"size": 4096, "fill": 255}},
   "values": [{"buffer": "in"}, {"buffer": "out"}, {"i32": 1024}], "outputs": {"out": "out.bin"}}
Exit codes: 0 ok, 1 fault, 2 error.)";

/// Names from damaged code objects need not be UTF-8, which JSON demands.
std::string clean(const std::string &text) { return llvm::json::fixUTF8(text); }

Value fault_json(const std::optional<sim::Fault> &fault) {
  if (!fault)
    return nullptr;
  const std::string where = fault->memory ? fmt::format(", memory at {:#x}", *fault->memory) : "";
  return Object{{"kind", sim::fault_kind_name(fault->kind)},
                {"address", integer(fault->address)},
                {"instruction", clean(fault->instruction)},
                {"line", fault->line.known() ? Value(clean(fault->line.text())) : Value(nullptr)},
                {"workgroup", Array{fault->workgroup[0], fault->workgroup[1], fault->workgroup[2]}},
                {"wave", fault->wave},
                {"lane", fault->lane},
                {"text", clean(fault->text + where)}};
}

/// An outcome whose text is its JSON: this subcommand prints JSON in any case.
Outcome finished(ExitCode code, Object json, std::string error) {
  Outcome outcome;
  outcome.code = code;
  outcome.error = std::move(error);
  outcome.text = jit::json_text(Value(Object(json)));
  outcome.json = std::move(json);
  return outcome;
}

Outcome failed(Error error) {
  error.message = clean(error.message);
  error.remedy = clean(error.remedy);
  return finished(ExitCode::Usage, Object{{"status", "error"}, {"error", to_json(error)}}, error.text());
}

Outcome run_file(const std::string &path, uint64_t budget) {
  auto file = sim::read_launch_file(path);
  if (!file)
    return failed(file.error());
  const sim::LaunchAnswer answer = sim::run_launch_file(*file, budget);
  if (answer.error)
    return failed(*answer.error);
  const sim::Report &report = answer.report;
  Object json{{"status", answer.status()},
              {"fault", fault_json(report.fault)},
              {"instructions", instructions_json(report.counts)},
              {"waves", integer(report.waves)},
              {"wall_seconds", report.wall_seconds},
              {"checks", Array(file->checks)}};
  if (file->timing != sim::Timing::Off)
    json["cycles"] = "unavailable"; // of the whole device; older readers of the answer expect the key
  if (report.time)
    json["time"] = time_json(*report.time);
  if (report.untimed)
    json["untimed"] = fault_json(report.untimed);
  if (report.fault)
    return finished(ExitCode::Wrong, std::move(json), clean(report.fault->error().text()));
  return finished(ExitCode::Right, std::move(json), "");
}

Outcome show_coverage() {
  Outcome outcome;
  Array table;
  size_t done = 0;
  const std::vector<sim::CoverageRow> rows = sim::coverage();
  for (const sim::CoverageRow &row : rows) {
    const char *status = row.done ? "done" : "unsupported";
    done += row.done ? 1 : 0;
    table.push_back(
        Object{{"name", row.mnemonic}, {"encoding", row.encoding}, {"status", status}, {"note", row.note}});
    outcome.text += fmt::format("{:<40} {:<7} {}{}{}\n", row.mnemonic, row.encoding, status,
                                row.note.empty() ? "" : ": ", row.note);
  }
  const size_t missing = rows.size() - done;
  outcome.text += fmt::format("{} instructions: {} done, {} unsupported\n", rows.size(), done, missing);
  outcome.json = Object{
      {"total", rows.size()}, {"done", done}, {"unsupported", missing}, {"instructions", std::move(table)}};
  return outcome;
}

struct RunOptions {
  std::string path;
  uint64_t budget = uint64_t{1} << 32;
};

} // namespace

void add_sim(Subcommand app, Invocation &invocation) {
  Subcommand group = app.group("sim", "Run any gfx950 code object on the simulator");
  auto options = std::make_shared<RunOptions>();
  Subcommand run = add_command(group, invocation, "run", "Run what a launch file describes",
                               [options] { return run_file(options->path, options->budget); });
  run.footer(run_footer);
  run.option("LAUNCH", options->path, "The launch file (JSON)").required();
  run.option("--budget", options->budget, "Wave instructions after which the run ends with a fault")
      .at_least(1)
      .shows_default();
  add_command(group, invocation, "coverage", "List the gfx950 instructions and which the simulator executes",
              show_coverage);
}

} // namespace nereid::tools
