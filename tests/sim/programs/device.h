// What the OpenCL kernels of this folder share: clang's builtins under short names, no device library.
#pragma once

#define item_x() __builtin_amdgcn_workitem_id_x()
#define item_y() __builtin_amdgcn_workitem_id_y()
#define item_z() __builtin_amdgcn_workitem_id_z()
#define group_x() __builtin_amdgcn_workgroup_id_x()
#define group_y() __builtin_amdgcn_workgroup_id_y()
#define group_z() __builtin_amdgcn_workgroup_id_z()
#define size_x() ((uint)__builtin_amdgcn_workgroup_size_x())
#define size_y() ((uint)__builtin_amdgcn_workgroup_size_y())
#define size_z() ((uint)__builtin_amdgcn_workgroup_size_z())
#define global_x() (group_x() * size_x() + item_x())
#define global_y() (group_y() * size_y() + item_y())
#define global_z() (group_z() * size_z() + item_z())

static inline void sync(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
