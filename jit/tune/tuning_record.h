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

/// The record that wins, or null when none has a figure. Only figures of the ranking that says most compare:
/// device time, then simulated time, then an estimate, then what was imported; a ranking of the user's own
/// goes before. Of those within tie_factor of the best figure, the one with the fewest launches wins; of
/// these with the fewest vector registers, then with the least LDS; then the config that is first in natural
/// order. So the winner depends neither on the order of the records nor on noise below a tie.
const TuningRecord *winner_of(std::span<const TuningRecord *const> records);

/// Of two records of one key and config the one to keep: `later` when the code or the ranking differs, else a
/// rejection before a figure (a config that was wrong once is wrong), the smaller figure, the reason that
/// is first in order.
const TuningRecord &kept_of(const TuningRecord &earlier, const TuningRecord &later);

/// Rounded to the six significant digits that tables keep, so that a stored figure ranks like a fresh one.
double rounded_figure(double figure);

} // namespace nereid
