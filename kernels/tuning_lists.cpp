// The configs that `nereid tune` goes through, a line a config.
#include "kernels/gemm_plan.h"

namespace nereid::kernels {
namespace {

/// A config of a list.
struct Candidate {
  int block_m;
  int block_n;
  int block_k;
  int split_k;
  int waves;
  int stages;
};

constexpr Candidate fused_tiles[] = {
    {16, 32, 256, 1, 4, 1},  {16, 32, 256, 1, 4, 2},  {16, 64, 256, 1, 4, 1}, {16, 64, 256, 1, 4, 2},
    {32, 32, 256, 1, 4, 1},  {32, 32, 256, 1, 4, 2},  {32, 64, 256, 1, 4, 1}, {32, 64, 256, 1, 4, 2},
    {32, 128, 256, 1, 4, 2}, {32, 128, 256, 1, 8, 2},
};

constexpr Candidate atomic_tiles[] = {
    {16, 32, 256, 4, 4, 2}, {16, 32, 256, 8, 4, 2}, {16, 64, 256, 4, 4, 2},
    {16, 64, 256, 8, 4, 2}, {32, 32, 256, 4, 4, 2}, {32, 64, 256, 4, 4, 2},
};

constexpr Candidate workspace_tiles[] = {
    {16, 32, 256, 1, 4, 2}, {16, 32, 256, 2, 4, 2}, {16, 32, 256, 4, 4, 2}, {16, 32, 256, 8, 4, 2},
    {16, 64, 256, 1, 4, 2}, {16, 64, 256, 2, 4, 2}, {16, 64, 256, 4, 4, 2}, {16, 64, 256, 8, 4, 2},
    {16, 32, 256, 1, 4, 1}, {16, 32, 256, 2, 4, 1}, {16, 32, 256, 4, 4, 1}, {16, 32, 256, 8, 4, 1},
    {16, 64, 256, 1, 4, 1}, {16, 64, 256, 2, 4, 1}, {16, 64, 256, 4, 4, 1}, {16, 64, 256, 8, 4, 1},
    {16, 32, 512, 2, 4, 2}, {16, 32, 512, 4, 4, 2}, {16, 64, 512, 2, 4, 2}, {16, 64, 512, 4, 4, 2},
    {16, 32, 256, 4, 8, 2}, {16, 32, 256, 8, 8, 2}, {16, 64, 256, 4, 8, 2}, {16, 64, 256, 8, 8, 2},
    {16, 32, 256, 4, 2, 2}, {16, 32, 256, 8, 2, 2}, {16, 64, 256, 4, 2, 2}, {16, 64, 256, 8, 2, 2},
};

constexpr Candidate two_pass_tiles[] = {
    {32, 64, 256, 1, 2, 4},   {32, 128, 256, 1, 4, 4},  {64, 64, 256, 1, 4, 4},
    {64, 128, 256, 1, 4, 4},  {96, 128, 256, 1, 4, 4},  {128, 128, 256, 1, 4, 3},
    {128, 256, 256, 1, 4, 2}, {192, 256, 256, 1, 4, 2}, {256, 256, 256, 1, 8, 2},
};

std::vector<Partial<GemmConfig>> configs_of(std::span<const Candidate> candidates, Reduce reduce) {
  std::vector<Partial<GemmConfig>> result;
  for (const Candidate &candidate : candidates)
    result.push_back({.tile = {.block_m = candidate.block_m,
                               .block_n = candidate.block_n,
                               .block_k = candidate.block_k,
                               .waves = candidate.waves,
                               .stages = candidate.stages},
                      .split_k = candidate.split_k,
                      .reduce = reduce});
  return result;
}

} // namespace

std::vector<Partial<GemmConfig>> tuning_list(GemmPath path) {
  switch (path) {
  case GemmPath::Fused:
    return configs_of(fused_tiles, Reduce::None);
  case GemmPath::Atomic:
    return configs_of(atomic_tiles, Reduce::Atomic);
  case GemmPath::Workspace:
    return configs_of(workspace_tiles, Reduce::Workspace);
  case GemmPath::TwoPass:
    return configs_of(two_pass_tiles, Reduce::None);
  case GemmPath::Auto:
    break;
  }
  return {};
}

} // namespace nereid::kernels
