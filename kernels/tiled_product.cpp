// Counts what a tiled product needs of a device.
#include "kernels/tiled_product.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/program_order.h"

namespace nereid::kernels {
namespace {

constexpr int64_t compute_units = 256;
/// Dense MXFP4, flop a clock and compute unit (AMD, "CDNA 4 architecture" white paper).
constexpr double matrix_rate = 16384;

struct TileGrid {
  int64_t rows, columns, splits;
  int64_t count() const { return rows * columns * splits; }
};

struct TilePlace {
  int64_t row, column, split;
};

TilePlace place_of(int64_t workgroup, const TileGrid &grid, int64_t group) {
  const int64_t width = group > 0 ? std::min(group, grid.columns) : grid.columns;
  const int64_t in_group = width * grid.rows * grid.splits;
  const int64_t first = workgroup / in_group * width;
  const int64_t columns = std::min(width, grid.columns - first);
  const int64_t rest = workgroup % in_group;
  return {rest / (columns * grid.splits), first + rest % columns, rest / columns % grid.splits};
}

/// Elements of block `i` that exist.
double extent(int64_t i, int64_t block, int64_t size) {
  return static_cast<double>(std::min(block, size - i * block));
}

/// Panels that an XCD has read in a round.
class PanelSet {
public:
  explicit PanelSet(int64_t panels) : seen_(static_cast<size_t>(panels * xcds), false) {}
  bool insert(int64_t xcd, int64_t panel) {
    const size_t at = static_cast<size_t>(panel * xcds + xcd);
    return !std::exchange(seen_[at], true);
  }

private:
  std::vector<char> seen_;
};

/// Bytes of one K of all workgroups of a round, and of the one that loads the most.
struct RoundBytes {
  double loads = 0, most_loads = 0, fabric = 0, stores = 0;
};

RoundBytes round_bytes(const TiledProduct &product, const TileGrid &grid, int64_t first, int64_t count) {
  RoundBytes bytes;
  PanelSet a_panels(grid.rows * grid.splits), b_panels(grid.columns * grid.splits);
  for (int64_t i = first; i < first + count; ++i) {
    const TilePlace place = place_of(i, grid, product.column_group);
    const double rows = extent(place.row, product.block_m, product.size.m);
    const double columns = extent(place.column, product.block_n, product.size.n);
    const double a = rows * product.a_bytes, b = columns * product.b_bytes;
    bytes.loads += a + b;
    bytes.most_loads = std::max(bytes.most_loads, a + b);
    bytes.stores += rows * columns * product.c_bytes;
    if (a_panels.insert(i % xcds, place.row * grid.splits + place.split))
      bytes.fabric += a;
    if (b_panels.insert(i % xcds, place.column * grid.splits + place.split))
      bytes.fabric += b;
  }
  return bytes;
}

sim::RoundProfile count_round(const TiledProduct &product, const TileGrid &grid, int64_t first,
                              int64_t count) {
  const RoundBytes bytes = round_bytes(product, grid, first, count);
  const double units = static_cast<double>(std::min(count, compute_units));
  // The units with the most workgroups end last.
  const double per_unit = static_cast<double>(blocks(count, std::min(count, compute_units)));
  const int64_t all_steps = blocks(product.size.k, product.block_k);
  const double steps = static_cast<double>(blocks(all_steps, product.split_k));
  const double k = static_cast<double>(product.size.k) / static_cast<double>(product.split_k);
  const double area = static_cast<double>(product.block_m * product.block_n);
  const double step_flop = 2 * area * static_cast<double>(product.block_k);

  const TiledProductCosts &costs = product.costs;
  sim::RoundProfile round;
  round.workgroups = static_cast<uint64_t>(count);
  round.compute_units = static_cast<uint64_t>(units);
  round.loaded_bytes = k * bytes.loads;
  round.phases[sim::RoundProfile::Prologue].cycles =
      costs.prologue + costs.prologue_row * static_cast<double>(product.block_m + product.block_n);

  sim::PhaseProfile &loop = round.phases[sim::RoundProfile::Loop];
  const double in_flight = product.prefetched_steps;
  const double wait = in_flight > 0 ? loaded_round_trip / in_flight : 0;
  loop.mfma_cycles = steps * per_unit * step_flop / matrix_rate;
  loop.issue_cycles = loop.mfma_cycles + steps * per_unit * product.extra_step_cycles;
  loop.cycles = std::max(loop.issue_cycles + steps * costs.step, steps * wait);
  loop.load_bytes = k * bytes.most_loads * per_unit;
  loop.fabric_bytes = k * bytes.fabric / std::min<double>(units, xcds);
  const double all = static_cast<double>(product.size.m) * product.a_bytes +
                     static_cast<double>(product.size.n) * product.b_bytes;
  loop.hbm_bytes = static_cast<double>(product.size.k) * all * static_cast<double>(count) /
                   static_cast<double>(grid.count());
  loop.matrix_flop = steps * static_cast<double>(count) / units * step_flop;

  sim::PhaseProfile &epilogue = round.phases[sim::RoundProfile::Epilogue];
  epilogue.cycles = costs.epilogue + per_unit * costs.epilogue_element * area;
  epilogue.store_bytes = bytes.stores / units;
  return round;
}

} // namespace

sim::LaunchProfile counted_profile(const TiledProduct &product) {
  const auto &[m, n, k] = product.size;
  const TileGrid grid{blocks(m, product.block_m), blocks(n, product.block_n), product.split_k};
  const int64_t places = compute_units * product.workgroups_per_cu;
  sim::LaunchProfile profile;
  profile.footprint_bytes = static_cast<double>(k) * (static_cast<double>(m) * product.a_bytes +
                                                      static_cast<double>(n) * product.b_bytes) +
                            static_cast<double>(m) * static_cast<double>(n) * product.c_bytes;
  if (grid.count() >= places) {
    profile.rounds.push_back(count_round(product, grid, 0, places));
    profile.rounds.back().repeats = static_cast<uint64_t>(grid.count() / places);
  }
  if (const int64_t rest = grid.count() % places)
    profile.rounds.push_back(count_round(product, grid, grid.count() - rest, rest));
  return profile;
}

} // namespace nereid::kernels
