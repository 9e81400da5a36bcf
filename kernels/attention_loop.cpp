// What the kernels of attention share.
#include "kernels/attention_loop.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kernels/config_checks.h"

namespace nereid::kernels {

Status check_attention_head(std::string_view kernel, int head) {
  if (head != 64 && head != 128)
    return user_error(fmt::format("{}: head={} is not taken", kernel, head), "use 64 or 128");
  return {};
}

Status check_attention_tile(std::string_view kernel, const AttentionTile &tile) {
  const KeyValue values[] = {
      {"block_m", tile.block_m}, {"block_n", tile.block_n}, {"waves", tile.waves}, {"mfma", tile.mfma}};
  NEREID_CHECK(check_values(kernel, values));
  // OnlineSoftmax's blocks of keys.
  const int keys = tile.element == AttentionElement::Fp8 ? key_run<fp8> * 64 / tile.mfma : 32;
  if (tile.block_n % keys != 0)
    return user_error(fmt::format("{}: block_n={} is no multiple of {}", kernel, tile.block_n, keys));
  if (tile.block_m < tile.waves * tile.mfma)
    return user_error(fmt::format("{}: block_m={} has less than {} rows for each of {} waves", kernel,
                                  tile.block_m, tile.mfma, tile.waves));
  return {};
}

Status check_tensor_scales(std::string_view kernel, AttentionElement element, const AttentionScales &scales) {
  for (const auto &[name, scale] : {std::pair{"k_scale", scales.keys}, {"v_scale", scales.values}}) {
    if (!(scale > 0) || !std::isfinite(scale))
      return user_error(fmt::format("{}: {}={} is not above 0 and finite", kernel, name, scale));
    if (element != AttentionElement::Fp8 && scale != 1)
      return user_error(fmt::format("{}: {}={} without element=fp8", kernel, name, scale));
  }
  return {};
}

Status check_heads_and_scale(std::string_view kernel, int64_t heads, int64_t key_heads, float scale) {
  constexpr float min_scale = 1e-6F, max_scale = 1000;
  if (heads < 1 || heads > max_attention_heads || key_heads < 1 || heads % key_heads != 0)
    return user_error(fmt::format("{}: {} heads on {} key heads", kernel, heads, key_heads),
                      fmt::format("heads are a multiple of key heads, at most {}", max_attention_heads));
  if (!(scale >= min_scale && scale <= max_scale))
    return user_error(
        fmt::format("{}: the scale {} is not from {} to {}", kernel, scale, min_scale, max_scale));
  return {};
}

KeyRange part_of_keys(const Int &part, int parts, const Int &last, int block_n) {
  const Int share = cdiv(cdiv(last, block_n), parts) * block_n;
  const Int first = min(max(part * share, 0), last), end = max(min(first + share, last), first);
  return {first, end, end};
}

Tile<f32> combined_parts(int splits, int columns, const Ptr<const f32> &parts, const Ptr<const f32> &sums,
                         const Long &row, const Long &pitch) {
  const Tile<i32> column = arange(0, columns);
  Var highest = load(sums + row);
  for (int split = 1; split < splits; ++split)
    highest = max(highest.get(), load(sums + row + pitch * split));
  Var total = 0.0F;
  Var sum = zeros<f32>({columns});
  for (int split = 0; split < splits; ++split) {
    const Float weight = exp2(load(sums + row + pitch * split) - highest.get());
    total = total.get() + weight;
    sum = fma(load(parts + (row + pitch * split) * columns + column), weight, sum.get());
  }
  return sum.get() / total.get();
}

} // namespace nereid::kernels
