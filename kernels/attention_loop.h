#pragma once

#include "kernels/library_kernel.h"
#include "kernels/online_softmax.h"

/// What the kernels of attention share: the loop over keys, its parts put together, limits of the problem.
namespace nereid::kernels {

/// The element of attention's operands. Fp8: keys and values are fp8, each with a scale of its tensor;
/// queries and output are bf16, and both products are of fp8: queries and weights are rounded to it.
enum class AttentionElement : int { Bf16, F16, Fp8 };
constexpr auto nereid_config_names(AttentionElement) {
  return std::to_array<std::string_view>({"bf16", "f16", "fp8"});
}

/// Queries as the products take them.
template <class C, class T> Tile<C> queries_as(const Tile<T> &x) {
  constexpr float largest_fp8 = 448;
  if constexpr (std::is_same_v<C, T>)
    return x;
  else
    return clamp(x, -largest_fp8, largest_fp8).template to<C>();
}

/// Heads of a layer, of queries as of keys; bounds of addresses follow from it.
inline constexpr int64_t max_attention_heads = 1024;

/// Queries, or keys, of a sequence.
inline constexpr int64_t max_attention_tokens = INT32_MAX / 2;

/// The keys of a config that attention's tiles depend on.
struct AttentionTile {
  int block_m, block_n, waves, mfma;
  AttentionElement element = AttentionElement::Bf16;
};

/// What the tensors of a problem are to be multiplied by; those of keys and values are 1 but with Fp8.
struct AttentionScales {
  float scores, keys, values;

  /// Of the products of queries and keys as they are in memory.
  float products() const { return scores * keys; }
};

/// Error (User): a size of heads that the kernels do not take.
Status check_attention_head(std::string_view kernel, int head);

/// Error (User): a tile that the loop over keys does not take.
Status check_attention_tile(std::string_view kernel, const AttentionTile &tile);

/// Error (User): scales of keys or values that are not above 0 and finite, or not 1 where elements are not
/// fp8.
Status check_tensor_scales(std::string_view kernel, AttentionElement element, const AttentionScales &scales);

/// Error (User): heads that are no multiple of the key heads or more than max_attention_heads, or a scale
/// that is not from 1e-6 to 1000.
Status check_heads_and_scale(std::string_view kernel, int64_t heads, int64_t key_heads, float scale);

/// Keys from `first` up to `last`; those before `whole` are seen by all rows of the program.
struct KeyRange {
  Int first, whole, last;
};

/// Part `part` of `parts` equal ones of the keys up to `last`, in blocks of block_n; the last parts may have
/// less or no keys.
KeyRange part_of_keys(const Int &part, int parts, const Int &last, int block_n);

/// Adds the keys of a range to a softmax, block_n at a time. `scores(first_key, is_masked)` gives [rows,
/// block_n], `values(first_key, is_masked, piece)` [block_n, columns], of which keys from `last` on are zeros
/// where they are masked; `last_seen(first_key)` gives the last key that each row sees, counted from
/// first_key, an Int or [rows, 1]. Keys that all rows see come without masks.
template <class Scores, class Values, class LastSeen>
void add_keys(OnlineSoftmax &softmax, const KeyRange &keys, int block_n, const Scores &scores,
              const Values &values, const LastSeen &last_seen) {
  const auto add = [&](Int first_key, bool is_masked) {
    const Tile<f32> of_keys = scores(first_key, is_masked);
    if (is_masked)
      softmax.add(softmax.seen(of_keys, last_seen(first_key)),
                  [&](int piece) { return values(first_key, true, piece); });
    else
      softmax.add(of_keys, [&](int piece) { return values(first_key, false, piece); });
  };
  const Int masked_from = keys.first + (keys.whole - keys.first) / block_n * block_n;
  assume(masked_from >= 0);
  for (Int first_key : range(keys.first, masked_from, block_n))
    add(first_key, false);
  for (Int first_key : range(masked_from, keys.last, block_n))
    add(first_key, true);
}

/// Rows of attention's output from parts of the keys: [columns] of row `row` from f32 `parts` [splits, pitch,
/// columns] and `sums` [splits, pitch], log2 of the sum of exp(score); zeros for a row without keys.
Tile<f32> combined_parts(int splits, int columns, const Ptr<const f32> &parts, const Ptr<const f32> &sums,
                         const Long &row, const Long &pitch);

} // namespace nereid::kernels
