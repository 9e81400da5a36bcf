#include "kernels/splitk_reduce.h"

namespace nereid::kernels {
namespace {

/// Slices up to which the loop over them is written out; all their loads may be in flight at once.
constexpr int straight_line_slices = 16;

} // namespace

void splitk_reduce(const ReduceConfig &config, Ptr<const f32> slices, Ptr<const bf16> c, Ptr<bf16> out, Int m,
                   Int n, Float alpha, Float beta) {
  const Int first_row = program_id(1) * config.block_m;
  const Tile<i32> row = col(arange(0, config.block_m));
  const Tile<i32> column = program_id(0) * config.block_n + nereid::row(arange(0, config.block_n));
  const Tile<i1> exists = (first_row + row < m) & (column < n);
  const Tile<i32> offsets = row * n + column;
  const Long first = first_row.to<i64>() * n.to<i64>();
  const Long slice = m.to<i64>() * n.to<i64>();

  Var sum = load(slices + first + offsets, exists);
  const auto add_slice = [&](const Long &split) {
    sum += load(slices + (first + slice * split) + offsets, exists);
  };
  if (config.split_k <= straight_line_slices)
    for (int split = 1; split < config.split_k; ++split)
      add_slice(Long(split));
  else
    for (Int split : range(1, config.split_k))
      add_slice(split.to<i64>());
  if (config.scaled_output >= 1)
    sum *= alpha;
  if (config.scaled_output >= 2)
    sum += beta * load(c + first + offsets, exists).to<f32>();
  store(out + first + offsets, sum.get().to<bf16>(), exists);
}

void zero_f32(const ZeroConfig &config, Ptr<f32> out, Long count) {
  const Long first = program_id(0).to<i64>() * config.block;
  const Tile<i32> offset = arange(0, config.block);
  store(out + first + offset, zeros<f32>({config.block}), offset.to<i64>() < count - first);
}

} // namespace nereid::kernels
