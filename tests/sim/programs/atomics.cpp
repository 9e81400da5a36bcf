// Atomic operations on global memory and LDS, and what is built from them.
#include "device.hpp"

KERNEL void integer_atomics(const unsigned *in, unsigned *out) {
  unsigned x = in[global_x()];
  add_to(&out[0], x & 0xFF);
  __scoped_atomic_fetch_sub(&out[1], x & 0xF, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_min(&out[2], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&out[3], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_and(&out[4], x | 0xF0F0, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_or(&out[5], x & 0x00FF00FF, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_xor(&out[6], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_min(reinterpret_cast<int *>(&out[7]), static_cast<int>(x), __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(reinterpret_cast<int *>(&out[8]), static_cast<int>(x), __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_DEVICE);
  if (x == 0x12345678)
    out[9] = __scoped_atomic_exchange_n(&out[10], 77u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
}

KERNEL void wide_atomics(const long *in, long *sums, double *total) {
  long x = in[global_x()];
  __scoped_atomic_fetch_add(&sums[0], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_max(&sums[1], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_xor(&sums[2], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(total, static_cast<double>(x % 1024), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

KERNEL void float_atomics(const float *in, float *out) {
  float x = in[global_x()];
  __scoped_atomic_fetch_add(&out[0], x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  // A maximum without an instruction of its own: compare and exchange until nobody came between.
  unsigned *word = reinterpret_cast<unsigned *>(&out[1]);
  unsigned seen = __scoped_atomic_load_n(word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  while (__builtin_bit_cast(float, seen) < x &&
         !__scoped_atomic_compare_exchange_n(word, &seen, __builtin_bit_cast(unsigned, x), false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
    ;
}

static SHARED unsigned bins[64];
KERNEL void histogram(const unsigned char *in, unsigned *out, unsigned count) {
  unsigned t = item_x();
  if (t < 64)
    bins[t] = 0;
  sync();
  for (unsigned i = global_x(); i < count; i += 2 * size_x())
    __scoped_atomic_fetch_add(&bins[in[i] & 63], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  sync();
  if (t < 64)
    add_to(&out[t], bins[t]);
}

static SHARED float shared_total;
static SHARED unsigned long shared_largest;
static SHARED int owner;
KERNEL void shared_atomics(const float *in, float *total, unsigned long *largest, int *owners) {
  unsigned t = item_x();
  if (t == 0) {
    shared_total = 0;
    shared_largest = 0;
    owner = -1;
  }
  sync();
  float x = in[global_x()];
  __scoped_atomic_fetch_add(&shared_total, x, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  unsigned long key = static_cast<unsigned long>(static_cast<unsigned>(x)) << 32 | t;
  __scoped_atomic_fetch_max(&shared_largest, key, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  sync();
  // Exactly one of the work-items with the largest value becomes the owner.
  int nobody = -1;
  if (static_cast<unsigned>(x) == shared_largest >> 32)
    __scoped_atomic_compare_exchange_n(&owner, &nobody, static_cast<int>(t), false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  sync();
  if (t == 0) {
    total[group_x()] = shared_total;
    largest[group_x()] = shared_largest;
    owners[group_x()] = owner;
  }
}

// Appends the numbers that are divisible by 7 to a list, in any order.
KERNEL void filter(const unsigned *in, unsigned *list, unsigned *length, unsigned count) {
  unsigned i = global_x();
  if (i < count && in[i] % 7 == 0)
    list[add_to(length, 1u)] = in[i];
}

// The workgroup that arrives last adds what the others left: one launch for a sum over the grid.
static SHARED bool last;
KERNEL void sum_by_last_arrival(const int *in, int *partial, unsigned *arrived, int *out, unsigned groups) {
  if (item_x() == 0) {
    int sum = 0;
    for (unsigned i = 0; i < 64; ++i)
      sum += in[group_x() * 64 + i];
    __scoped_atomic_store_n(&partial[group_x()], sum, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    last = __scoped_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE) == groups - 1;
  }
  sync();
  if (last && item_x() == 0) {
    int sum = 0;
    for (unsigned i = 0; i < groups; ++i)
      sum += __scoped_atomic_load_n(&partial[i], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    *out = sum;
    *arrived = 0;
  }
}
