// The argument block of AMD's f4gemm kernels (aiter, csrc/py_itfs_cu/asm_gemm_a4w4.cu): slots of 16 bytes.
#include "tools/calibrate/product_launch.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace nereid::calibrate {
namespace {

enum Slot : size_t {
  SlotD = 0,
  SlotA = 2,
  SlotB = 3,
  SlotAlpha = 4,
  SlotStrideD = 6,
  SlotStrideC = 8,
  SlotStrideA = 10,
  SlotStrideB = 12,
  SlotM = 14,
  SlotN = 15,
  SlotK = 16,
  SlotScaleA = 17,
  SlotScaleB = 18,
  SlotStrideScaleA = 19,
  SlotStrideScaleB = 21,
  SlotLog2SplitK = 23,
};
constexpr size_t slot_size = 16;
constexpr size_t arguments_size = SlotLog2SplitK * slot_size + sizeof(uint32_t);
constexpr uint32_t work_items = 256;
constexpr size_t scale_block = 32; // elements that share a scale

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

template <class Value> void set(std::vector<std::byte> &arguments, Slot slot, Value value) {
  std::memcpy(arguments.data() + slot * slot_size, &value, sizeof(value));
}

} // namespace

Result<sim::Launch> product_launch(const std::string &kernel, const Tile &tile, const Shape &shape,
                                   sim::Memory &memory) {
  const auto [m, n, k] = shape;
  // aiter pads matrices of scales to 256 rows and 8 columns, and C to 32 rows.
  const size_t scale_columns = round_up(k / scale_block, 8);
  if (k % scale_block != 0 || n > std::numeric_limits<uint32_t>::max() / 2)
    return user_error(fmt::format("K {} is no multiple of {}", k, scale_block));
  struct Matrix {
    Slot slot;
    size_t bytes;
  };
  const Matrix matrices[] = {{SlotD, round_up(m, 32) * n * 2},
                             {SlotA, m * k / 2},
                             {SlotB, n * k / 2},
                             {SlotScaleA, round_up(m, 256) * scale_columns},
                             {SlotScaleB, round_up(n, 256) * scale_columns}};
  sim::Launch launch;
  launch.kernel = kernel;
  launch.grid = {static_cast<uint32_t>((n + tile.n - 1) / tile.n),
                 static_cast<uint32_t>((m + tile.m - 1) / tile.m), 1};
  launch.block = {work_items, 1, 1};
  launch.kernarg.resize(arguments_size);
  for (const Matrix &matrix : matrices) {
    NEREID_TRY(const uint64_t address, memory.allocate(matrix.bytes));
    set(launch.kernarg, matrix.slot, address);
  }
  const std::pair<Slot, size_t> numbers[] = {{SlotStrideD, n},
                                             {SlotStrideC, n},
                                             {SlotStrideA, k},
                                             {SlotStrideB, k},
                                             {SlotM, m},
                                             {SlotN, n},
                                             {SlotK, k},
                                             {SlotStrideScaleA, scale_columns},
                                             {SlotStrideScaleB, scale_columns},
                                             {SlotLog2SplitK, 0}};
  for (const auto &[slot, value] : numbers)
    set(launch.kernarg, slot, static_cast<uint32_t>(value));
  set(launch.kernarg, SlotAlpha, 1.0f);
  launch.caches = sim::CacheState::Rotating;
  launch.timing = sim::Timing::Only;
  return launch;
}

} // namespace nereid::calibrate
