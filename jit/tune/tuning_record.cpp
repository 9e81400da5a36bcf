// Which of several records wins, and which of two of the same config is kept.
#include "jit/tune/tuning_record.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include "jit/device/device.h"
#include "jit/tune/tuning_key.h"

namespace nereid {
namespace {

/// More says more of what a config takes on a chip. 4: a ranking of the user's own.
int strength(std::string_view ranking) {
  constexpr std::string_view weak_to_strong[] = {imported_ranking, "estimate", "simulated time",
                                                 "device time"};
  const auto *found = std::find(std::begin(weak_to_strong), std::end(weak_to_strong), ranking);
  return static_cast<int>(found - std::begin(weak_to_strong));
}

/// More is nearer to how a product is called in a model: other operands each time.
int strength_of_caches(std::string_view caches) {
  const auto *found = std::find(sim::cache_state_names.begin(), sim::cache_state_names.end(), caches);
  return found == sim::cache_state_names.end() ? -1
                                               : static_cast<int>(found - sim::cache_state_names.begin());
}

bool says_more(const TuningRecord &a, const TuningRecord &b) {
  return nereid::says_more(a.ranking, a.caches, b.ranking, b.caches);
}

/// Whether the figures of two records compare.
bool compare(const TuningRecord &a, const TuningRecord &b) {
  return a.ranking == b.ranking && a.caches == b.caches && a.identity == b.identity;
}

/// Whether a's figures are looked at before b's, which do not compare with them.
bool goes_before(const TuningRecord &a, const TuningRecord &b) {
  return says_more(a, b) || (!says_more(b, a) && a.identity < b.identity);
}

/// A rejection that need not hold another time.
bool is_weak(const TuningRecord &record) { return !record.figure && record.code.empty(); }

/// Whether `a` wins a tie with `b`.
bool wins_tie(const TuningRecord &a, const TuningRecord &b) {
  const auto cost = [](const TuningRecord &r) { return std::tuple(r.launches, r.vgpr, r.lds); };
  return cost(a) != cost(b) ? cost(a) < cost(b) : natural_less(a.config, b.config);
}

} // namespace

bool says_more(std::string_view ranking, std::string_view caches, std::string_view other_ranking,
               std::string_view other_caches) {
  const auto place = [](std::string_view name, std::string_view state) {
    return std::tuple(-strength(name), name, -strength_of_caches(state), state);
  };
  return place(ranking, caches) < place(other_ranking, other_caches);
}

const TuningRecord *winner_of(std::span<const TuningRecord *const> records) {
  const TuningRecord *best = nullptr;
  for (const TuningRecord *record : records)
    if (record->figure &&
        (!best || (compare(*record, *best) ? *record->figure < *best->figure : goes_before(*record, *best))))
      best = record;
  if (!best)
    return nullptr;
  const TuningRecord *winner = nullptr;
  for (const TuningRecord *record : records)
    if (record->figure && compare(*record, *best) && *record->figure <= *best->figure * tie_factor &&
        (!winner || wins_tie(*record, *winner)))
      winner = record;
  return winner;
}

const TuningRecord &kept_of(const TuningRecord &earlier, const TuningRecord &later) {
  if (says_more(earlier, later) || says_more(later, earlier))
    return says_more(earlier, later) ? earlier : later;
  if (is_weak(earlier) != is_weak(later) && earlier.figure.has_value() != later.figure.has_value())
    return earlier.figure ? earlier : later;
  if (earlier.code != later.code || earlier.identity != later.identity)
    return later;
  if (earlier.figure.has_value() != later.figure.has_value())
    return earlier.figure ? later : earlier;
  if (earlier.figure)
    return *earlier.figure < *later.figure ? earlier : later;
  return earlier.rejected < later.rejected ? earlier : later;
}

double rounded_figure(double figure) { return std::strtod(fmt::format("{:.6g}", figure).c_str(), nullptr); }

} // namespace nereid
