// y = a x + y for n floats: kernel void saxpy(global float *x, global float *y, float a, int n), workgroups of 256.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx950 saxpy.s -o saxpy.hsaco
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 6
.text
.globl saxpy
.p2align 8
.type saxpy,@function
saxpy:
  s_load_dwordx4 s[4:7], s[0:1], 0x0    // x, y
  s_load_dwordx2 s[8:9], s[0:1], 0x10   // a, n
  v_and_b32 v0, 0x3ff, v0               // x of the work-item
  s_lshl_b32 s2, s2, 8
  v_add_u32 v0, s2, v0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_i32 vcc, s9, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz .Ldone
  v_lshlrev_b32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_fmac_f32 v3, s8, v2
  global_store_dword v1, v3, s[6:7]
.Ldone:
  s_endpgm
.Lend:
.size saxpy, .Lend-saxpy

.rodata
.p2align 6
.amdhsa_kernel saxpy
  .amdhsa_kernarg_size 24
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_next_free_vgpr 4
  .amdhsa_accum_offset 4
  .amdhsa_next_free_sgpr 12
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: saxpy
    .symbol: saxpy.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 18
    .vgpr_count: 4
    .agpr_count: 0
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: y, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: a, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: n, .offset: 20, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
