// What tuning found, as text and as JSON.
#include "jit/tune/report.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "jit/compile/resources_json.h"
#include "jit/json_text.h"
#include "llvm/Support/JSON.h"

namespace nereid {
namespace {

using jit::json_string;

llvm::json::Value text_or_null(const std::string &bytes) {
  return bytes.empty() ? llvm::json::Value(nullptr) : json_string(bytes);
}

llvm::json::Object json_of(const TuneOutcome &outcome, std::span<const TuneOutcome> candidates) {
  llvm::json::Array kernels;
  for (const auto &kernel : outcome.kernels)
    kernels.push_back(llvm::json::Object{{"kernel", json_string(kernel->name())},
                                         {"resources", jit::resources_json(kernel->resources())}});
  llvm::json::Array launches;
  for (const LaunchInfo &launch : outcome.launches) {
    llvm::json::Object object{{"kernel", json_string(launch.kernel())},
                              {"grid", llvm::json::Array{launch.grid.x, launch.grid.y, launch.grid.z}}};
    if (launch.instructions) {
      object["instructions"] = static_cast<int64_t>(launch.instructions->total);
      object["longest_wave"] = static_cast<int64_t>(launch.instructions->longest_wave);
    }
    if (launch.time) {
      object["us"] = rounded_figure(launch.time->us);
      object["limit"] = launch.time->limit;
    }
    launches.push_back(std::move(object));
  }
  const TuningRecord &record = outcome.record;
  return llvm::json::Object{
      {"config", json_string(record.config)},
      {"figure", record.figure ? llvm::json::Value(*record.figure) : llvm::json::Value(nullptr)},
      {"rejected", text_or_null(record.rejected)},
      {"same_code_as", outcome.same_code_as ? json_string(candidates[*outcome.same_code_as].record.config)
                                            : llvm::json::Value(nullptr)},
      {"stored", outcome.stored},
      {"kernels", std::move(kernels)},
      {"launches", std::move(launches)}};
}

} // namespace

std::string TuneReport::winning_config() const {
  return winner ? candidates[*winner].record.config : std::string();
}

Result<std::string> TuneReport::winner_or_reasons() const {
  if (winner)
    return winning_config();
  std::string why = text();
  why.erase(why.find_last_not_of('\n') + 1);
  return user_error(fmt::format("no candidate of '{}' for {} is right:\n{}", kernel, key, why),
                    "Add configs, or check the reference");
}

std::string TuneReport::text() const {
  std::string text =
      fmt::format("{} for {} on {}{}\n", kernel, key, device,
                  ranking.empty()  ? std::string()
                  : caches.empty() ? fmt::format(": {} in {}", ranking, unit)
                                   : fmt::format(": {} with {} caches in {}", ranking, caches, unit));
  size_t width = 0;
  for (const TuneOutcome &candidate : candidates)
    width = candidate.untried ? width : std::max(width, candidate.record.config.size());
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto place = [&](size_t i) {
      return candidates[i].record.figure.value_or(std::numeric_limits<double>::infinity());
    };
    return place(a) < place(b);
  });
  size_t untried = 0;
  for (const size_t i : order) {
    if (candidates[i].untried) {
      ++untried;
      continue;
    }
    const TuningRecord &record = candidates[i].record;
    const std::string result = record.figure             ? fmt::format("{}", *record.figure)
                               : record.rejected.empty() ? std::string("taken")
                                                         : "rejected: " + record.rejected;
    const std::optional<size_t> same = candidates[i].same_code_as;
    text += fmt::format("{} {:<{}}  {}{}{}\n", winner == i ? "*" : " ", record.config, width, result,
                        candidates[i].stored ? " (stored)" : "",
                        same ? fmt::format(" (the same code as {})", candidates[*same].record.config) : "");
  }
  if (untried)
    text += fmt::format("  {} more not tried: mode off takes the first\n", untried);
  if (winner && winner != order.front() && candidates[order.front()].record.figure)
    text +=
        fmt::format("figures within {:.0f} % of the best are a tie: then the fewest launches win, the fewest "
                    "registers, the least LDS, the first config in natural order\n",
                    100 * (tie_factor - 1));
  return text;
}

std::string TuneReport::json() const {
  llvm::json::Array all;
  for (const TuneOutcome &candidate : candidates)
    all.push_back(json_of(candidate, candidates));
  const llvm::json::Value value = llvm::json::Object{{"kernel", json_string(kernel)},
                                                     {"key", json_string(key)},
                                                     {"device", json_string(device)},
                                                     {"ranking", text_or_null(ranking)},
                                                     {"caches", text_or_null(caches)},
                                                     {"unit", text_or_null(unit)},
                                                     {"winner", text_or_null(winning_config())},
                                                     {"candidates", std::move(all)}};
  return jit::json_text(value);
}

} // namespace nereid
