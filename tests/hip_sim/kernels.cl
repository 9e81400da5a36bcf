// The kernels of the tests: clang makes a code object of them, without AMD's device library.

static inline int element(void) {
  return (int)(__builtin_amdgcn_workgroup_id_x() * (uint)__builtin_amdgcn_workgroup_size_x() +
               __builtin_amdgcn_workitem_id_x());
}

kernel void add(global const float *x, global const float *y, global float *z, int n) {
  int i = element();
  if (i < n)
    z[i] = x[i] + y[i];
}

// to = to * factor + plus: what two launches leave tells which was first.
kernel void step(global int *to, int factor, int plus) {
  int i = element();
  to[i] = to[i] * factor + plus;
}

// A store far outside what `to` points to.
kernel void stray(global int *to, long distance) { to[distance] = 1; }

// Stops only at the simulator's bound on instructions.
kernel void spin(global volatile int *to) {
  while (1)
    to[0] = 1;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1))) void reversed(global int *to) {
  local int buffer[1024];
  int i = (int)__builtin_amdgcn_workitem_id_x();
  buffer[i] = i;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  to[i] = buffer[63 - i];
}
