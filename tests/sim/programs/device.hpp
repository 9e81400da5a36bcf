// What the C++ kernels of this folder share: clang's builtins under short names, no device library.
#pragma once

#define KERNEL extern "C" [[clang::amdgpu_kernel]]
#define SHARED __attribute__((address_space(3), loader_uninitialized))

static inline unsigned item_x() { return __builtin_amdgcn_workitem_id_x(); }
static inline unsigned group_x() { return __builtin_amdgcn_workgroup_id_x(); }
static inline unsigned size_x() { return __builtin_amdgcn_workgroup_size_x(); }
static inline unsigned global_x() { return group_x() * size_x() + item_x(); }

static inline void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

template <class T> static inline T add_to(T *at, T value) {
  return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
