// Times of plans by counting.
#include "kernels/quick_estimate.h"

#include <algorithm>
#include <cmath>

#include "kernels/tiled_product.h"
#include "sim/timing/device_model.h"

namespace nereid::kernels {
namespace {

constexpr double mxfp4_bytes = 0.53125; // a code and 1/32 of a scale
constexpr int64_t simds = 4, lanes = 64, simd_registers = 512, simd_waves = 8;
/// Registers a lane beside accumulators and prefetched operands: addresses, the operands at work (the
/// library's kernels).
constexpr int64_t other_registers = 48;
/// Of the library's kernels that quantise A as they multiply, fitted to simulated times of their configs over
/// 32 shapes (docs/timing.md): clocks of a workgroup; elements quantised a clock of a compute unit (two
/// vector instructions for each and 64 of them a clock would be 32); clocks from the last slice's arrival to
/// its sum, and of each element of the tile; how much more is in flight where K is a constant and the loop is
/// written out.
constexpr TiledProductCosts fused_costs{160, 9.3, 0, 0.22, 9};
constexpr double quantised_elements = 17.3;
constexpr double last_arrival_cycles = 1660, last_arrival_element = 0.9;
constexpr double written_out = 2.6;
/// Of the quantiser's and the reduction's programs.
constexpr int64_t stream_programs_bytes = 16 * 1024;

/// Workgroups that a compute unit holds by the registers that accumulators and prefetched operands take;
/// where waves take iterations in turn (below) each has the whole tile.
int64_t workgroups_of_unit(const TileConfig &tile, double a_bytes, bool in_turn) {
  const int64_t items = lanes * (in_turn ? 1 : tile.waves);
  const double operands =
      static_cast<double>(tile.block_k) *
      (static_cast<double>(tile.block_m) * a_bytes + static_cast<double>(tile.block_n) * mxfp4_bytes);
  const double registers = static_cast<double>(tile.block_m * tile.block_n) / static_cast<double>(items) +
                           static_cast<double>(tile.stages) * operands / static_cast<double>(4 * items) +
                           other_registers;
  const int64_t by_registers =
      static_cast<int64_t>(simd_registers / std::min<double>(registers, simd_registers));
  const int64_t waves = simds * std::min(by_registers, simd_waves);
  return std::max<int64_t>(1, waves / tile.waves);
}

/// Waves of the fused kernel take iterations over K in turn (docs/lowering.md): the last turn leaves some of
/// them idle. Turns times waves over iterations.
double idle_waves(const GemmPlan &plan, const ProblemSize &size) {
  const int64_t iterations = blocks(size.k, int64_t{plan.gemm.tile.block_k} * plan.gemm.split_k);
  const int64_t waves = plan.gemm.tile.waves, turns = (iterations + waves - 1) / waves;
  return static_cast<double>(turns * waves) / static_cast<double>(iterations);
}

TiledProduct tiled_product(const GemmPlan &plan, const ProblemSize &size) {
  const TileConfig &tile = plan.gemm.tile;
  const bool quantises = plan.path != GemmPath::TwoPass;
  TiledProduct product;
  product.size = size;
  product.block_m = tile.block_m;
  product.block_n = tile.block_n;
  product.block_k = tile.block_k;
  product.split_k = plan.gemm.split_k;
  product.a_bytes = quantises ? 2 : mxfp4_bytes;
  product.b_bytes = mxfp4_bytes;
  product.c_bytes = plan.gemm.reduce == Reduce::None ? 2 : 4;
  product.workgroups_per_cu = workgroups_of_unit(tile, product.a_bytes, quantises);
  product.prefetched_steps = tile.stages;
  if (quantises) {
    const double idle = idle_waves(plan, size);
    product.extra_step_cycles = static_cast<double>(tile.block_m * tile.block_k) / quantised_elements * idle;
    // Each wave has the loads of its own iterations in flight.
    product.prefetched_steps = std::max(1.0, std::floor(tile.stages * tile.waves / idle));
    if (tile.const_k)
      product.prefetched_steps *= written_out;
    product.costs = fused_costs;
  }
  return product;
}

/// The last workgroup of each tile reads the slices of all.
void add_last_arrival(sim::LaunchProfile &profile, const GemmPlan &plan) {
  const TileConfig &tile = plan.gemm.tile;
  sim::PhaseProfile &epilogue = profile.rounds.back().phases[sim::RoundProfile::Epilogue];
  const double elements = static_cast<double>(tile.block_m) * tile.block_n;
  epilogue.load_bytes += static_cast<double>(plan.gemm.split_k) * elements * 4;
  epilogue.cycles += last_arrival_cycles + last_arrival_element * elements;
}

/// A launch that only reads and writes.
double stream_us(double read, double written, sim::CacheState caches) {
  const double units = std::clamp((read + written) / stream_programs_bytes, 1.0, 256.0);
  sim::LaunchProfile profile;
  profile.footprint_bytes = read + written;
  sim::RoundProfile &round = profile.rounds.emplace_back();
  round.workgroups = round.compute_units = static_cast<uint64_t>(units);
  round.loaded_bytes = read;
  round.phases[sim::RoundProfile::Prologue].cycles = loaded_round_trip;
  sim::PhaseProfile &loop = round.phases[sim::RoundProfile::Loop];
  loop.load_bytes = read / units;
  loop.fabric_bytes = read / 8;
  loop.hbm_bytes = read;
  round.phases[sim::RoundProfile::Epilogue].store_bytes = written / units;
  return sim::device_us(profile, caches);
}

} // namespace

double quick_gemm_estimate(const GemmPlan &plan, const ProblemSize &size, sim::CacheState caches) {
  sim::LaunchProfile profile = counted_profile(tiled_product(plan, size));
  if (plan.gemm.reduce == Reduce::LastArrival && plan.gemm.split_k > 1)
    add_last_arrival(profile, plan);
  return sim::device_us(profile, caches);
}

double quick_estimate(const GemmPlan &plan, const ProblemSize &size, sim::CacheState caches) {
  const double mk = static_cast<double>(size.m) * static_cast<double>(size.k);
  const double mn = static_cast<double>(size.m) * static_cast<double>(size.n);
  double us = quick_gemm_estimate(plan, size, caches);
  if (plan.path == GemmPath::TwoPass)
    us += stream_us(2 * mk, mxfp4_bytes * mk, caches);
  // What a launch left is still in the MALL.
  if (plan.gemm.reduce == Reduce::Workspace)
    us += stream_us(4 * mn * plan.gemm.split_k, 2 * mn, sim::CacheState::Warm);
  if (plan.gemm.reduce == Reduce::Atomic)
    us += stream_us(0, 4 * mn, caches) + stream_us(4 * mn, 2 * mn, sim::CacheState::Warm);
  return us;
}

} // namespace nereid::kernels
