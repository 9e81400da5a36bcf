// Bytes, shorts, f16 alone and in pairs.
#include "device.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void gray_of_rgb(global const uchar *rgb, global uchar *gray, uint count) {
  uint i = global_x();
  if (i < count)
    gray[i] = (uchar)((77u * rgb[3 * i] + 150u * rgb[3 * i + 1] + 29u * rgb[3 * i + 2]) >> 8);
}

typedef struct __attribute__((packed)) {
  char a;
  short b;
  int c;
  long d;
} packed_record;

kernel void packed_fields(global const packed_record *in, global long *sums, global packed_record *out) {
  uint i = global_x();
  packed_record r = in[i];
  sums[i] = r.a + r.b + r.c + r.d;
  r.a = (char)-r.a;
  r.b = (short)(r.b * 3);
  r.c ^= 0x01010101;
  r.d >>= 3;
  out[i] = r;
}

kernel void short_saturation(global const short *a, global const short *b, global short *out, uint count) {
  uint i = global_x();
  short x = a[i], y = b[i];
  out[i] = __builtin_elementwise_add_sat(x, y);
  out[i + count] = __builtin_elementwise_sub_sat(x, y);
  out[i + 2 * count] = (short)((x * y) >> 15);
  out[i + 3 * count] = x > y ? x : y;
}

kernel void byte_vectors(global const uchar4 *a, global const char4 *b, global int *dots,
                         global uchar4 *mixed) {
  uint i = global_x();
  uchar4 x = a[i];
  char4 y = b[i];
  dots[i] = x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  mixed[i] = (uchar4)(x.w, (uchar)(x.x + x.y), (uchar)(x.z >> 2), (uchar)(x.x ^ x.w));
}

kernel void halves(global const half *a, global const half *b, global half *out, uint count) {
  uint i = global_x();
  half x = a[i], y = b[i];
  global half *to = out + i;
  to[0 * count] = x + y;
  to[1 * count] = x * y - x;
  to[2 * count] = __builtin_elementwise_fma(x, y, y);
  to[3 * count] = x < y ? x : y;
  to[4 * count] = (half)(int)x;
  to[5 * count] = (half)((float)x * (float)y);
}

kernel void half_pairs(global const half2 *a, global const half2 *b, global half2 *out, uint count) {
  uint i = global_x();
  half2 x = a[i], y = b[i];
  global half2 *to = out + i;
  to[0 * count] = x + y;
  to[1 * count] = x * y;
  to[2 * count] = __builtin_elementwise_fma(x, y.yx, -x);
  to[3 * count] = __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y);
}

kernel void short_pairs(global const ushort2 *a, global const ushort2 *b, global ushort2 *out, uint count) {
  uint i = global_x();
  ushort2 x = a[i], y = b[i];
  global ushort2 *to = out + i;
  to[0 * count] = x + y;
  to[1 * count] = x * y - y.yx;
  to[2 * count] = x >> (y & (ushort)15);
  to[3 * count] = __builtin_elementwise_max(x, y) ^ __builtin_elementwise_min(x, y.yx);
}
