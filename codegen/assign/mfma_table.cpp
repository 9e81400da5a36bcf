#include "codegen/assign/mfma_table.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::codegen {

using ir::Format;

// clang-format off
static constexpr MfmaFacts instructions[] = {
    // kind,          size, k, intrinsic
    {MfmaKind::F8F6F4, 16, 128, "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4"},
    {MfmaKind::F8F6F4, 32, 64, "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4"},
    {MfmaKind::BF16, 16, 32, "llvm.amdgcn.mfma.f32.16x16x32.bf16"},
    {MfmaKind::BF16, 32, 16, "llvm.amdgcn.mfma.f32.32x32x16.bf16"},
    {MfmaKind::F16, 16, 32, "llvm.amdgcn.mfma.f32.16x16x32.f16"},
    {MfmaKind::F16, 32, 16, "llvm.amdgcn.mfma.f32.32x32x16.f16"},
    {MfmaKind::I8, 16, 64, "llvm.amdgcn.mfma.i32.16x16x64.i8"},
    {MfmaKind::I8, 32, 32, "llvm.amdgcn.mfma.i32.32x32x32.i8"},
};

static constexpr OperandFacts operands[] = {
    // kind,          format,    dwords, below, above, code
    {MfmaKind::F8F6F4, Format::E2M1, 4, 4, 0, 4},
    {MfmaKind::F8F6F4, Format::E4M3, 8, 4, 1, 0},
    {MfmaKind::F8F6F4, Format::E5M2, 8, 4, 1, 1},
    {MfmaKind::F8F6F4, Format::E2M3, 6, 0, 0, 2},
    {MfmaKind::F8F6F4, Format::E3M2, 6, 0, 0, 3},
    {MfmaKind::BF16, Format::BF16, 4, 3, 0, 0},
    {MfmaKind::BF16, Format::E2M1, 4, 2, 0, 0},
    {MfmaKind::BF16, Format::E4M3, 4, 3, 0, 0},
    {MfmaKind::BF16, Format::E5M2, 4, 3, 0, 0},
    {MfmaKind::F16, Format::F16, 4, 3, 0, 0},
    {MfmaKind::F16, Format::E2M1, 4, 2, 0, 0},
    {MfmaKind::F16, Format::E4M3, 4, 3, 0, 0},
    {MfmaKind::F16, Format::E5M2, 4, 3, 0, 0},
    {MfmaKind::I8, std::nullopt, 4, 4, 0, 0},
};
// clang-format on

std::optional<MfmaKind> mfma_kind(SideFormat a, SideFormat b) {
  if (!a && !b)
    return MfmaKind::I8;
  if (!a || !b)
    return std::nullopt;
  for (auto [format, kind] : {std::pair{Format::BF16, MfmaKind::BF16}, {Format::F16, MfmaKind::F16}})
    if (*a == format || *b == format) {
      const Format other = *a == format ? *b : *a;
      const bool fits = other == format || ir::facts(other).scaled;
      return fits ? std::optional(kind) : std::nullopt;
    }
  return MfmaKind::F8F6F4;
}

const MfmaFacts &find_mfma(MfmaKind kind, unsigned size) {
  return *std::find_if(std::begin(instructions), std::end(instructions),
                       [&](const MfmaFacts &facts) { return facts.kind == kind && facts.size == size; });
}

const OperandFacts *find_operand(MfmaKind kind, SideFormat format) {
  for (const OperandFacts &facts : operands)
    if (facts.kind == kind && facts.format == format)
      return &facts;
  return nullptr;
}

std::string_view name_of(SideFormat format) { return format ? ir::facts(*format).name : "i8"; }

std::string operand_formats() {
  std::vector<std::string_view> names;
  for (const OperandFacts &line : operands)
    if (std::find(names.begin(), names.end(), name_of(line.format)) == names.end())
      names.push_back(name_of(line.format));
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace nereid::codegen
