// Attention, forward. P goes from the scores' registers straight into the second product: rows of a tile lie
// in one wave, and the order in which a lane holds its keys is also that in which it takes rows of V.
#include "kernels/attention.h"

#include <numbers>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

constexpr int64_t max_heads = 1024;
constexpr float min_scale = 1e-6F, max_scale = 1000;
/// Scores of keys that a query does not see, and the running maximum before the first key: exp2 of their
/// difference is 0.
constexpr float unseen = -1e30F, no_maximum = -5e29F;

/// The keys along `axis` in the order in which a result's lanes hold them: of four neighbours in a lane the
/// next four are in the next lane, but the instruction wants them in the same. A view.
template <class T> Tile<T> in_lane_order(const Tile<T> &x, int axis, int mfma) {
  const int64_t lanes = 64 / mfma, block = 8 * lanes;
  std::vector<int64_t> split = x.shape();
  std::vector<int64_t> order;
  for (int64_t i = 0; i < x.rank() + 3; ++i)
    order.push_back(i);
  std::swap(order[axis + 1], order[axis + 2]);
  const int64_t blocks = split[axis] / block;
  split[axis] = blocks;
  split.insert(split.begin() + axis + 1, {2, lanes, 4});
  return reshape(permute(reshape(x, split), order), x.shape());
}

template <class T>
void attention(const AttentionConfig &c, Ptr<const T> q, Ptr<const T> k, Ptr<const T> v, Ptr<T> out,
               Int queries, Int keys, Int heads, Int key_heads, Float scale) {
  assume(queries >= 0);
  assume(keys >= 0);
  assume(heads >= 0);
  assume(heads <= max_heads);
  assume(key_heads >= 0);
  assume(key_heads <= max_heads);
  const Int first = program_id(0) * c.block_m, head = program_id(1);
  const Long batch = program_id(2).to<i64>();
  const Int pitch = heads * c.head_dim, key_pitch = key_heads * c.head_dim;
  const Int key_head = head / (heads / key_heads);
  const Long row_start = (batch * queries.to<i64>() + first.to<i64>()) * pitch.to<i64>();
  const Long start = row_start + (head * c.head_dim).to<i64>();
  const Long key_start = batch * keys.to<i64>() * key_pitch.to<i64>() + (key_head * c.head_dim).to<i64>();

  const Tile<i32> query = first + rows(c.block_m);
  const Tile<i1> is_query = query < queries;
  const Tile<i32> offsets = rows(c.block_m) * pitch + cols(c.head_dim);
  const Tile<i32> key_offsets = rows(c.block_n) * key_pitch + cols(c.head_dim);
  const Tile<T> x = load(q + start + offsets, is_query);

  const Float log2_scale = scale * std::numbers::log2e_v<float>;
  Var maximum = full<f32>({c.block_m, 1}, no_maximum);
  Var total = zeros<f32>({c.block_m, 1});
  Var output = zeros<f32>({c.block_m, c.head_dim});

  const auto add_keys = [&](Int first_key, bool is_masked) {
    const Long at = key_start + first_key.to<i64>() * key_pitch.to<i64>();
    const Tile<i1> is_key = first_key + rows(c.block_n) < keys;
    const Tile<T> y = is_masked ? load(k + at + key_offsets, is_key) : load(k + at + key_offsets);
    const Tile<T> z = is_masked ? load(v + at + key_offsets, is_key) : load(v + at + key_offsets);
    Var scores = dot(x, trans(y));
    if (is_masked) {
      const Tile<i32> key = first_key + cols(c.block_n);
      scores = where(key < keys, scores.get(), unseen);
      if (c.causal)
        scores = where(key <= query + (keys - queries), scores.get(), unseen);
    }
    const Tile<f32> highest = max(maximum.get(), max(scores.get(), keep_axis(1)));
    const Tile<f32> shift = -(highest * log2_scale);
    const Tile<f32> p = exp2(fma(scores.get(), log2_scale, shift));
    const Tile<f32> rescale = exp2(fma(maximum.get(), log2_scale, shift));
    maximum = highest;
    total = total * rescale + sum(p, keep_axis(1));
    output =
        output * rescale + dot(in_lane_order(p.template to<T>(), 1, c.mfma), in_lane_order(z, 0, c.mfma));
  };

  // Keys that all queries of the block see come without masks.
  Var last = keys, whole = keys;
  if (c.causal) {
    const Int visible = max(first + (keys - queries) + 1, 0); // of the first query
    last = min(keys, max(visible + (c.block_m - 1), 0));
    whole = min(keys, visible);
  }
  const Int masked_from = whole.get() / c.block_n * c.block_n;
  for (Int first_key : range(0, masked_from, c.block_n))
    add_keys(first_key, false);
  for (Int first_key : range(masked_from, last.get(), c.block_n, {.stages = 1}))
    add_keys(first_key, true);

  const Tile<f32> inverse = where(total.get() > 0, 1.0F / total.get(), 0);
  store(out + start + offsets, (output.get() * inverse).template to<T>(), is_query);
}

