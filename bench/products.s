// Loops of matrix products, for the benchmark of the simulator: 200 turns of 16.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"

.macro products name, form:vararg
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_movk_i32 s2, 200
  v_mov_b32 v60, 127
.L\name:
  .rept 16
  \form
  .endr
  s_sub_u32 s2, s2, 1
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .L\name
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 64
.end_amdhsa_kernel
.endm

products fp4, v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[8:11], v[16:19], v[0:3], v60, v60 op_sel_hi:[0,0,0] cbsz:4 blgp:4
products fp6, v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[8:13], v[16:21], v[0:3], v60, v60 op_sel_hi:[0,0,0] cbsz:2 blgp:2
products fp8, v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3], v60, v60 op_sel_hi:[0,0,0]
products bf16, v_mfma_f32_16x16x32_bf16 v[0:3], v[8:11], v[16:19], v[0:3]

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: fp4, .symbol: fp4.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16,
     .vgpr_count: 64, .max_flat_workgroup_size: 64}
  - {.name: fp6, .symbol: fp6.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16,
     .vgpr_count: 64, .max_flat_workgroup_size: 64}
  - {.name: fp8, .symbol: fp8.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16,
     .vgpr_count: 64, .max_flat_workgroup_size: 64}
  - {.name: bf16, .symbol: bf16.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16,
     .vgpr_count: 64, .max_flat_workgroup_size: 64}
...
.end_amdgpu_metadata
