#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

/// What became of one config for one key: a line of a table.
struct TuningRecord {
  std::string key;    ///< of tuning_key()
  std::string config; ///< "block=1024,waves=4"
  /// Less is better; of configs whose results are right. Six significant digits.
  std::optional<double> figure;
  std::string unit;     ///< "us", "issue slots"
  std::string ranking;  ///< what the figure is: "device time", "simulated time", "estimate", "imported"
  std::string caches;   ///< of simulated times: what launches found there, "cold", "warm", "rotating"
  std::string identity; ///< hexadecimal digits that change with all that the ranking is
  std::string rejected; ///< why it may not win; empty when it may
  /// Hexadecimal digits that change with what was ranked: kernels, code generator, compiler, and what the
  /// ranking was. Empty where nothing compiled. A figure stands for code that has this identity.
  std::string code;
  unsigned launches = 0;
  unsigned occupancy = 0; ///< of its kernels the lowest: waves a SIMD
  unsigned vgpr = 0;      ///< of its kernels the most: vector registers a lane
  unsigned lds = 0;       ///< of its kernels the most: bytes a workgroup

  bool operator==(const TuningRecord &) const = default;
};

/// Figures within this factor of the best are a tie.
inline constexpr double tie_factor = 1.02;

/// The name of the ranking of what another library measured with kernels of its own.
inline constexpr std::string_view imported_ranking = "imported";

/// Whether figures of one ranking and state of the caches say more of a chip than those of another: device
/// time, then simulated time (with rotating caches, warm ones, cold ones), then an estimate, then what was
/// imported; a ranking of the user's own goes before all.
bool says_more(std::string_view ranking, std::string_view caches, std::string_view other_ranking,
               std::string_view other_caches);

/// The record that wins, or null when none has a figure. Only figures of one ranking, state of the caches and
/// identity compare, of those that say most. Of those within tie_factor of the best figure, the one with the
/// fewest launches wins; of these with the fewest vector registers, then with the least LDS; then the config
/// that is first in natural order. So the winner depends neither on the order of the records nor on noise
/// below a tie.
const TuningRecord *winner_of(std::span<const TuningRecord *const> records);

/// Of two records of one key and config the one to keep: that of the ranking that says more. Of one ranking a
/// figure goes before a rejection without a code, which need not hold; `later` when the code or the identity
/// differs; else a rejection before a figure, the smaller figure, the reason that is first in order.
const TuningRecord &kept_of(const TuningRecord &earlier, const TuningRecord &later);

/// Rounded to the six significant digits that tables keep, so that a stored figure ranks like a fresh one.
double rounded_figure(double figure);

} // namespace nereid
