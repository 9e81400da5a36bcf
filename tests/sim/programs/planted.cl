// Kernels with one mistake each, at the line that ends with "here" (or "or here").
#include "device.h"

kernel void no_barrier(global const int *in, global int *out) {
  local int values[128];
  uint t = item_x();
  values[t] = in[t];            // here
  out[t] = values[127 - t];     // or here
}

kernel void one_beyond(global const int *in, global int *out, uint count) {
  uint i = global_x();
  if (i < count)
    out[i + 1] = in[i] * 3;     // here
}

kernel void one_beyond_lds(global int *out) {
  local int values[64];
  uint t = item_x();
  values[t + (out[0] & 1)] = 1; // here
  sync();
  out[t] = values[t];
}

kernel void lds_index_never_written(global int *out) {
  local uint places[64];
  uint t = item_x();
  if (t < 60)
    places[t] = 63 - t;
  sync();
  out[places[t]] = (int)t;      // here
}

kernel void private_index_never_written(global const uint *in, global int *out, uint count) {
  uint places[200]; // too many for registers
  uint t = item_x();
  for (uint k = 0; k < count; ++k)
    places[k] = in[k];
  uint place = places[in[t]];
  out[place] = (int)t;          // here
}

kernel void branch_on_memory_never_written(global const int *in, global int *out) {
  uint t = item_x();
  int steps = 0;
  for (int x = in[t]; x > 0; x >>= 1) // here
    ++steps;
  out[t] = steps;
}

kernel void sum_of_memory_never_written(global const int *in, global int *out) {
  uint t = item_x();
  out[t] = in[t] + 1;           // here
}

kernel void barrier_of_one_wave(global int *out) {
  uint t = item_x();
  if (t < 64)
    __builtin_amdgcn_s_barrier(); // here
  out[t] = 1;
}

kernel void no_wait(global const int *in, global int *out) {
  uint t = item_x();
  int x;
  __asm__ volatile("global_load_dword %0, %1, off" : "=v"(x) : "v"(in + t)); // or here
  out[t] = x + 1;               // here
}

kernel void misplaced_atomic(global char *out) {
  __scoped_atomic_fetch_add((global int *)(out + 2), 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); // here
}

kernel void never_ends(global volatile int *out) {
  while (out[0] == 0)           // here
    ;
}

kernel void trapped(global int *out) {
  if (out[item_x()] < 0)
    __builtin_trap();           // here
  out[item_x()] = 1;
}

kernel void two_writers(global int *out) {
  out[item_x()] = (int)group_x(); // here
}
