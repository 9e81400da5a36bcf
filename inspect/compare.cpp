// Two reports side by side: figures, and instructions aligned by a longest common subsequence.
#include "inspect/compare.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

namespace nereid::inspect {
namespace {

/// Instructions of both codes beyond which their product is too large to align; the rest is paired in order.
constexpr size_t most_aligned = 6000;

std::string_view operation_of(const Instruction &instruction) {
  const std::string_view text = instruction.text;
  return text.substr(0, text.find(' '));
}

/// Appends the alignment of a[first_a..end_a) and b[first_b..end_b).
void align(const std::vector<Instruction> &a, const std::vector<Instruction> &b,
           std::vector<CodeLine> &lines) {
  const size_t rows = std::min(a.size(), most_aligned), columns = std::min(b.size(), most_aligned);
  const auto same = [&](size_t i, size_t j) { return operation_of(a[i]) == operation_of(b[j]); };
  // length[i][j]: of the longest common subsequence of what begins at i and j.
  std::vector<uint16_t> length((rows + 1) * (columns + 1));
  const auto at = [&](size_t i, size_t j) -> uint16_t & { return length[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;)
    for (size_t j = columns; j-- > 0;)
      at(i, j) =
          same(i, j) ? static_cast<uint16_t>(at(i + 1, j + 1) + 1) : std::max(at(i + 1, j), at(i, j + 1));
  size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && same(i, j))
      lines.push_back({static_cast<int>(i++), static_cast<int>(j++)});
    else if (j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1)))
      lines.push_back({static_cast<int>(i++), -1});
    else
      lines.push_back({-1, static_cast<int>(j++)});
  }
  for (; i < a.size() || j < b.size(); ++i, ++j)
    lines.push_back({i < a.size() ? static_cast<int>(i) : -1, j < b.size() ? static_cast<int>(j) : -1});
}

/// Adds figures that one or both reports have under a name.
class Figures {
public:
  Figures(const Report &a, const Report &b, std::vector<Figure> &figures) : a_(a), b_(b), figures_(figures) {}

  template <class Value>
  void add(const char *group, const std::string &name, const char *unit, const Value &value) {
    figures_.push_back({group, name, unit, value(a_), value(b_)});
  }

private:
  const Report &a_, &b_;
  std::vector<Figure> &figures_;
};

const Loop *hot_loop(const Report &report) {
  return report.hot_loop < 0 ? nullptr : &report.loops[static_cast<size_t>(report.hot_loop)];
}

double bytes_of(const Report &report, const std::string &level) {
  if (report.run)
    for (const Traffic &traffic : report.run->traffic)
      if (traffic.level == level)
        return traffic.bytes;
  return 0;
}

/// Clocks that a wave waits for a reason.
double stall_of(const Report &report, const std::string &reason) {
  double sum = 0;
  for (const Instruction &instruction : report.code)
    if (const auto found = instruction.stalls.find(reason); found != instruction.stalls.end())
      sum += found->second;
  return sum;
}

} // namespace

Comparison compare(Report a, Report b) {
  Comparison comparison;
  Figures figures(a, b, comparison.figures);
  if (a.run && b.run) {
    figures.add("time", "simulated time", "us", [](const Report &r) { return r.run->us; });
    figures.add("time", "a workgroup", "clocks", [](const Report &r) { return r.run->cycles_per_workgroup; });
  }
  const auto resource = [&](const char *name, const char *unit, unsigned CodeResources::*member) {
    figures.add("resources", name, unit, [member](const Report &r) { return double(r.resources.*member); });
  };
  figures.add("resources", "occupancy", "waves a SIMD",
              [](const Report &r) { return double(r.occupancy.waves); });
  resource("vector registers", "", &CodeResources::vgpr);
  resource("accumulation registers", "", &CodeResources::agpr);
  resource("scalar registers", "", &CodeResources::sgpr);
  resource("LDS", "bytes", &CodeResources::lds);
  resource("scratch", "bytes", &CodeResources::scratch);
  resource("spills", "", &CodeResources::spills);
  figures.add("resources", "instructions", "", [](const Report &r) { return double(r.code.size()); });
  std::set<std::string> kinds, reasons, levels;
  for (const Report *report : {&a, &b}) {
    if (const Loop *loop = hot_loop(*report))
      for (const auto &[kind, count] : loop->mix)
        kinds.insert(kind);
    for (const Instruction &instruction : report->code)
      for (const auto &[reason, clocks] : instruction.stalls)
        reasons.insert(reason);
    if (report->run)
      for (const Traffic &traffic : report->run->traffic)
        levels.insert(traffic.level);
  }
  for (const std::string &kind : kinds)
    figures.add("hot loop", kind, "", [&](const Report &r) {
      const Loop *loop = hot_loop(r);
      const auto found = loop ? loop->mix.find(kind) : decltype(loop->mix.begin()){};
      return loop && found != loop->mix.end() ? double(found->second) : 0;
    });
  if (a.run && b.run) {
    for (const std::string &reason : reasons)
      figures.add("stalls", reason, "clocks a wave", [&](const Report &r) { return stall_of(r, reason); });
    for (const std::string &level : levels)
      figures.add("traffic", level, "bytes", [&](const Report &r) { return bytes_of(r, level); });
  }
  align(a.code, b.code, comparison.code);
  comparison.a = std::move(a);
  comparison.b = std::move(b);
  return comparison;
}

} // namespace nereid::inspect
