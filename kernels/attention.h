#pragma once

#include "kernels/library_kernel.h"

namespace nereid::kernels {

/// The element of attention's operands.
enum class AttentionElement : int { Bf16, F16 };
constexpr auto nereid_config_names(AttentionElement) {
  return std::to_array<std::string_view>({"bf16", "f16"});
}

/// The choices of attention at compile time.
struct AttentionConfig {
  int head = 128;      ///< elements of a head: 64 or 128
  bool causal = false; ///< query i sees keys up to i + n - m: both ends meet
  AttentionElement element = AttentionElement::Bf16;
  int block_m = 128; ///< queries of a program; each wave owns whole rows
  int block_n = 64;  ///< keys of an iteration
  int waves = 4;
  int stages = 2;
  int mfma = 32;
  int waves_per_eu = 2; ///< 256 registers of a lane

  NEREID_CONFIG(AttentionConfig, head, causal, element, block_m, block_n, waves, stages, mfma, waves_per_eu)
};

/// Memory of attention, row-major, and what of the problem its size does not say.
struct AttentionOperands {
  DeviceMemory q;   ///< [batch, m, heads, head]
  DeviceMemory k;   ///< [batch, n, key_heads, head]
  DeviceMemory v;   ///< as k
  DeviceMemory out; ///< as q; zeros for a query that sees no key
  int64_t batch = 1;
  int64_t heads = 1;     ///< a multiple of key_heads: each key head serves heads / key_heads neighbours
  int64_t key_heads = 1; ///< heads are at most 1024
  float scale = 1;       ///< of the scores, 1e-6 to 1000; often 1 / sqrt(head)
};

/// Attention, forward: softmax(scale Q K') V by rows, without the matrix of scores in memory (FlashAttention,
/// Dao et al. 2022; online softmax, Milakov and Gimelshein 2018). Of the size m are queries, n keys; k does
/// not count. Programs: (queries in blocks, heads, batch).
extern const LibraryKernel<AttentionConfig, AttentionOperands> attention_kernel;

} // namespace nereid::kernels
