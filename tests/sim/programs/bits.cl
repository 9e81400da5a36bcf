// Integers of 32 bits: division, bits, bytes; instructions written by hand.
#include "device.h"

kernel void divisions(global const uint *a, global const uint *b, global uint *out, uint count) {
  uint i = global_x();
  uint x = a[i], y = b[i];
  int sx = (int)x, sy = (int)y;
  global uint *to = out + i;
  to[0 * count] = x / y;
  to[1 * count] = x % y;
  to[2 * count] = (uint)(sx / sy);
  to[3 * count] = (uint)(sx % sy);
  to[4 * count] = x / 10 + x % 1000;
  to[5 * count] = (uint)(sx / -7);
  to[6 * count] = (x & 0xFFFF) / (y & 0xFF ? y & 0xFF : 1);
  to[7 * count] = (uint)(((ulong)x * y) >> 32);
  to[8 * count] = (uint)(((long)sx * sy) >> 32);
}

kernel void bit_counts(global const uint *a, global const uint *b, global uint *out, uint count) {
  uint i = global_x();
  uint x = a[i], y = b[i];
  ulong wide = (ulong)x << 32 | y;
  global uint *to = out + i;
  to[0 * count] = (uint)__builtin_popcount(x) + (uint)__builtin_popcountll(wide);
  to[1 * count] = x ? (uint)__builtin_clz(x) : 32;
  to[2 * count] = wide ? (uint)__builtin_ctzll(wide) : 64;
  to[3 * count] = __builtin_bitreverse32(x);
  to[4 * count] = __builtin_bswap32(x) ^ (uint)__builtin_bswap64(wide);
  to[5 * count] = x << (y & 31) | x >> (-y & 31);
  to[6 * count] = x >> 5 & 0x7FF;
  to[7 * count] = (x & y) | (~x & 0x0F0F0F0F);
  to[8 * count] = (uint)((int)(x << 9) >> 20);
  to[9 * count] = x ^ y ^ 0x3C3C3C3C;
  to[10 * count] = (x < y ? y - x : x - y) + (x > y ? x : y);
}

kernel void checksums(global const uchar *in, global uint *crc, global uint *adler, uint bytes) {
  uint i = global_x(), sum = ~0u, low = 1, high = 0;
  for (uint k = 0; k < bytes; ++k) {
    uchar byte = in[i * bytes + k];
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  crc[i] = ~sum;
  adler[i] = high << 16 | low;
}

kernel void by_hand(global const uint *a, global const uint *b, global uint *out, uint count) {
  uint i = global_x();
  uint x = a[i], y = b[i], result, uniform;
  ulong carry;
  global uint *to = out + i;
  __asm__("v_perm_b32 %0, %1, %2, %3" : "=v"(result) : "v"(x), "v"(y), "s"(0x06010703));
  to[0 * count] = result;
  __asm__("v_bfe_u32 %0, %1, 7, 9" : "=v"(result) : "v"(x));
  to[1 * count] = result;
  // The compiler keeps no wait states between what is written here and what reads the carry.
  __asm__("v_add_co_u32 %0, %1, %2, %3\n\tv_addc_co_u32 %0, %1, 0, %0, %1\n\ts_nop 1"
          : "=&v"(result), "=s"(carry)
          : "v"(x), "v"(y));
  to[2 * count] = result;
  __asm__("v_mov_b32_dpp %0, %1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf" : "=v"(result) : "v"(x));
  to[3 * count] = result;
  __asm__("v_sad_u8 %0, %1, %2, 5" : "=v"(result) : "v"(x), "v"(y));
  to[4 * count] = result;
  __asm__("s_bitreplicate_b64_b32 %0, %1" : "=s"(carry) : "s"(__builtin_amdgcn_readfirstlane((int)count)));
  __asm__("s_bfm_b32 %0, 5, 3" : "=s"(uniform));
  to[5 * count] = (uint)carry ^ (uint)(carry >> 32) ^ uniform;
  __asm__("v_lshl_or_b32 %0, %1, 3, %2\n\tv_bcnt_u32_b32 %0, %0, %1" : "=&v"(result) : "v"(x), "v"(y));
  to[6 * count] = result;
  __asm__("v_med3_i32 %0, %1, %2, 50" : "=v"(result) : "v"(x), "v"(y));
  to[7 * count] = result;
}
