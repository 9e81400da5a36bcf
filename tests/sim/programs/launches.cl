// Kernels that show how they were launched.
#include "device.h"

// The hidden arguments of code object version 5 and later, in their order.
kernel void hidden_values(global ulong *out) {
  if (global_x() + global_y() + global_z() != 0)
    return;
  constant uchar *hidden = __builtin_amdgcn_implicitarg_ptr();
  for (uint axis = 0; axis < 3; ++axis) {
    out[axis] = *(constant uint *)(hidden + 4 * axis);
    out[3 + axis] = *(constant ushort *)(hidden + 12 + 2 * axis);
    out[6 + axis] = *(constant ushort *)(hidden + 18 + 2 * axis);
    out[9 + axis] = *(constant ulong *)(hidden + 40 + 8 * axis);
  }
  out[12] = *(constant ushort *)(hidden + 64);
  out[13] = *(constant uint *)(hidden + 120);
}

// The ticket that each workgroup drew, and a sum in floats, whose last bits depend on the order.
kernel void tickets(global uint *next, global uint *drawn, global float *sum) {
  if (item_x() == 0) {
    uint group = group_x();
    drawn[group] = __scoped_atomic_fetch_add(next, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    __scoped_atomic_fetch_add(sum, 1.0f / (float)(group + 3), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
}

// A branch and an index by arguments that the launch may leave out.
kernel void optional_arguments(global int *out, int scale, uint place) {
  if (item_x() == 0)
    out[place] = scale == 0 ? 111 : scale;
}

kernel void last_word(global uint *out, ulong words) {
  if (item_x() == 0)
    out[words - 1] = 7;
}

kernel void copy(global const uint *in, global uint *out) { out[item_x()] = in[item_x()]; }

__attribute__((reqd_work_group_size(32, 2, 1))) kernel void of_one_shape(global uint *out) {
  out[32 * item_y() + item_x()] = item_x();
}

// Takes the whole of the register with the work-item's coordinates for x, as it uses no other one.
kernel void first_coordinate(global uint *out) {
  __scoped_atomic_fetch_add(&out[item_x()], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