Status check(const AttentionConfig &config, const AttentionSize &size) {
  if (config.head_dim != 64 && config.head_dim != 128)
    return user_error(fmt::format("attention: head_dim {} is not taken", config.head_dim), "use 64 or 128");
  const KeyValue values[] = {{"block_m", config.block_m},
                             {"block_n", config.block_n},
                             {"waves", config.waves},
                             {"mfma", config.mfma},
                             {"stages", config.stages}};
  NEREID_CHECK(check_values("attention", values));
  if (config.block_n % 32 != 0)
    return user_error(fmt::format("attention: block_n {} is no multiple of 32", config.block_n));
  if (size.batch < 1 || size.batch > Grid::max_y_or_z || size.queries < 1 || size.keys < 0 ||
      size.queries > INT32_MAX / 2 || size.keys > INT32_MAX / 2)
    return user_error(fmt::format("attention: {} x {} queries and {} keys are out of range", size.batch,
                                  size.queries, size.keys));
  if (size.heads < 1 || size.heads > max_heads || size.key_heads < 1 || size.heads % size.key_heads != 0)
    return user_error(fmt::format("attention: {} heads on {} key heads", size.heads, size.key_heads),
                      fmt::format("heads are a multiple of key heads, at most {}", max_heads));
  return {};
}

template <class T>
BoundKernel bind(const AttentionConfig &config, const AttentionSize &size,
                 const AttentionOperands &operands) {
  const int64_t row = size.heads * config.head_dim * 2, key_row = size.key_heads * config.head_dim * 2;
  const int64_t bytes = size.batch * size.queries * row, key_bytes = size.batch * size.keys * key_row;
  constexpr std::string_view rows = "[batch, queries, heads, head_dim]",
                             key_rows = "[batch, keys, key_heads, head_dim]";
  return bind_kernel<attention<T>>(
      "attention", config, MemoryArgument<const T>{"q", operands.q, bytes, rows},
      MemoryArgument<const T>{"k", operands.k, key_bytes, key_rows},
      MemoryArgument<const T>{"v", operands.v, key_bytes, key_rows},
      MemoryArgument<T>{"out", operands.out, bytes, rows}, DimensionArgument{"queries", size.queries},
      DimensionArgument{"keys", size.keys}, DimensionArgument{"heads", size.heads},
      DimensionArgument{"key_heads", size.key_heads}, NumberArgument{"scale", operands.scale});
}

BoundKernel bind_element(const AttentionConfig &config, const AttentionSize &size,
                         const AttentionOperands &operands) {
  return operands.element == AttentionElement::F16 ? bind<f16>(config, size, operands)
                                                   : bind<bf16>(config, size, operands);
}

} // namespace

Result<LaunchRecord> launch_attention(const LaunchTarget &target, const AttentionConfig &config,
                                      const AttentionSize &size, const AttentionOperands &operands) {
  NEREID_CHECK(check(config, size));
  if (!(operands.scale >= min_scale && operands.scale <= max_scale))
    return user_error(fmt::format("attention: the scale {} is not from {} to {}", operands.scale, min_scale,
                                  max_scale));
  const Grid grid{programs(size.queries, config.block_m), static_cast<uint32_t>(size.heads),
                  static_cast<uint32_t>(size.batch)};
  NEREID_TRY(LaunchInfo info,
             bind_element(config, size, operands).launch(target.options, target.stream, grid));
  return LaunchRecord{config_values(config), std::move(info)};
}

CompiledResult compile_attention(const AttentionConfig &config, AttentionElement element,
                                 const Device &device) {
  const AttentionSize size{.queries = 1};
  NEREID_CHECK(check(config, size));
  return bind_element(config, size, {.element = element}).compile(device, false);
}

} // namespace nereid::kernels
