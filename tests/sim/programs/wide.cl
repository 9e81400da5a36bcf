// 64-bit and 128-bit integers, double precision.
#include "device.h"

kernel void wide_integers(global const long *a, global const long *b, global long *out, uint count) {
  uint i = global_x();
  long x = a[i], y = b[i];
  ulong ux = (ulong)x, uy = (ulong)y;
  uint shift = (uint)uy & 63;
  global long *to = out + i;
  to[0 * count] = (long)(ux * uy);
  to[1 * count] = x / y;
  to[2 * count] = x % y;
  to[3 * count] = (long)(ux / uy);
  to[4 * count] = (long)(ux % uy);
  to[5 * count] = (long)(ux << shift);
  to[6 * count] = x >> shift;
  to[7 * count] = (long)(ux >> shift);
  to[8 * count] = x < y ? x : y;
  to[9 * count] = (long)(ux + uy) ^ (x - y);
  to[10 * count] = x / 1000003 + x % 7;
}

kernel void wide_products(global const ulong *a, global const ulong *b, global ulong *low, global ulong *high,
                          global ulong *shifted) {
  uint i = global_x();
  unsigned __int128 product = (unsigned __int128)a[i] * b[i];
  low[i] = (ulong)product;
  high[i] = (ulong)(product >> 64);
  shifted[i] = (ulong)(product >> (b[i] & 127));
}

kernel void doubles(global const double *a, global const double *b, global double *out, uint count) {
  uint i = global_x();
  double x = a[i], y = b[i];
  global double *to = out + i;
  to[0 * count] = x + y;
  to[1 * count] = x * y;
  to[2 * count] = x / y;
  to[3 * count] = __builtin_fma(x, y, x);
  to[4 * count] = __builtin_sqrt(__builtin_fabs(x));
  to[5 * count] = __builtin_floor(x) + __builtin_trunc(y) - __builtin_rint(x) + __builtin_ceil(y);
  to[6 * count] = __builtin_fmin(x, y) - __builtin_fmax(x, y);
  to[7 * count] = (double)(float)x;
  to[8 * count] = (double)(long)(x * 0.001) + (double)(ulong)__builtin_fabs(y);
  to[9 * count] = x > y ? x - y : -x;
  to[10 * count] = __builtin_ldexp(x, (int)(i & 63) - 32);
}

// Horner's rule with coefficients in constant memory.
constant double coefficients[8] = {0.5, -1.25, 3.0, 0.0625, -7.5, 2.0, 0.125, -0.75};
kernel void polynomial(global const double *in, global double *out) {
  uint i = global_x();
  double x = in[i], sum = 0;
  for (int k = 7; k >= 0; --k)
    sum = sum * x + coefficients[(k + i) & 7];
  out[i] = sum;
}
