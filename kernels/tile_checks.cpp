#include "kernels/tile_checks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::kernels {
namespace {

constexpr int instruction_rows = 16;

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

/// What the value of a key must be a multiple of.
int unit_of(std::string_view key) { return key == "block_n" ? 16 : key == "block_k" ? 32 : 1; }

/// Blocks are powers of two or multiples of 16, counts of waves powers of two.
bool is_allowed(std::string_view key, int value) {
  return value % unit_of(key) == 0 &&
         (is_power_of_two(value) || (key != "waves" && value % instruction_rows == 0));
}

Status check_tile(std::string_view kernel, const ConfigValues &config,
                  const std::vector<std::string_view> &keys) {
  for (std::string_view key : keys) {
    const int value = config.get_or(key, unit_of(key));
    if (is_allowed(key, value))
      continue;
    const std::string what = fmt::format("{}: {}={}", kernel, key, value);
    if (value % unit_of(key) != 0)
      return user_error(fmt::format("{} is not a multiple of {}", what, unit_of(key)));
    if (key == "waves")
      return user_error(what + " is not a power of two");
    return user_error(
        fmt::format("{} is neither a power of two nor a multiple of {}", what, instruction_rows));
  }
  return {};
}

/// An instruction of 32 rows and columns fits tiles of 32 rows and columns. Those of B's scales come in
/// groups of 32 too.
Status check_instruction(std::string_view kernel, const ConfigValues &config) {
  if (config.get_or("mfma", 16) == 16)
    return {};
  for (std::string_view key : {"block_m", "block_n"})
    if (const std::optional<int> size = config.get(key); size && *size % 32 != 0)
      return user_error(fmt::format("{}: mfma=32 does not fit {}={}", kernel, key, *size));
  return {};
}

/// A tile of `elements` on `waves` waves. Beyond this the registers of a lane cannot hold it, and the
/// compiler would spend minutes on code that only spills.
Status check_registers(std::string_view kernel, const ConfigValues &config, std::string_view rows,
                       std::string_view columns, int64_t most_per_lane) {
  const int waves = *config.get("waves");
  const int64_t elements = int64_t{*config.get(rows)} * *config.get(columns);
  if (elements > most_per_lane * 64 * waves)
    return user_error(fmt::format("{}: a tile of {}={} and {}={} does not fit the registers of {} waves",
                                  kernel, rows, *config.get(rows), columns, *config.get(columns), waves));
  return {};
}

int largest_power_of_two_in(int value) { return value & -value; }

/// A lane's 32-bit registers for its wave's part of a round: sums, and operands of 16 x 16 tiles. Waves share
/// columns, then rows, as far as powers of two go; where an odd number is left they hold the same tiles.
struct LaneRegisters {
  int sums, b, a;
  int raw_a; ///< bf16 that the wave quantises
  int parts; ///< waves that share the quantisation of the same rows
};

LaneRegisters lane_registers(bool fused, const ConfigValues &config) {
  constexpr int k_of_dword = 32, k_of_raw_dword = 8, k_of_instruction = 128, k_of_scales = 256, most_k = 512;
  // An odd factor of K is that many blocks of whole instructions; a longer round is computed piece by piece.
  const int waves = *config.get("waves"), whole_k = *config.get("block_k");
  const int block = largest_power_of_two_in(whole_k);
  const int k = std::min(whole_k / block * std::max(block, k_of_instruction), most_k);
  int rows = (*config.get("block_m") + instruction_rows - 1) / instruction_rows;
  int columns = *config.get("block_n") / instruction_rows;
  int copies = 1;
  if (config.get_or("wave_split", 0) != static_cast<int>(WaveSplit::K)) {
    const int sharing_columns = std::min(waves, largest_power_of_two_in(columns));
    const int sharing_rows = std::min(waves / sharing_columns, largest_power_of_two_in(rows));
    columns /= sharing_columns;
    rows /= sharing_rows;
    copies = waves / sharing_rows;
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
bool fills_copies(const ConfigValues &config) {
  constexpr int bytes_of_wave = 1024;
  return largest_power_of_two_in(*config.get("block_m")) * *config.get("block_k") / 2 >=
         *config.get("waves") * bytes_of_wave;
}

/// The budgets are what compiled without scratch over the product of tiles and waves: of 512 registers where
/// a SIMD runs one wave, of 256 where it runs two, which keep less of A at a time.
Status check_lane(std::string_view kernel, bool fused, const ConfigValues &config) {
  constexpr int most_sums = 256, budget_alone = 415, budget_in_pairs = 220, simds = 4;
  const LaneRegisters lane = lane_registers(fused, config);
  const int waves_of_simd = std::max(1, *config.get("waves") / simds);
  const bool shares = lane.parts > 1, in_pairs = waves_of_simd > 1;
  int of_a = in_pairs ? (lane.a + (shares ? lane.raw_a : 2 * lane.raw_a)) / 4
             : shares ? lane.a / 2
                      : lane.a + lane.raw_a / 2;
  if (!fused && !fills_copies(config))
    of_a = lane.a;
  const int needed = lane.sums + lane.b + of_a;
  const int budget = in_pairs ? 2 * budget_in_pairs / waves_of_simd : budget_alone;
  if (lane.sums <= most_sums / waves_of_simd && needed <= budget)
    return {};
  return user_error(fmt::format(
      "{}: what a lane holds of a tile of block_m={}, block_n={} and block_k={} does "
      "not fit the registers with waves={}",
      kernel, *config.get("block_m"), *config.get("block_n"), *config.get("block_k"), *config.get("waves")));
}

/// Values that a key may have.
std::vector<int> allowed_values(std::string_view key) {
  constexpr int most_waves = 16, most_rows = 1024;
  if (key == "mfma")
    return {16, 32};
  std::vector<int> values;
  for (int value = 1; value <= (key == "waves" ? most_waves : most_rows); ++value)
    if (is_allowed(key, value))
      values.push_back(value);
  return values;
}

/// How far a value is from another: their ratio.
double distance(int a, int b) { return std::abs(std::log2(a) - std::log2(b)); }

using Check = std::function<Status(const ConfigValues &)>;

/// The remedy of a config that `check` refuses: the nearest that it takes. Values that are not allowed become
/// the nearest that are; then one key is changed, or two.
std::string nearest_that_fits(const ConfigValues &config, const std::vector<std::string_view> &keys,
                              const Check &check) {
  const auto far_from = [](int value) {
    return [value](int a, int b) { return distance(a, value) < distance(b, value); };
  };
  ConfigValues allowed = config;
  for (std::string_view key : keys)
    if (const int value = *config.get(key); key != "mfma" && !is_allowed(key, value)) {
      const std::vector<int> values = allowed_values(key);
      allowed.set(key, *std::min_element(values.begin(), values.end(), far_from(value)));
    }
  struct Found {
    ConfigValues config;
    double distance;
  };
  std::optional<Found> best;
  const auto consider = [&](const ConfigValues &changed, double far) {
    if ((!best || far < best->distance) && check(changed))
      best = Found{changed, far};
  };
  const auto change = [](const ConfigValues &from, std::string_view key, const auto &use) {
    for (int value : allowed_values(key)) {
      ConfigValues changed = from;
      changed.set(key, value);
      use(changed, distance(value, *from.get(key)));
    }
  };
  consider(allowed, 0);
  if (!best)
    for (std::string_view key : keys)
      change(allowed, key, consider);
  if (!best)
    for (size_t i = 0; i < keys.size(); ++i)
      for (size_t j = i + 1; j < keys.size(); ++j)
        change(allowed, keys[i], [&](const ConfigValues &half, double far) {
          change(half, keys[j], [&](const ConfigValues &whole, double more) { consider(whole, far + more); });
        });
  if (!best)
    return "leave the blocks out: the library chooses them";
  std::vector<std::string> changes;
  for (std::string_view key : keys)
    if (best->config.get(key) != config.get(key))
      changes.push_back(fmt::format("{}={}", key, *best->config.get(key)));
  return fmt::format("use {}", fmt::join(changes, ","));
}

/// The config, if `check` takes it; else its error, with the nearest that it takes.
Result<ConfigValues> checked(ConfigValues config, const std::vector<std::string_view> &keys,
                             const Check &check) {
  Status status = check(config);
  if (status)
    return config;
  Error error = status.error();
  error.remedy = nearest_that_fits(config, keys, check);
  return error;
}

Status check_gemm(std::string_view kernel, bool fused, const ConfigValues &config) {
  if (Status status = check_tile(kernel, config, {"block_m", "block_n", "block_k", "waves"}); !status)
    return status;
  if (Status status = check_instruction(kernel, config); !status)
    return status;
  if (Status status = check_lane(kernel, fused, config); !status)
    return status;
  // Codes are small.
  for (const auto &[rows, columns, most] :
       {std::tuple("block_m", "block_k", fused ? 512 : 2048), {"block_n", "block_k", 2048}})
    if (Status status = check_registers(kernel, config, rows, columns, most); !status)
      return status;
  return {};
}

} // namespace

Result<ConfigValues> checked_quant(const ConfigValues &config) {
  return checked(config, {"block_m", "block_k", "waves"}, [](const ConfigValues &tried) -> Status {
    if (Status status = check_tile("mxfp4_quant", tried, {"block_m", "block_k", "waves"}); !status)
      return status;
    return check_registers("mxfp4_quant", tried, "block_m", "block_k", 512);
  });
}

Result<ConfigValues> checked_gemm(std::string_view kernel, bool fused, const ConfigValues &config) {
  return checked(config, {"block_m", "block_n", "block_k", "waves", "mfma"},
                 [kernel, fused](const ConfigValues &tried) { return check_gemm(kernel, fused, tried); });
}

Result<ConfigValues> checked_reduce(const ConfigValues &config) {
  return checked(config, {"block_m", "block_n", "waves"}, [](const ConfigValues &tried) -> Status {
    if (Status status = check_tile("splitk_reduce", tried, {"block_m", "block_n", "waves"}); !status)
      return status;
    return check_registers("splitk_reduce", tried, "block_m", "block_n", 256);
  });
}

} // namespace nereid::kernels
