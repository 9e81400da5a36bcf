// What is refused of the configs of several kernels.
#include "kernels/config_checks.h"

#include <bit>

#include <fmt/format.h>

#include "kernels/lane_registers.h"

namespace nereid::kernels {
namespace {

/// An instruction of 32 rows and columns fits tiles of 32 rows and columns. Those of B's scales come in
/// groups of 32 too.
Status check_instruction(std::string_view kernel, const TileConfig &config) {
  for (const auto &[key, size] : {KeyValue{"block_m", config.block_m}, {"block_n", config.block_n}})
    if (config.mfma == 32 && size % 32 != 0)
      return user_error(fmt::format("{}: mfma=32 does not fit {}={}", kernel, key, size));
  return {};
}

Status check_tile_fits(std::string_view kernel, const TileConfig &config, bool fused) {
  const KeyValue m{"block_m", config.block_m}, n{"block_n", config.block_n}, k{"block_k", config.block_k};
  const KeyValue values[] = {m, n, k, {"waves", config.waves}};
  NEREID_CHECK(check_values(kernel, values));
  NEREID_CHECK(check_instruction(kernel, config));
  NEREID_CHECK(check_lane(kernel, fused, config));
  // Codes are small.
  NEREID_CHECK(check_elements(kernel, m, k, config.waves, fused ? 512 : 2048));
  return check_elements(kernel, n, k, config.waves, 2048);
}

} // namespace

Status check_values(std::string_view kernel, std::span<const KeyValue> values) {
  for (const auto &[key, value] : values) {
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

Status check_elements(std::string_view kernel, const KeyValue &rows, const KeyValue &columns, int waves,
                      int64_t max_per_lane) {
  if (int64_t{rows.value} * columns.value <= max_per_lane * 64 * waves)
    return {};
  return user_error(fmt::format("{}: a tile of {}={} and {}={} does not fit the registers of {} waves",
                                kernel, rows.key, rows.value, columns.key, columns.value, waves));
}

Status check_rows(std::string_view kernel, int block_m, const MaybeSize &size) {
  if (!size || blocks(size->m, block_m) <= Grid::max_y_or_z)
    return {};
  const auto min_block = static_cast<uint64_t>(blocks(size->m, Grid::max_y_or_z));
  return user_error(
      fmt::format("{}: M={} in blocks of block_m={} are {} programs, a grid has at most {} in y "
                  "and z",
                  kernel, size->m, block_m, blocks(size->m, block_m), Grid::max_y_or_z),
      fmt::format("use block_m={}", std::bit_ceil(min_block)));
}

Status check_tile(std::string_view kernel, const TileConfig &config, const MaybeSize &size, bool fused) {
  static constexpr Key<TileConfig> keys[] = {{"block_m", &TileConfig::block_m},
                                             {"block_n", &TileConfig::block_n},
                                             {"block_k", &TileConfig::block_k},
                                             {"waves", &TileConfig::waves},
                                             {"mfma", &TileConfig::mfma}};
  NEREID_CHECK(check_rows(kernel, config.block_m, size));
  if (config.const_k && !size)
    return user_error(fmt::format("{}: const_k=1 needs a shape", kernel), "give --shape M,N,K");
  return with_nearest<TileConfig>(
      config, keys, [&](const TileConfig &tried) { return check_tile_fits(kernel, tried, fused); });
}

} // namespace nereid::kernels
