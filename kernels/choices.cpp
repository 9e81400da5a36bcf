#include "kernels/choices.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "jit/device/launch.h"
#include "kernels/tile_checks.h"

namespace nereid::kernels {
namespace {

constexpr std::array<std::string_view, 5> path_names = {"auto", "fused", "atomic", "workspace", "staged"};

struct Block {
  int rows, columns;
};

/// By the registers that a tile's sums take.
int waves_of(const Block &block) { return block.rows * block.columns >= 256 * 256 ? 8 : 4; }

/// The largest tile that leaves a program for each of the chip's 256 compute units, where M and N are large
/// enough for one; what the caller gives is kept.
std::optional<Block> large_block(const ProblemSize &shape, const ConfigValues &given) {
  constexpr int64_t compute_units = 256;
  for (const Block &block : {Block{256, 256}, {128, 256}, {128, 128}}) {
    const bool fits = given.get_or("block_m", block.rows) == block.rows &&
                      given.get_or("block_n", block.columns) == block.columns &&
                      given.get_or("block_k", 256) <= 256 && shape.m >= block.rows &&
                      shape.n >= block.columns && given.get_or("waves", waves_of(block)) >= waves_of(block);
    if (fits && blocks(shape.m, block.rows) * blocks(shape.n, block.columns) >= compute_units)
      return block;
  }
  return std::nullopt;
}

void set_missing(ConfigValues &config, std::string_view key, int value) {
  if (!config.get(key))
    config.set(key, value);
}

GemmPath automatic_path(const ProblemSize &shape) {
  if (shape.k <= 512)
    return GemmPath::Fused;
  if (shape.m <= 16 && shape.k >= 2048)
    return GemmPath::Workspace;
  return shape.m <= 32 ? GemmPath::Atomic : GemmPath::Staged;
}

/// Blocks of rows go into y or z of a grid.
Status check_rows(std::string_view kernel, const ConfigValues &config,
                  const std::optional<ProblemSize> &shape) {
  const int block_m = *config.get("block_m");
  if (!shape || blocks(shape->m, block_m) <= Grid::max_y_or_z)
    return {};
  const auto least = static_cast<uint64_t>(blocks(shape->m, Grid::max_y_or_z));
  return user_error(
      fmt::format("{}: M={} in blocks of block_m={} are {} programs, a grid has at most {} in y "
                  "and z",
                  kernel, shape->m, block_m, blocks(shape->m, block_m), Grid::max_y_or_z),
      fmt::format("use block_m={}", std::bit_ceil(least)));
}

/// The path that Auto takes when the config says how to reduce.
GemmPath path_for(GemmPath chosen, const ConfigValues &given) {
  if (chosen == GemmPath::Staged)
    return chosen;
  if (const std::optional<int> reduce = given.get("reduce"))
    switch (static_cast<Reduce>(*reduce)) {
    case Reduce::None:
      return GemmPath::Fused;
    case Reduce::Atomic:
      return GemmPath::Atomic;
    case Reduce::Workspace:
    case Reduce::LastArrival:
      return GemmPath::Workspace;
    }
  if (chosen == GemmPath::Fused && given.get_or("split_k", 1) > 1)
    return GemmPath::Workspace;
  return chosen;
}

Error contradiction(GemmPath path, std::string_view key, const ConfigValues &given) {
  return user_error(fmt::format("--config {} contradicts --path {}",
                                ConfigValues{{std::string(key), *given.get(key)}}.text(), name_of(path)),
                    "drop one of the two");
}

} // namespace

const std::vector<std::string_view> &quant_keys() {
  static const std::vector<std::string_view> keys = {"block_m", "block_k", "waves",    "waves_per_eu",
                                                     "stages",  "mfma",    "shuffled", "path"};
  return keys;
}

const std::vector<std::string_view> &gemm_keys() {
  static const std::vector<std::string_view> keys = {"block_m", "block_n", "block_k",   "split_k",
                                                     "waves",   "stages",  "mfma",      "waves_per_eu",
                                                     "reduce",  "const_k", "wave_split"};
  return keys;
}

const std::vector<std::string_view> &batched_keys() {
  static const std::vector<std::string_view> keys = {
      "block_m", "block_n", "block_k", "waves", "stages", "mfma", "waves_per_eu", "const_k", "wave_split"};
  return keys;
}

const std::vector<std::string_view> &grouped_keys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> all = batched_keys();
    all.push_back("experts");
    return all;
  }();
  return keys;
}

