// How many registers of a lane a tile of a product takes.
#include "kernels/lane_registers.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/config_limits.h"

namespace nereid::kernels {
namespace {

int largest_power_of_two_in(int value) { return value & -value; }

/// A lane's 32-bit registers for its wave's part of an iteration: accumulators, and operands of 16 x 16
/// tiles. Waves share columns, then rows, as far as powers of two go; where an odd number is left they hold
/// the same tiles.
struct LaneRegisters {
  int accumulators, b, a;
  int raw_a; ///< bf16 that the wave quantises
  int parts; ///< waves that share the quantisation of the same rows
};

LaneRegisters lane_registers(bool fused, const TileConfig &config) {
  constexpr int k_of_dword = 32, k_of_raw_dword = 8, k_of_instruction = 128, k_of_scales = 256, max_k = 512;
  // An odd factor of K is that many blocks of whole instructions; a longer iteration is computed piece by
  // piece.
  const int block = largest_power_of_two_in(config.block_k);
  const int k = std::min(config.block_k / block * std::max(block, k_of_instruction), max_k);
  int rows = (config.block_m + instruction_rows - 1) / instruction_rows;
  int columns = config.block_n / instruction_rows;
  int copies = 1;
  if (config.wave_split != WaveSplit::K) {
    const int sharing_columns = std::min(config.waves, largest_power_of_two_in(columns));
    const int sharing_rows = std::min(config.waves / sharing_columns, largest_power_of_two_in(rows));
    columns /= sharing_columns;
    rows /= sharing_rows;
    copies = config.waves / sharing_rows;
  }
  LaneRegisters lane{rows * columns * 4, columns * k / k_of_dword, rows * k / k_of_dword, 0, 1};
  const int scale_dwords = columns % 2 == 0 ? columns / 2 : columns;
  lane.b += scale_dwords * std::max(1, k / k_of_scales);
  if (!fused)
    return lane;
  lane.parts = std::min(copies, largest_power_of_two_in(rows * std::max(1, k / k_of_instruction)));
  lane.raw_a = rows * k / k_of_raw_dword / lane.parts;
  return lane;
}

/// Whether a block of rows is enough for a copy of 16 bytes a lane to LDS: else each wave loads A for itself.
bool fills_copies(const TileConfig &config) {
  constexpr int bytes_of_wave = 1024;
  return largest_power_of_two_in(config.block_m) * config.block_k / 2 >= config.waves * bytes_of_wave;
}

} // namespace

// The budgets are what compiled without scratch over the product of tiles and waves: of 512 registers where
// a SIMD runs one wave, of 256 where it runs two, which keep less of A at a time.
Status check_lane(std::string_view kernel, bool fused, const TileConfig &config) {
  constexpr int max_accumulators = 256, budget_alone = 415, budget_in_pairs = 220, simds = 4;
  const LaneRegisters lane = lane_registers(fused, config);
  const int waves_of_simd = std::max(1, config.waves / simds);
  const bool shares = lane.parts > 1, in_pairs = waves_of_simd > 1;
  int of_a = in_pairs ? (lane.a + (shares ? lane.raw_a : 2 * lane.raw_a)) / 4
             : shares ? lane.a / 2
                      : lane.a + lane.raw_a / 2;
  if (!fused && !fills_copies(config))
    of_a = lane.a;
  const int needed = lane.accumulators + lane.b + of_a;
  const int budget = in_pairs ? 2 * budget_in_pairs / waves_of_simd : budget_alone;
  if (lane.accumulators <= max_accumulators / waves_of_simd && needed <= budget)
    return {};
  return user_error(
      fmt::format("{}: what a lane holds of a tile of block_m={}, block_n={} and block_k={} does "
                  "not fit the registers with waves={}",
                  kernel, config.block_m, config.block_n, config.block_k, config.waves));
}

} // namespace nereid::kernels
