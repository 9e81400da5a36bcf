// The configs of a path that are worth a look, generated from the shape.
#include "kernels/plan_space.h"

#include <algorithm>

#include "kernels/quick_estimate.h"

namespace nereid::kernels {
namespace {

/// Sides of tiles. The fused kernel quantises A in each program, so that it gains by wide tiles; few rows are
/// enough for it.
constexpr int fused_rows[] = {16, 32, 64};
constexpr int fused_columns[] = {32, 48, 64, 96, 112, 128, 192};
constexpr int split_columns[] = {32, 64, 96, 128};
constexpr int splits[] = {2, 4, 7, 8, 14, 16};
constexpr int two_pass_rows[] = {16, 32, 64, 96, 128, 160, 192, 256};
constexpr int two_pass_columns[] = {64, 128, 256};
/// Fewer programs than these waste most of the device where other tiles make more.
constexpr int64_t few_programs = 64;
constexpr int64_t most_split_programs = 1024;

/// A tile of so many rows has at most 15 that do not exist beside the first 16.
bool fits_rows(int block_m, const ProblemSize &size) { return block_m == 16 || block_m < size.m + 16; }

/// Of tall tiles with few columns only the one whose waves share A through the LDS: those of the others load
/// it all each.
bool shares_operands(int rows, int columns) { return columns > 64 || rows <= 64 || rows == 128; }

int64_t programs_of(const TileConfig &tile, const ProblemSize &size) {
  return blocks(size.m, tile.block_m) * blocks(size.n, tile.block_n);
}

void add_fused(std::vector<Partial<GemmConfig>> &space, const ProblemSize &size) {
  for (const int rows : fused_rows)
    for (const int columns : fused_columns)
      for (const int block_k : {128, 256})
        for (const int waves : {4, 8})
          if (fits_rows(rows, size))
            space.push_back({.tile = {.block_m = rows,
                                      .block_n = columns,
                                      .block_k = block_k,
                                      .waves = waves,
                                      .const_k = true}});
}

/// Splits need not divide the iterations over K; none may be left without any.
bool has_work(int64_t iterations, int split) {
  return iterations >= split && blocks(iterations, blocks(iterations, split)) == split;
}

void add_split(std::vector<Partial<GemmConfig>> &space, const ProblemSize &size, Reduce reduce) {
  for (const int rows : fused_rows)
    for (const int columns : split_columns)
      for (const int block_k : {128, 256})
        for (const int split : splits) {
          const TileConfig tile{.block_m = rows, .block_n = columns};
          if (fits_rows(rows, size) && has_work(blocks(size.k, block_k), split) &&
              programs_of(tile, size) * split <= most_split_programs)
            space.push_back(
                {.tile = {.block_m = rows, .block_n = columns, .block_k = block_k, .const_k = true},
                 .split_k = split,
                 .reduce = reduce});
        }
}

void add_two_pass(std::vector<Partial<GemmConfig>> &space, const ProblemSize &size) {
  for (const int rows : two_pass_rows)
    for (const int columns : two_pass_columns) {
      const TileConfig tile{.block_m = rows, .block_n = columns};
      const bool is_small = rows * columns <= 64 * 64;
      if (fits_rows(rows, size) && shares_operands(rows, columns) &&
          (is_small || programs_of(tile, size) >= few_programs))
        space.push_back({.tile = {.block_m = rows, .block_n = columns}});
    }
}

/// Every config that a path might take, before the library has looked at it.
std::vector<Partial<GemmConfig>> unchecked_space(GemmPath path, const ProblemSize &size) {
  std::vector<Partial<GemmConfig>> space;
  switch (path) {
  case GemmPath::Fused:
    add_fused(space, size);
    break;
  case GemmPath::Atomic:
    add_split(space, size, Reduce::Atomic);
    break;
  case GemmPath::Workspace:
    add_split(space, size, Reduce::LastArrival);
    add_split(space, size, Reduce::Workspace);
    break;
  case GemmPath::TwoPass:
    add_two_pass(space, size);
    break;
  case GemmPath::Auto:
    break;
  }
  return space;
}

} // namespace

std::vector<Partial<GemmConfig>> plan_space(GemmPath path, const ProblemSize &size) {
  std::vector<Partial<GemmConfig>> space = unchecked_space(path, size);
  std::erase_if(space, [&](const auto &config) { return !plan_gemm(path, config, size).ok(); });
  return space;
}

std::vector<EstimatedPlan> best_of_space(GemmPath path, const ProblemSize &size, size_t most) {
  std::vector<EstimatedPlan> best;
  for (const Partial<GemmConfig> &config : unchecked_space(path, size))
    if (const Result<GemmPlan> plan = plan_gemm(path, config, size))
      best.push_back({config, *plan, quick_estimate(*plan, size)});
  std::stable_sort(best.begin(), best.end(),
                   [](const EstimatedPlan &a, const EstimatedPlan &b) { return a.us < b.us; });
  best.resize(std::min(best.size(), most));
  return best;
}

} // namespace nereid::kernels
