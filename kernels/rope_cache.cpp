// rope_cache: rotary embedding, and a token's keys and values into its slot of a paged cache.
#include "kernels/rope_cache.h"

#include <numeric>

#include <fmt/format.h>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// Offsets of the first and the second element of each pair that is rotated, from a head's first: [1,
/// head/2].
std::pair<Tile<i32>, Tile<i32>> pairs_of(const RopeCacheConfig &config) {
  const Tile<i32> pair = cols(config.head / 2);
  if (config.style == RotaryStyle::Halves)
    return {pair, pair + config.head / 2};
  return {pair * 2, pair * 2 + 1};
}

/// Rotates [heads, head/2] pairs and stores them: from `from` + heads of stride `head` to `to` + `to_head`.
void rotate(const RopeCacheConfig &config, const Ptr<const bf16> &from, const Ptr<bf16> &to, int64_t heads,
            const Tile<i32> &to_head, const Tile<f32> &cosine, const Tile<f32> &sine) {
  const auto [first, second] = pairs_of(config);
  const Tile<i32> from_head = rows(heads) * config.head;
  const Tile<f32> x = load(from + (from_head + first)).to<f32>();
  const Tile<f32> y = load(from + (from_head + second)).to<f32>();
  store(to + (to_head + first), (x * cosine - y * sine).to<bf16>());
  store(to + (to_head + second), (y * cosine + x * sine).to<bf16>());
}

void rope_cache(const RopeCacheConfig &config, Ptr<bf16> q, Ptr<const bf16> k, Ptr<const bf16> v,
                Ptr<const i32> positions, Ptr<const f32> cos_sin, Ptr<const i64> slots, Ptr<bf16> k_cache,
                Ptr<bf16> v_cache) {
  const Long token(program_id(0));
  const Tile<i32> pair = cols(config.head / 2);
  const Ptr<const f32> angles = cos_sin + Long(load(positions + token)) * config.head;
  const Tile<f32> cosine = load(angles + pair), sine = load(angles + (pair + config.head / 2));

  const Ptr<bf16> queries = q + token * (config.heads * config.head);
  rotate(config, queries, queries, config.heads, rows(config.heads) * config.head, cosine, sine);

  const Long slot = load(slots + token);
  when(slot >= 0, [&] {
    const int token_elements = config.kv_heads * config.head;
    const bool tokens_first = config.layout == CacheLayout::TokensFirst;
    const Long page = slot / config.page, in_page = slot % config.page;
    const Long first =
        page * (config.page * token_elements) + in_page * (tokens_first ? token_elements : config.head);
    const Tile<i32> head = rows(config.kv_heads) * (tokens_first ? config.head : config.page * config.head);
    rotate(config, k + token * token_elements, k_cache + first, config.kv_heads, head, cosine, sine);
    const Tile<i32> element = cols(config.head);
    const Tile<bf16> values =
        load(v + token * token_elements + (rows(config.kv_heads) * config.head + element));
    store(v_cache + first + (head + element), values);
  });
}

RopeCacheConfig rope_cache_defaults(const Partial<RopeCacheConfig> &given, const MaybeSize &) {
  return config_merge(RopeCacheConfig{}, given);
}

Status check_rope_cache(std::string_view kernel, const RopeCacheConfig &config, const MaybeSize &) {
  const KeyValue values[] = {{"waves", config.waves}};
  NEREID_CHECK(check_values(kernel, values));
  if (config.page == 0)
    return user_error(fmt::format("{}: page=0: a page has at least one token", kernel));
  if (config.head % 2 != 0)
    return user_error(fmt::format("{}: head={} is odd", kernel, config.head));
  return check_elements(kernel, {"heads", std::max(config.heads, config.kv_heads)}, {"head", config.head},
                        config.waves, 128);
}

Grid rope_cache_grid(const RopeCacheConfig &, const ProblemSize &size, const RopeCacheOperands &) {
  return {size.m};
}

BoundKernel bind_rope_cache(std::string_view name, const RopeCacheConfig &config, const MaybeSize &size,
                            const RopeCacheOperands &operands) {
  const int64_t m = size ? size->m : 0;
  const int64_t token_bytes = int64_t{config.kv_heads} * config.head * 2;
  const int64_t cache_bytes = operands.pages * config.page * token_bytes;
  return bind_kernel<rope_cache>(
      name, config,
      MemoryArgument<bf16>{"q", operands.q, m * config.heads * config.head * 2, "bf16 [m, heads, head]"},
      MemoryArgument<const bf16>{"k", operands.k, m * token_bytes, "bf16 [m, kv_heads, head]"},
      MemoryArgument<const bf16>{"v", operands.v, m * token_bytes, "bf16 [m, kv_heads, head]"},
      MemoryArgument<const i32>{"positions", operands.positions, m * 4, "i32 [m]"},
      MemoryArgument<const f32>{"cos_sin", operands.cos_sin, int64_t{config.head} * 4,
                                "f32 [positions, head]"},
      MemoryArgument<const i64>{"slots", operands.slots, m * 8, "i64 [m]"},
      MemoryArgument<bf16>{"k_cache", operands.k_cache, cache_bytes, "bf16 [pages, page, kv_heads, head]"},
      MemoryArgument<bf16>{"v_cache", operands.v_cache, cache_bytes, "bf16 [pages, page, kv_heads, head]"});
}

/// Tokens one after another in the slots of as many pages as they need.
LaunchIndices rope_cache_indices(const RopeCacheConfig &config, const ProblemSize &size,
                                 RopeCacheOperands &operands) {
  operands.pages = blocks(size.m, config.page);
  std::vector<int64_t> slots(static_cast<size_t>(size.m));
  std::iota(slots.begin(), slots.end(), 0);
  return {"tokens in neighbouring slots", {contents_of<int64_t>("slots", slots)}};
}

} // namespace

constinit const LibraryKernel<RopeCacheConfig, RopeCacheOperands> rope_cache_kernel{
    .name = "rope_cache",
    .summary = "rotary embedding, and keys and values into a paged cache",
    .rule = {{1, max_m}, DimensionRule::absent(), DimensionRule::ignored()},
    .defaults = rope_cache_defaults,
    .check = check_rope_cache,
    .grid = rope_cache_grid,
    .grid_terms = {{{"m", ""}, {}, {}}},
    .bind = bind_rope_cache,
    .indices = rope_cache_indices,
};

} // namespace nereid::kernels
