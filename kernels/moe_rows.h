#pragma once

#include "kernels/problem_arguments.h"

/// What the two products of a mixture take alike: sorted rows in blocks, each block of one expert.
namespace nereid::kernels {

/// What moe_sort gave, as the products take it.
struct MoeRows {
  DeviceMemory sorted;        ///< i32 [blocks * block_m]
  DeviceMemory block_experts; ///< i32 [blocks]
  int64_t blocks = 1;
  int block_m = 16; ///< the launch is refused where the config has another
  int experts = 1;
  int top_k = 1;
};

/// Error (User): there are 2^31 and more bytes of A's codes, or the rows are in blocks of another size.
Status check_moe_rows(std::string_view kernel, const MoeRows &rows, int block_m, int64_t a_rows, int64_t k);

/// The arguments of rows and experts, in blocks of block_m rows; every expert has a B [n, k].
class MoeArguments {
public:
  MoeArguments(const MoeRows &rows, int block_m, int64_t n, int64_t k)
      : rows_(rows), block_m_(block_m), n_(n), of_experts_(ProblemSize{0, n, k}) {}

  int64_t sorted_rows() const { return rows_.blocks * block_m_; }
  MemoryArgument<const i32> sorted() const {
    return {"sorted", rows_.sorted, sorted_rows() * 4, "i32 [blocks, block_m]"};
  }
  MemoryArgument<const i32> block_experts() const {
    return {"block_experts", rows_.block_experts, rows_.blocks * 4, "i32 [blocks]"};
  }
  MemoryArgument<const u8> b(const DeviceMemory &memory) const {
    return of_experts_.b(memory, rows_.experts);
  }
  MemoryArgument<const u8> b_scales(const DeviceMemory &memory) const {
    return of_experts_.b_scales(memory, rows_.experts);
  }
  MemoryArgument<const bf16> bias(const DeviceMemory &memory, bool is_read, std::string_view layout) const {
    return {"bias", memory, is_read ? rows_.experts * n_ * 2 : 0, layout};
  }
  NumberArgument<int32_t> top_k() const { return {"top_k", rows_.top_k}; }

private:
  const MoeRows &rows_;
  int block_m_;
  int64_t n_;
  ProblemArguments of_experts_;
};

} // namespace nereid::kernels