const std::vector<std::string_view> &reduce_keys() {
  static const std::vector<std::string_view> keys = {"block_m", "block_n", "split_k",     "waves",
                                                     "stages",  "mfma",    "waves_per_eu"};
  return keys;
}

Result<ConfigValues> complete_quant(const ConfigValues &given, const std::optional<ProblemSize> &shape) {
  if (Status status = given.only("mxfp4_quant", quant_keys()); !status)
    return status.error();
  ConfigValues config = given;
  set_missing(config, "block_m", shape && shape->m <= 16 ? 16 : 32);
  if (Status status = check_rows("mxfp4_quant", config, shape); !status)
    return status.error();
  set_missing(config, "block_k", 256);
  // A wave quantises 8192 values at a time.
  const int values = *config.get("block_m") * *config.get("block_k");
  set_missing(config, "waves", std::clamp(static_cast<int>(std::bit_floor(values / 8192u)), 1, 4));
  set_missing(config, "waves_per_eu", 0);
  set_missing(config, "stages", 1);
  set_missing(config, "mfma", 16);
  set_missing(config, "shuffled", 0);
  set_missing(config, "path", static_cast<int>(QuantPath::Hardware));
  return checked_quant(config);
}

/// All keys of a product: what is given, checked, and the library's choice for the rest.
static Result<ConfigValues> complete_product(std::string_view kernel, bool fused, const ConfigValues &given,
                                             const std::optional<ProblemSize> &shape) {
  ConfigValues config = given;
  const int64_t m = shape ? shape->m : 16;
  const int most_rows = fused ? 32 : 64;
  int block_m = given.get_or("mfma", 16);
  while (block_m < m && block_m < most_rows)
    block_m *= 2;
  if (const std::optional<Block> large = fused || !shape ? std::nullopt : large_block(*shape, given)) {
    block_m = large->rows;
    set_missing(config, "block_n", large->columns);
  }
  set_missing(config, "block_m", block_m);
  block_m = *config.get("block_m");
  if (Status status = check_rows(kernel, config, shape); !status)
    return status.error();
  set_missing(config, "split_k", 1);
  const bool is_split = *config.get("split_k") > 1;
  set_missing(config, "block_n", fused ? (block_m <= 16 && !is_split ? 32 : 64) : 128);
  set_missing(config, "block_k", 256);
  set_missing(config, "waves", waves_of({block_m, *config.get("block_n")}));
  // Small tiles have registers left for loads that are further ahead.
  const int sums = block_m * *config.get("block_n");
  set_missing(config, "stages", fused ? 2 : sums <= 96 * 128 ? 4 : sums <= 128 * 128 ? 3 : 2);
  set_missing(config, "mfma", 16);
  set_missing(config, "waves_per_eu", 0);
  set_missing(config, "reduce", static_cast<int>(is_split ? Reduce::Workspace : Reduce::None));
  set_missing(config, "const_k", 0);
  set_missing(config, "wave_split", static_cast<int>(WaveSplit::Auto));
  if (is_split && *config.get("reduce") == static_cast<int>(Reduce::None))
    return user_error(fmt::format("{}: split_k={} needs a way to reduce", kernel, *config.get("split_k")),
                      "use reduce=atomic, workspace or last_arrival");
  if (*config.get("const_k") == 1 && !shape)
    return user_error(fmt::format("{}: const_k=1 needs a shape", kernel), "give --shape M,N,K");
  return checked_gemm(kernel, fused, config);
}

/// The same for the keys that the kernel has.
static Result<ConfigValues> complete_product(std::string_view kernel, bool fused,
                                             const std::vector<std::string_view> &keys,
                                             const ConfigValues &given,
                                             const std::optional<ProblemSize> &shape) {
  if (Status status = given.only(kernel, keys); !status)
    return status.error();
  const Result<ConfigValues> product = complete_product(kernel, fused, given, shape);
  if (!product)
    return product.error();
  ConfigValues config;
  for (std::string_view key : keys)
    config.set(key, *product->get(key));
  return config;
}

Result<ConfigValues> complete_gemm(bool fused, const ConfigValues &given,
                                   const std::optional<ProblemSize> &shape) {
  return complete_product(fused ? "mxfp4_gemm_fused" : "mxfp4_gemm", fused, gemm_keys(), given, shape);
}

Result<ConfigValues> complete_batched(const ConfigValues &given, const std::optional<ProblemSize> &shape) {
  return complete_product("mxfp4_batched_gemm", /*fused=*/true, batched_keys(), given, shape);
}

