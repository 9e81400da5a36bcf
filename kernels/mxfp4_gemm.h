#pragma once

#include "kernels/gemm_config.h"

/// The MXFP4 products. B is (16,16)-shuffled codes with shuffled scales, as kernels/host/shuffle.h writes
/// them; k is a multiple of 32, n of 16. Programs: (n in blocks, split_k, m in blocks).
///
/// Out is bf16 for reduce = none, and f32 else: with atomic, [m, n], zeroed before, to which each split adds;
/// with workspace, [split_k, m, n], of which each split writes its slice. For last_arrival there are kernels
/// of their own.
namespace nereid::kernels {

/// C = A times B transposed; A is bf16 [m, k] and quantised to MXFP4 (even rule) on the way.
template <class Out>
void mxfp4_gemm_fused(const GemmConfig &config, Ptr<const bf16> a, Ptr<const u8> b, Ptr<const u8> b_scales,
                      Ptr<Out> out, Int m, Int n, Int k);

/// D = alpha A B + beta C; A is u8 codes [m, k/2] with shuffled scales. alpha and beta apply as
/// config.scaled_output says, and not at all where splits remain to be reduced; C may be what D is.
template <class Out>
void mxfp4_gemm(const GemmConfig &config, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                Ptr<const u8> b_scales, Ptr<const bf16> c, Ptr<Out> out, Int m, Int n, Int k, Float alpha,
                Float beta);

/// The same with reduce = last_arrival, in one launch: bf16 out from the program that comes last to a tile,
/// which sums the f32 slices [split_k, m, n] in their order. arrivals: i32, one for each tile of out
/// (gemm_tiles of them), zero before a launch and zero again after it. config.reduce is not looked at.
void mxfp4_gemm_fused_last(const GemmConfig &config, Ptr<const bf16> a, Ptr<const u8> b,
                           Ptr<const u8> b_scales, Ptr<f32> slices, Ptr<i32> arrivals, Ptr<bf16> out, Int m,
                           Int n, Int k);
void mxfp4_gemm_last(const GemmConfig &config, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                     Ptr<const u8> b_scales, Ptr<const bf16> c, Ptr<f32> slices, Ptr<i32> arrivals,
                     Ptr<bf16> out, Int m, Int n, Int k, Float alpha, Float beta);

extern template void mxfp4_gemm_fused<bf16>(const GemmConfig &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                                            Ptr<bf16>, Int, Int, Int);
extern template void mxfp4_gemm_fused<f32>(const GemmConfig &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                                           Ptr<f32>, Int, Int, Int);
extern template void mxfp4_gemm<bf16>(const GemmConfig &, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>,
                                      Ptr<const u8>, Ptr<const bf16>, Ptr<bf16>, Int, Int, Int, Float, Float);
extern template void mxfp4_gemm<f32>(const GemmConfig &, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>,
                                     Ptr<const u8>, Ptr<const bf16>, Ptr<f32>, Int, Int, Int, Float, Float);

} // namespace nereid::kernels
