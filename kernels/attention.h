#pragma once

#include "kernels/bound_kernel.h"
#include "kernels/library_kernel.h"

/// Attention, forward: softmax(scale Q K^T) V by rows, without the matrix of scores in memory
/// (FlashAttention, Dao et al. 2022; online softmax, Milakov and Gimelshein 2018).
namespace nereid::kernels {

struct AttentionConfig {
  int head_dim = 128;  ///< 64 or 128
  bool causal = false; ///< query i sees keys up to i + keys - queries: both ends meet
  int block_m = 128;   ///< queries of a program; each wave owns whole rows
  int block_n = 64;    ///< keys of an iteration
  int waves = 4;
  int stages = 2;
  int mfma = 16;

  NEREID_CONFIG(AttentionConfig, head_dim, causal, block_m, block_n, waves, stages, mfma)
};

/// Each key head serves heads / key_heads neighbouring heads.
struct AttentionSize {
  int64_t batch = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t heads = 1; ///< a multiple of key_heads, at most 1024
  int64_t key_heads = 1;
};

enum class AttentionElement { F16, BF16 };

/// f16 or bf16, row-major.
struct AttentionOperands {
  DeviceMemory q;   ///< [batch, queries, heads, head_dim]
  DeviceMemory k;   ///< [batch, keys, key_heads, head_dim]
  DeviceMemory v;   ///< as k
  DeviceMemory out; ///< as q; zeros for a query without keys
  AttentionElement element = AttentionElement::BF16;
  float scale = 1; ///< of the scores, 1e-6 to 1000; often 1 / sqrt(head_dim)
};

/// Programs: (queries in blocks, heads, batch). Errors (User): a config or size that is not taken, an operand
/// that is null or too short.
Result<LaunchRecord> launch_attention(const LaunchTarget &target, const AttentionConfig &config,
                                      const AttentionSize &size, const AttentionOperands &operands);

/// Builds the kernel without a launch.
CompiledResult compile_attention(const AttentionConfig &config, AttentionElement element,
                                 const Device &device);

} // namespace nereid::kernels
