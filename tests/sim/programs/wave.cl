// Lanes of a wave that exchange values without LDS.
#include "device.h"

kernel void ballots(global const int *in, global ulong *masks, global uint *ranks, global int *first) {
  uint i = global_x(), lane = i & 63;
  int x = in[i];
  ulong positive = __builtin_amdgcn_ballot_w64(x > 0);
  ranks[i] = __builtin_amdgcn_mbcnt_hi((uint)(positive >> 32), __builtin_amdgcn_mbcnt_lo((uint)positive, 0));
  first[i] = __builtin_amdgcn_readfirstlane(x);
  if (x > 10)
    first[i] += __builtin_amdgcn_readfirstlane(x);
  if (lane == 0)
    masks[i >> 6] = positive;
}

kernel void lane_moves(global const int *in, global int *out, uint count) {
  uint i = global_x(), lane = i & 63;
  int x = in[i];
  global int *to = out + i;
  to[0 * count] = __builtin_amdgcn_readlane(x, 17);
  to[1 * count] = __builtin_amdgcn_ds_bpermute((int)(((lane * 5 + 3) & 63) << 2), x);
  to[2 * count] = __builtin_amdgcn_ds_permute((int)(((lane * 5 + 3) & 63) << 2), x);
  to[3 * count] = __builtin_amdgcn_ds_swizzle(x, 0x041F);                     // xor 1
  to[4 * count] = __builtin_amdgcn_ds_swizzle(x, 0x8000 | 0x1B);              // each four reversed
  to[5 * count] = __builtin_amdgcn_update_dpp(-1, x, 0x111, 0xF, 0xF, false); // row_shr:1
  to[6 * count] = __builtin_amdgcn_update_dpp(-1, x, 0x140, 0xF, 0xF, false); // row_mirror
  to[7 * count] =
      __builtin_amdgcn_update_dpp(-1, x, 0x12C, 0x5, 0x3, false);           // row_ror:12, some rows and banks
  to[8 * count] = __builtin_amdgcn_update_dpp(0, x, 0x142, 0xF, 0xF, true); // row_bcast:15
}

// Sum and inclusive scan of a wave by DPP, without a branch.
kernel void wave_sums(global const int *in, global int *scans, global int *sums) {
  uint i = global_x();
  int x = in[i];
  x += __builtin_amdgcn_update_dpp(0, x, 0x111, 0xF, 0xF, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x112, 0xF, 0xF, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x114, 0xF, 0xF, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x118, 0xF, 0xF, true);
  x += __builtin_amdgcn_update_dpp(0, x, 0x142, 0xA, 0xF, false);
  x += __builtin_amdgcn_update_dpp(0, x, 0x143, 0xC, 0xF, false);
  scans[i] = x;
  int sum = __builtin_amdgcn_readlane(x, 63);
  if ((i & 63) == 0)
    sums[i >> 6] = sum;
}

typedef uint pair __attribute__((ext_vector_type(2)));
kernel void lane_swaps(global const uint *in, global uint *out, uint count) {
  uint i = global_x();
  uint x = in[i], y = x * 3;
  pair by16 = __builtin_amdgcn_permlane16_swap(x, y, false, false);
  pair by32 = __builtin_amdgcn_permlane32_swap(x, y, false, false);
  out[i] = by16.x;
  out[i + count] = by16.y;
  out[i + 2 * count] = by32.x;
  out[i + 3 * count] = by32.y;
}

// Every lane of a group of equal keys gets the sum of the group: a loop over the keys that are left.
kernel void sums_by_key(global const uint *keys, global const int *values, global int *out) {
  uint i = global_x();
  uint key = keys[i];
  int value = values[i], result = 0;
  bool left = true;
  while (left) {
    uint chosen = (uint)__builtin_amdgcn_readfirstlane((int)key);
    if (key == chosen) {
      ulong members = __builtin_amdgcn_ballot_w64(true);
      int sum = 0;
      while (members) {
        int lane = __builtin_ctzll(members);
        members &= members - 1;
        sum += __builtin_amdgcn_readlane(value, lane);
      }
      result = sum;
      left = false;
    }
  }
  out[i] = result;
}
