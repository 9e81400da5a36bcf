#pragma once

#include "kernels/attention_loop.h"

namespace nereid::kernels {

/// The choices of attention at compile time.
struct AttentionConfig {
  int head = 128;      ///< elements of a head of values: 64 or 128
  int rotary = 0;      ///< elements that queries and keys have beyond those: 0 or 64
  bool causal = false; ///< query i sees keys up to i + n - m: both ends meet
  bool ragged = false; ///< sequences follow each other without gaps, each with lengths of its own
  AttentionElement element = AttentionElement::Bf16;
  int block_m = 128; ///< queries of a program; each wave owns whole rows
  int block_n = 64;  ///< keys of an iteration
  int waves = 4;
  int stages = 2;
  int mfma = 32;
  int waves_per_eu = 2; ///< 256 registers of a lane

  NEREID_CONFIG(AttentionConfig, head, rotary, causal, ragged, element, block_m, block_n, waves, stages, mfma,
                waves_per_eu)
};

/// Memory of attention, row-major, and what of the problem its size does not say.
struct AttentionOperands {
  DeviceMemory q;   ///< [batch, m, heads, head + rotary]
  DeviceMemory k;   ///< [batch, n, key_heads, head + rotary]
  DeviceMemory v;   ///< [batch, n, key_heads, head]
  DeviceMemory out; ///< [batch, m, heads, head]; zeros for a query that sees no key
  int64_t batch = 1;
  int64_t heads = 1;     ///< a multiple of key_heads: each key head serves heads / key_heads neighbours
  int64_t key_heads = 1; ///< heads are at most 1024
  float scale = 1;       ///< of the scores, 1e-6 to 1000; often 1 / sqrt(head)

  // With ragged the first two dimensions are one: queries or keys, of all sequences together.
  DeviceMemory query_starts = {}; ///< i32 [batch + 1]: a sequence has the queries from its start to the next
  DeviceMemory key_starts = {};   ///< the same of keys
  int64_t queries = 0, keys = 0;  ///< the last starts

  float k_scale = 1, v_scale = 1; ///< of the tensors k and v, where element is fp8

  AttentionScales scales() const { return {scale, k_scale, v_scale}; }
};

/// Attention, forward: softmax(scale Q K') V by rows, without the matrix of scores in memory (FlashAttention,
/// Dao et al. 2022; online softmax, Milakov and Gimelshein 2018). Of the size m are queries, n keys, with
/// ragged the most that a sequence has; k does not count. Programs: (queries in blocks, heads, batch).
extern const LibraryKernel<AttentionConfig, AttentionOperands> attention_kernel;

} // namespace nereid::kernels