Result<ConfigValues> complete_grouped(const ConfigValues &given, const std::optional<ProblemSize> &shape) {
  ConfigValues config = given;
  set_missing(config, "experts", 8);
  std::optional<ProblemSize> of_expert = shape;
  if (shape)
    of_expert->m = blocks(shape->m, *config.get("experts"));
  return complete_product("mxfp4_grouped_gemm", /*fused=*/true, grouped_keys(), config, of_expert);
}

Result<ConfigValues> complete_reduce(const ConfigValues &given, const std::optional<ProblemSize> &shape) {
  if (Status status = given.only("splitk_reduce", reduce_keys()); !status)
    return status.error();
  ConfigValues config = given;
  const bool tall = shape && blocks(shape->m, 16) > Grid::max_y_or_z;
  set_missing(config, "block_m", shape && shape->m < 16 ? 4 : tall ? 32 : 16);
  if (Status status = check_rows("splitk_reduce", config, shape); !status)
    return status.error();
  set_missing(config, "block_n", 128);
  set_missing(config, "split_k", 8);
  set_missing(config, "waves", 4);
  set_missing(config, "stages", 1);
  set_missing(config, "mfma", 16);
  set_missing(config, "waves_per_eu", 0);
  return checked_reduce(config);
}

std::string_view name_of(GemmPath path) { return path_names.at(static_cast<size_t>(path)); }

Result<GemmPath> path_named(std::string_view name) {
  const auto found = std::find(path_names.begin(), path_names.end(), name);
  if (found == path_names.end())
    return user_error(fmt::format("there is no path '{}'", name),
                      "paths: auto, fused, atomic, workspace, staged");
  return static_cast<GemmPath>(found - path_names.begin());
}

Status check_shape(const ProblemSize &shape, bool has_n) {
  if (shape.m <= 0 || (has_n && shape.n <= 0) || shape.k <= 0)
    return user_error(fmt::format("the shape {} has a dimension that is not positive", shape.text()));
  if (shape.k % 32 != 0)
    return user_error(fmt::format("K = {} is not a multiple of 32", shape.k),
                      "pad K with zeros to the next multiple of 32");
  if (shape.n % 16 != 0)
    return user_error(fmt::format("N = {} is not a multiple of 16", shape.n),
                      "pad B with zero rows to the next multiple of 16");
  // Offsets within a tile are 32 bits wide.
  constexpr int64_t most_rows = int64_t{1} << 20;
  constexpr int64_t widest = int64_t{1} << 21;
  if (shape.m > most_rows || shape.n > widest || shape.k > widest)
    return user_error(
        fmt::format("the shape {} is too large: M is at most 2^20, N and K 2^21", shape.text()));
  return {};
}

Result<GemmPlan> plan_gemm(GemmPath path, const ConfigValues &given, const ProblemSize &shape) {
  if (Status status = check_shape(shape); !status)
    return status.error();
  const bool automatic = path == GemmPath::Auto;
  if (automatic)
    path = path_for(automatic_path(shape), given);

  ConfigValues wanted = given;
  const std::optional<int> reduce = given.get("reduce");
  switch (path) {
  case GemmPath::Auto:
  case GemmPath::Staged:
    break;
  case GemmPath::Fused:
    if (!automatic && given.get_or("split_k", 1) != 1)
      return contradiction(path, "split_k", given);
    if (reduce && *reduce != static_cast<int>(Reduce::None))
      return contradiction(path, "reduce", given);
    break;
  case GemmPath::Atomic:
    if (reduce && *reduce != static_cast<int>(Reduce::Atomic))
      return contradiction(path, "reduce", given);
    wanted.set("reduce", static_cast<int>(Reduce::Atomic));
    break;
  case GemmPath::Workspace:
    if (reduce && *reduce != static_cast<int>(Reduce::Workspace) &&
        *reduce != static_cast<int>(Reduce::LastArrival))
      return contradiction(path, "reduce", given);
    if (!reduce)
      wanted.set("reduce", static_cast<int>(Reduce::Workspace));
    break;
  }
  if (path == GemmPath::Atomic || path == GemmPath::Workspace)
    set_missing(wanted, "split_k",
                static_cast<int>(std::min<int64_t>(8, blocks(shape.k, given.get_or("block_k", 256)))));

  Result<ConfigValues> gemm = complete_gemm(path != GemmPath::Staged, wanted, shape);
  if (!gemm)
    return gemm.error();
  return GemmPlan{path, std::move(*gemm)};
}

} // namespace nereid::kernels
