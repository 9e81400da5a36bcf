#pragma once

#include "kernels/attention_loop.h"

namespace nereid::kernels {

/// The choices of attention_decode and attention_combine at compile time.
struct AttentionDecodeConfig {
  int head = 128;      ///< elements of a head: 64 or 128
  bool causal = false; ///< query i of m sees keys up to i + length - m: both ends meet
  AttentionElement element = AttentionElement::Bf16;
  int block_m = 32; ///< rows of a program: queries times the heads that share a key head
  int block_n = 64; ///< keys of an iteration
  int split_k = 1;  ///< parts of a sequence's keys; above 1 attention_combine puts them together
  int page = 0;     ///< keys of a page of the cache; 0: each sequence's keys lie in a row
  int waves = 2;
  int stages = 2;
  int mfma = 16;
  int waves_per_eu = 0;

  NEREID_CONFIG(AttentionDecodeConfig, head, causal, element, block_m, block_n, split_k, page, waves, stages,
                mfma, waves_per_eu)
};

/// Memory of attention_decode and attention_combine, row-major, and what of the problem its size does not
/// say.
struct AttentionDecodeOperands {
  DeviceMemory q;       ///< [batch, m, heads, head]
  DeviceMemory k;       ///< [batch, n, key_heads, head], or the pages: [pages, page, key_heads, head]
  DeviceMemory v;       ///< as k
  DeviceMemory lengths; ///< i32 [batch]: the keys that there are, 0 to n
  DeviceMemory table;   ///< i32 [batch, ceil(n / page)]: the page of each `page` keys, where page > 0
  DeviceMemory out;     ///< as q; zeros for a query that sees no key
  DeviceMemory parts;   ///< f32 [split_k, batch, m, heads, head], where split_k > 1
  DeviceMemory sums;    ///< f32 [split_k, batch, m, heads], where split_k > 1: log2 of the sum of exp(score)
  int64_t batch = 1;
  int64_t heads = 1;              ///< a multiple of key_heads, at most 1024
  int64_t key_heads = 1;          ///< each serves heads / key_heads neighbours
  int64_t pages = 0;              ///< of k and v, where page > 0
  float scale = 1;                ///< of the scores, 1e-6 to 1000; often 1 / sqrt(head)
  float k_scale = 1, v_scale = 1; ///< of the tensors k and v, where element is fp8

  AttentionScales scales() const { return {scale, k_scale, v_scale}; }
};

/// Attention of few queries on a cache of keys: of the size m are the queries of a sequence, n the keys that
/// it has room for; k does not count. The heads that share a key head are rows of one program. With split_k
/// of 1 the output, else parts and sums. Programs: (key heads times blocks of rows, split_k, batch).
extern const LibraryKernel<AttentionDecodeConfig, AttentionDecodeOperands> attention_decode_kernel;

/// The output from parts and sums. Programs: (heads, m, batch).
extern const LibraryKernel<AttentionDecodeConfig, AttentionDecodeOperands> attention_combine_kernel;

} // namespace nereid::kernels
