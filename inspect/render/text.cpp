// A report for a terminal.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "inspect/render/render.h"

namespace nereid::inspect {
namespace {

/// What an instruction accesses in memory and in the LDS.
std::string access_text(const Instruction &instruction) {
  std::string text;
  if (const auto &global = instruction.global)
    text += fmt::format(" {:.1f} lines of 128 bytes an instruction, {:.0f} % coalesced", global->lines_each(),
                        100 * global->coalescing());
  if (const auto &lds = instruction.lds)
    text += fmt::format(" LDS bytes {} to {}: {} clocks, {} of them conflicts", lds->first, lds->end,
                        lds->clocks, lds->conflict_clocks());
  return text;
}

class TextReport {
public:
  explicit TextReport(const Report &report) : report_(report) {}

  std::string run() {
    head();
    occupancy();
    if (report_.run)
      simulated(*report_.run);
    hot_loop();
    accesses();
    tuning();
    for (const std::string &note : report_.notes)
      append("note: {}\n", note);
    if (!report_.plan.empty())
      append("\n{}", report_.plan);
    ir("tile IR", report_.tile_ir);
    ir("LLVM IR", report_.llvm_ir);
    code();
    return std::move(out_);
  }

private:
  template <class... Args> void append(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  /// "file.cpp:12", without directories.
  std::string place(const Place &place) const {
    if (!place.known())
      return "";
    const std::string &path = report_.files[static_cast<size_t>(place.file)].path;
    return fmt::format("{}:{}", path.substr(path.find_last_of('/') + 1), place.line);
  }
  void head();
  void occupancy();
  void simulated(const Run &run);
  void hot_loop();
  void accesses();
  void tuning();
  void ir(std::string_view title, const std::vector<IrLine> &lines);
  void code();
  std::string notes_of(const Instruction &instruction) const;

  const Report &report_;
  std::string out_;
};

void TextReport::head() {
  append("{} {}\n", report_.kernel, report_.config);
  if (!report_.compiler.empty())
    append("compiled by {}, key {}\n", report_.compiler, report_.key);
  const CodeResources &r = report_.resources;
  append("VGPRs {} (of these AGPRs {})  SGPRs {}  LDS {} bytes  scratch {} bytes  spills {}\n", r.vgpr,
         r.agpr, r.sgpr, r.lds, r.scratch, r.spills);
}

void TextReport::occupancy() {
  append("occupancy {} waves a SIMD, {} waves a workgroup\n", report_.occupancy.waves,
         report_.occupancy.waves_of_workgroup);
  for (const OccupancyLimit &limit : report_.occupancy.limits)
    append("  {} waves by {}: {}{}{}\n", limit.waves, limit.what, limit.detail,
           limit.remedy.empty() ? "" : "; ", limit.remedy);
  const auto by_registers = [](const Instruction &a, const Instruction &b) {
    return a.live_vgpr + a.live_agpr < b.live_vgpr + b.live_agpr;
  };
  const auto most = std::max_element(report_.code.begin(), report_.code.end(), by_registers);
  if (most != report_.code.end())
    append("most live registers: {} VGPRs and {} AGPRs before {:06x}{}{}\n", most->live_vgpr, most->live_agpr,
           most->address, most->place.known() ? ", " : "", place(most->place));
}

void TextReport::simulated(const Run &run) {
  append("\nsimulated launch: grid {} x {} x {}, block {} x {} x {}, caches {}; {:.2f} us, limited by {}; a "
         "workgroup takes {:.0f} clocks\n",
         run.grid[0], run.grid[1], run.grid[2], run.block[0], run.block[1], run.block[2], run.caches, run.us,
         run.limit, run.cycles_per_workgroup);
  append("  waves' time:");
  for (const auto &[reason, share] : run.stalls)
    if (share >= 0.005)
      append(" {} {:.0f} %", reason, 100 * share);
  append("\n");
  for (const Traffic &traffic : run.traffic)
    append("  {:<4} {:>12.0f} bytes, {:.2f} us at the peak rate\n", traffic.level, traffic.bytes, traffic.us);
}

void TextReport::hot_loop() {
  if (report_.hot_loop < 0)
    return;
  const Loop &loop = report_.loops[static_cast<size_t>(report_.hot_loop)];
  append("\nhot loop {:06x} to {:06x}", report_.code[loop.first].address, report_.code[loop.last].address);
  if (loop.iterations > 0)
    append(", {:.0f} iterations of a wave", loop.iterations);
  append("; an iteration:");
  for (const Kind &kind : kinds())
    if (const auto found = loop.mix.find(std::string(kind.name)); found != loop.mix.end())
      append(" {} {},", kind.title, found->second);
  out_.back() = '\n';
}

void TextReport::accesses() {
  std::string last;
  unsigned alike = 0;
  const auto flush = [&] {
    if (alike > 0)
      append("{}{}\n", last, alike > 1 ? fmt::format(" (and {} more like it)", alike - 1) : "");
  };
  for (const Instruction &instruction : report_.code) {
    if (!instruction.global && !instruction.lds)
      continue;
    if (alike == 0)
      append("\nmemory accesses of a workgroup\n");
    const std::string line =
        fmt::format("{:<24} {:<24}{}", instruction.text.substr(0, instruction.text.find(' ')),
                    place(instruction.place), access_text(instruction));
    if (alike == 0 || !last.ends_with(line)) {
      flush();
      last = fmt::format("  {:06x}  {}", instruction.address, line);
      alike = 0;
    }
    ++alike;
  }
  flush();
}

void TextReport::tuning() {
  for (const Tuning &tuning : report_.tuning) {
    append("\ntuned {} {}, {} {}{}{}\n", tuning.kernel, tuning.key, tuning.device, tuning.ranking,
           tuning.caches.empty() ? "" : ", caches ", tuning.caches);
    for (const TunedConfig &config : tuning.configs)
      append("  {}{} {}\n", config.winner ? "* " : "  ",
             config.figure ? fmt::format("{:>9.3f} {}", *config.figure, tuning.unit) : " rejected",
             config.figure ? config.config : config.config + ": " + config.rejected);
  }
}

/// Each line with the user's line behind it.
void TextReport::ir(std::string_view title, const std::vector<IrLine> &lines) {
  if (lines.empty())
    return;
  append("\n{}\n", title);
  for (const IrLine &line : lines)
    if (line.place.known())
      append("{:<90}  ; {}\n", line.text, place(line.place));
    else
      append("{}\n", line.text);
}

std::string TextReport::notes_of(const Instruction &instruction) const {
  std::string text = place(instruction.place);
  const auto add = [&text](const std::string &more) { text += (text.empty() ? "" : "  ") + more; };
  if (instruction.executed > 0) {
    if (const double stalls = instruction.stall_clocks(); stalls >= 0.5) {
      const auto most = std::max_element(instruction.stalls.begin(), instruction.stalls.end(),
                                         [](const auto &a, const auto &b) { return a.second < b.second; });
      add(fmt::format("waits {:.0f} clocks: {}", stalls, most->first));
    }
  }
  return text;
}

void TextReport::code() {
  append("\n{}:   (live registers: v vector, a accumulation, s scalar; | the hot loop)\n", report_.kernel);
  const Loop *hot = report_.hot_loop < 0 ? nullptr : &report_.loops[static_cast<size_t>(report_.hot_loop)];
  for (size_t i = 0; i < report_.code.size(); ++i) {
    const Instruction &instruction = report_.code[i];
    const bool in_loop = hot && i >= hot->first && i <= hot->last;
    std::string line =
        fmt::format("{} {:06x}  v{:<3} a{:<3} s{:<3}  {:<56}", in_loop ? '|' : ' ', instruction.address,
                    instruction.live_vgpr, instruction.live_agpr, instruction.live_sgpr, instruction.text);
    const std::string notes = notes_of(instruction);
    if (notes.empty())
      line.erase(line.find_last_not_of(' ') + 1);
    else
      line += "  ; " + notes;
    append("{}\n", line);
  }
}

/// A number without needless digits.
std::string short_number(double value) {
  return value == static_cast<double>(static_cast<int64_t>(value)) ? fmt::format("{:.0f}", value)
                                                                   : fmt::format("{:.2f}", value);
}

} // namespace

std::string to_text(const Report &report) { return TextReport(report).run(); }

std::string to_text(const Comparison &comparison) {
  const Report &a = comparison.a, &b = comparison.b;
  std::string out = fmt::format("a: {} {}\nb: {} {}\n", a.kernel, a.config, b.kernel, b.config);
  std::string group;
  for (const Figure &figure : comparison.figures) {
    if (figure.group != group)
      out += fmt::format("\n{:<26} {:>14} {:>14} {:>9}\n", figure.group, "a", "b", "b / a");
    group = figure.group;
    const std::string name = figure.unit.empty() ? figure.name : figure.name + ", " + figure.unit;
    out += fmt::format("  {:<24} {:>14} {:>14} {:>9}\n", name, short_number(figure.a), short_number(figure.b),
                       figure.a == figure.b ? ""
                       : figure.a > 0       ? fmt::format("{:.3f}", figure.b / figure.a)
                                            : "new");
  }
  out += "\ncode: - only in a, + only in b\n";
  for (const CodeLine &line : comparison.code) {
    const bool both = line.a >= 0 && line.b >= 0;
    const Instruction &shown =
        line.a >= 0 ? a.code[static_cast<size_t>(line.a)] : b.code[static_cast<size_t>(line.b)];
    out += fmt::format("{} {:06x}  {}\n", both ? ' ' : line.a >= 0 ? '-' : '+', shown.address, shown.text);
  }
  return out;
}

} // namespace nereid::inspect
