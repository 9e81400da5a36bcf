#pragma once

#include "kernels/library_kernel.h"

namespace nereid::kernels {

/// Which elements of a head are rotated together: element i of each half, or neighbours.
enum class RotaryStyle : int { Halves, Neighbours };
constexpr auto nereid_config_names(RotaryStyle) {
  return std::to_array<std::string_view>({"halves", "neighbours"});
}

/// Order of a page of the cache: [page, kv_heads, head] or [kv_heads, page, head].
enum class CacheLayout : int { TokensFirst, HeadsFirst };
constexpr auto nereid_config_names(CacheLayout) {
  return std::to_array<std::string_view>({"tokens_first", "heads_first"});
}

/// The choices of rope_cache at compile time.
struct RopeCacheConfig {
  int heads = 64;
  int kv_heads = 8;
  int head = 128; ///< elements of a head
  int page = 16;  ///< tokens of a page of the cache
  int waves = 4;
  int waves_per_eu = 0;
  RotaryStyle style = RotaryStyle::Halves;
  CacheLayout layout = CacheLayout::TokensFirst;

  NEREID_CONFIG(RopeCacheConfig, heads, kv_heads, head, page, waves, waves_per_eu, style, layout)
};

/// Memory of rope_cache.
struct RopeCacheOperands {
  DeviceMemory q;         ///< bf16 [m, heads, head]; rotated in place
  DeviceMemory k;         ///< bf16 [m, kv_heads, head]
  DeviceMemory v;         ///< bf16 [m, kv_heads, head]
  DeviceMemory positions; ///< i32 [m]: rows of cos_sin
  DeviceMemory cos_sin;   ///< f32 [.., head]: head/2 cosines, then the sines
  DeviceMemory slots;     ///< i64 [m]: page * number of the page + token in it; below 0: nothing is written
  DeviceMemory k_cache;   ///< bf16 [pages, ..], rotated keys
  DeviceMemory v_cache;   ///< bf16 [pages, ..]
  int64_t pages = 0;
};

/// Rotary embedding of queries and keys, and keys and values into a paged cache; only m of the size, the
/// tokens, counts. Programs: (m).
extern const LibraryKernel<RopeCacheConfig, RopeCacheOperands> rope_cache_kernel;

} // namespace nereid::kernels
