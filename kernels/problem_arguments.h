#pragma once

#include "kernels/host/shuffle.h"
#include "kernels/library_kernel.h"
#include "kernels/output_scaling.h"

namespace nereid::kernels {

/// The programs that a dimension needs in blocks.
inline uint32_t programs(int64_t size, int64_t block) { return static_cast<uint32_t>(blocks(size, block)); }

/// The arguments that several kernels have; `batch` of a problem lie one after another. Sizes are 0 where the
/// problem is not known.
class ProblemArguments {
public:
  explicit ProblemArguments(const MaybeSize &size) : size_(size.value_or(ProblemSize{})) {}

  DimensionArgument m() const { return {"m", size_.m}; }
  DimensionArgument n() const { return {"n", size_.n}; }
  DimensionArgument k() const { return {"k", size_.k}; }

  MemoryArgument<const bf16> bf16_a(std::string_view name, const DeviceMemory &memory,
                                    int64_t batch = 1) const {
    return {name, memory, batch * size_.m * size_.k * 2, "bf16 [m, k]"};
  }
  template <class T> MemoryArgument<T> codes_a(std::string_view name, const DeviceMemory &memory) const {
    return {name, memory, size_.m * size_.k / 2, "e2m1 [m, k/2]"};
  }
  template <class T>
  MemoryArgument<T> shuffled_a_scales(std::string_view name, const DeviceMemory &memory) const {
    return {name, memory, host::shuffled_scale_bytes(size_.m, size_.k), shuffled_scales_layout};
  }
  template <class T>
  MemoryArgument<T> plain_a_scales(std::string_view name, const DeviceMemory &memory) const {
    return {name, memory, size_.m * (size_.k / 32), "e8m0 [m, k/32]"};
  }
  template <class T>
  MemoryArgument<T> a_scales(std::string_view name, const DeviceMemory &memory, bool shuffled) const {
    return shuffled ? shuffled_a_scales<T>(name, memory) : plain_a_scales<T>(name, memory);
  }
  MemoryArgument<const u8> b(const DeviceMemory &memory, int64_t batch = 1) const {
    return {"b", memory, batch * host::shuffled_b_bytes(size_.n, size_.k), shuffled_b_layout};
  }
  MemoryArgument<const u8> b_scales(const DeviceMemory &memory, int64_t batch = 1) const {
    return {"b_scales", memory, batch * host::shuffled_scale_bytes(size_.n, size_.k), shuffled_scales_layout};
  }
  MemoryArgument<const bf16> c(const Epilogue &epilogue, Scaling scaling) const {
    return {"c", epilogue.c, scaling == Scaling::AlphaBeta ? size_.m * size_.n * 2 : 0, "bf16 [m, n]"};
  }
  MemoryArgument<bf16> bf16_out(const DeviceMemory &memory, int64_t batch = 1) const {
    return {"out", memory, batch * size_.m * size_.n * 2, "bf16 [m, n]"};
  }
  template <class T> MemoryArgument<T> slices(const DeviceMemory &memory, int64_t split_k) const {
    return {"slices", memory, split_k * size_.m * size_.n * 4, "f32 [split_k, m, n]"};
  }

private:
  ProblemSize size_;
};

} // namespace nereid::kernels
