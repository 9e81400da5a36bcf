// Which of several records wins, and which of two of the same config is kept.
#include "jit/tune/tuning_record.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

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

/// Whether figures of a's ranking go before those of b's.
bool says_more(const TuningRecord &a, const TuningRecord &b) {
  const auto place = [](const TuningRecord &r) { return std::tuple(-strength(r.ranking), r.ranking); };
  return place(a) < place(b);
}

/// Whether `a` wins a tie with `b`.
bool wins_tie(const TuningRecord &a, const TuningRecord &b) {
  const auto cost = [](const TuningRecord &r) { return std::tuple(r.launches, r.vgpr, r.lds); };
  return cost(a) != cost(b) ? cost(a) < cost(b) : natural_less(a.config, b.config);
}

} // namespace

const TuningRecord *winner_of(std::span<const TuningRecord *const> records) {
  const TuningRecord *best = nullptr;
  for (const TuningRecord *record : records)
    if (record->figure && (!best || says_more(*record, *best) ||
                           (record->ranking == best->ranking && *record->figure < *best->figure)))
      best = record;
  if (!best)
    return nullptr;
  const TuningRecord *winner = nullptr;
  for (const TuningRecord *record : records)
    if (record->figure && record->ranking == best->ranking && *record->figure <= *best->figure * tie_factor &&
        (!winner || wins_tie(*record, *winner)))
      winner = record;
  return winner;
}

const TuningRecord &kept_of(const TuningRecord &earlier, const TuningRecord &later) {
  if (earlier.code != later.code || earlier.ranking != later.ranking)
    return later;
  if (earlier.figure.has_value() != later.figure.has_value())
    return earlier.figure ? later : earlier;
  if (earlier.figure)
    return *earlier.figure < *later.figure ? earlier : later;
  return earlier.rejected < later.rejected ? earlier : later;
}

double rounded_figure(double figure) { return std::strtod(fmt::format("{:.6g}", figure).c_str(), nullptr); }

} // namespace nereid
