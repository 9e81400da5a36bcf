// Matrix instructions through clang's builtins.
#include "device.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef half half8v __attribute__((ext_vector_type(8)));
typedef float float4v __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));
typedef double double4v __attribute__((ext_vector_type(4)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int8v __attribute__((ext_vector_type(8)));

// One wave: C[16][16] = A[16][k] B[16][k] transposed, f16.
kernel void product_f16(global const half *a, global const half *b, global float *c, uint k) {
  uint lane = item_x();
  float4v sum = 0;
  for (uint at = 0; at < k; at += 32) {
    uint from = (lane & 15) * k + at + (lane >> 4) * 8;
    half8v x = *(global const half8v *)(a + from), y = *(global const half8v *)(b + from);
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, sum, 0, 0, 0);
  }
  for (uint r = 0; r < 4; ++r)
    c[((lane >> 4) * 4 + r) * 16 + (lane & 15)] = sum[r];
}

// Two waves in each direction, 32x32 tiles, operands through LDS.
kernel void block_product_f16(global const half *a, global const half *b, global float *c, uint n, uint k) {
  local half tile_a[64][40], tile_b[64][40];
  uint t = item_x(), lane = t & 63, wave = t >> 6;
  uint row = group_y() * 64, column = group_x() * 64;
  float16v sum = 0;
  for (uint at = 0; at < k; at += 32) {
    uint r = t >> 2, q = (t & 3) * 8;
    *(local half8v *)&tile_a[r][q] = *(global const half8v *)(a + (row + r) * k + at + q);
    *(local half8v *)&tile_b[r][q] = *(global const half8v *)(b + (column + r) * k + at + q);
    sync();
    for (uint step = 0; step < 32; step += 16) {
      uint q = step + (lane >> 5) * 8;
      half8v x = *(local half8v *)&tile_a[(wave >> 1) * 32 + (lane & 31)][q];
      half8v y = *(local half8v *)&tile_b[(wave & 1) * 32 + (lane & 31)][q];
      sum = __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, sum, 0, 0, 0);
    }
    sync();
  }
  for (uint r = 0; r < 16; ++r) {
    uint y = row + (wave >> 1) * 32 + r % 4 + (r / 4) * 8 + (lane >> 5) * 4;
    uint x = column + (wave & 1) * 32 + (lane & 31);
    c[y * n + x] = sum[r];
  }
}

// C[16][16] += A[16][64] B[16][64] transposed, bytes.
kernel void product_i8(global const int4v *a, global const int4v *b, global int *c) {
  uint lane = item_x();
  uint from = (lane & 15) * 4 + (lane >> 4);
  int4v sum;
  for (uint r = 0; r < 4; ++r)
    sum[r] = c[((lane >> 4) * 4 + r) * 16 + (lane & 15)];
  sum = __builtin_amdgcn_mfma_i32_16x16x64_i8(a[from], b[from], sum, 0, 0, 0);
  for (uint r = 0; r < 4; ++r)
    c[((lane >> 4) * 4 + r) * 16 + (lane & 15)] = sum[r];
}

kernel void product_f64(global const double *a, global const double *b, global double *c, uint k) {
  uint lane = item_x();
  double4v sum = 0;
  for (uint at = 0; at < k; at += 4) {
    uint from = (lane & 15) * k + at + (lane >> 4);
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[from], b[from], sum, 0, 0, 0);
  }
  for (uint r = 0; r < 4; ++r)
    c[((lane >> 4) + 4 * r) * 16 + (lane & 15)] = sum[r];
}

// C[16][16] = A[16][128] B[16][128] transposed, e2m1 with a scale for 32 values.
kernel void product_mxfp4(global const int4v *a, global const int4v *b, global const uchar *scale_a,
                          global const uchar *scale_b, global float *c) {
  uint lane = item_x();
  uint from = (lane & 15) * 4 + (lane >> 4);
  int4v x = a[from], y = b[from];
  int8v wide_x = {x.x, x.y, x.z, x.w, 0, 0, 0, 0}, wide_y = {y.x, y.y, y.z, y.w, 0, 0, 0, 0};
  float4v sum = 0;
  sum = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(wide_x, wide_y, sum, 4, 4, 0, scale_a[from], 0,
                                                         scale_b[from]);
  for (uint r = 0; r < 4; ++r)
    c[((lane >> 4) * 4 + r) * 16 + (lane & 15)] = sum[r];
}
