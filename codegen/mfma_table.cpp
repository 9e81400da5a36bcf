#include "codegen/mfma_table.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::codegen {

// clang-format off
static constexpr MfmaFacts table[] = {
    // size, k, format,             intrinsic,                                  dwords, below, above, code
    {16, 128, ir::Format::E2M1, "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", 4, 4, 0, 4},
    {32, 64, ir::Format::E2M1, "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", 4, 4, 0, 4},
    {16, 32, ir::Format::BF16, "llvm.amdgcn.mfma.f32.16x16x32.bf16", 4, 3, 0, 0},
    {32, 16, ir::Format::BF16, "llvm.amdgcn.mfma.f32.32x32x16.bf16", 4, 3, 0, 0},
    {16, 32, ir::Format::F16, "llvm.amdgcn.mfma.f32.16x16x32.f16", 4, 3, 0, 0},
    {32, 16, ir::Format::F16, "llvm.amdgcn.mfma.f32.32x32x16.f16", 4, 3, 0, 0},
};
// clang-format on

const MfmaFacts *find_mfma(ir::Format format, unsigned wanted_size) {
  const MfmaFacts *best = nullptr;
  for (const MfmaFacts &facts : table)
    if (facts.format == format && (!best || facts.size == wanted_size))
      best = &facts;
  return best;
}

std::string mfma_formats() {
  std::vector<std::string_view> names;
  for (const MfmaFacts &line : table)
    if (std::find(names.begin(), names.end(), ir::facts(line.format).name) == names.end())
      names.push_back(ir::facts(line.format).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace nereid::codegen
