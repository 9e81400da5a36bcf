// The matrix instructions that dots run on, a line each with the layouts of its operands and result.
#include "codegen/assign/mfma_table.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/layout/layout_error.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

using ir::Format;

LinearLayout along(Space space, unsigned dim, int64_t size) {
  return LinearLayout::identity1d(space, 2, dim, size);
}

namespace {

constexpr int64_t lanes = gfx950::lanes;

/// A: a lane holds `run` consecutive values of one row; the lanes above those of all rows go on along K.
LinearLayout rows(int64_t size, int64_t run) {
  return along(Space::Register, 1, run) * along(Space::Lane, 0, size) * along(Space::Lane, 1, lanes / size);
}

/// B: likewise of one column.
LinearLayout columns(int64_t size, int64_t run) {
  return along(Space::Register, 0, run) * along(Space::Lane, 1, size) * along(Space::Lane, 0, lanes / size);
}

/// A lane holds 4 consecutive rows of one column, the lanes above those of all columns go on along the rows.
LinearLayout quads(int64_t size) {
  return along(Space::Register, 0, 4) * along(Space::Lane, 1, size) * along(Space::Lane, 0, lanes / size) *
         along(Space::Register, 0, size * size / lanes / 4);
}

const std::vector<MfmaFacts> &instructions() {
  // clang-format off
  static const std::vector<MfmaFacts> table = {
      // kind, intrinsic, A, B, result
      {MfmaKind::F8F6F4, "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4", rows(16, 32), columns(16, 32), quads(16)},
      {MfmaKind::F8F6F4, "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4", rows(32, 32), columns(32, 32), quads(32)},
      {MfmaKind::BF16, "llvm.amdgcn.mfma.f32.16x16x32.bf16", rows(16, 8), columns(16, 8), quads(16)},
      {MfmaKind::BF16, "llvm.amdgcn.mfma.f32.32x32x16.bf16", rows(32, 8), columns(32, 8), quads(32)},
      {MfmaKind::F16, "llvm.amdgcn.mfma.f32.16x16x32.f16", rows(16, 8), columns(16, 8), quads(16)},
      {MfmaKind::F16, "llvm.amdgcn.mfma.f32.32x32x16.f16", rows(32, 8), columns(32, 8), quads(32)},
      {MfmaKind::I8, "llvm.amdgcn.mfma.i32.16x16x64.i8", rows(16, 16), columns(16, 16), quads(16)},
      {MfmaKind::I8, "llvm.amdgcn.mfma.i32.32x32x32.i8", rows(32, 16), columns(32, 16), quads(32)},
  };
  // clang-format on
  return table;
}

// clang-format off
constexpr OperandFacts operands[] = {
    // kind,          format,      runs, code
    {MfmaKind::F8F6F4, Format::E2M1, 1, 4},
    {MfmaKind::F8F6F4, Format::E4M3, 2, 0},
    {MfmaKind::F8F6F4, Format::E5M2, 2, 1},
    {MfmaKind::F8F6F4, Format::E2M3, 1, 2},
    {MfmaKind::F8F6F4, Format::E3M2, 1, 3},
    {MfmaKind::BF16, Format::BF16, 1, 0},
    {MfmaKind::BF16, Format::E2M1, 1, 0},
    {MfmaKind::BF16, Format::E4M3, 1, 0},
    {MfmaKind::BF16, Format::E5M2, 1, 0},
    {MfmaKind::BF16, Format::E2M3, 1, 0},
    {MfmaKind::BF16, Format::E3M2, 1, 0},
    {MfmaKind::F16, Format::F16, 1, 0},
    {MfmaKind::F16, Format::E2M1, 1, 0},
    {MfmaKind::F16, Format::E4M3, 1, 0},
    {MfmaKind::F16, Format::E5M2, 1, 0},
    {MfmaKind::F16, Format::E2M3, 1, 0},
    {MfmaKind::F16, Format::E3M2, 1, 0},
    {MfmaKind::I8, std::nullopt, 1, 0},
};
// clang-format on

LinearLayout without_factor(const LinearLayout &layout, const LinearLayout &inner) {
  std::optional<LinearLayout> rest = divide_left(layout, inner);
  require_layout(rest.has_value(), "a matrix instruction's layout has other registers than were expected");
  return std::move(*rest);
}

} // namespace

LinearLayout layout_of_elements(const LinearLayout &values, const OperandFacts &operand) {
  const int64_t held = values.registers(), run = held / operand.runs;
  const LinearLayout in_runs = along(Space::Register, 1, run) *
                               without_factor(values, along(Space::Register, 1, held)) *
                               along(Space::Register, 1, operand.runs);
  const bool pairs = operand.format && ir::facts(*operand.format).bits == 4;
  return pairs ? without_factor(in_runs, along(Space::Register, 1, 2)) : in_runs;
}

LinearLayout layout_of_scales(const LinearLayout &values) {
  const int64_t size = values.dim(0).size(), groups = values.dim(1).size() / ir::scale_group;
  Result<LinearLayout> grouped = reshape(values, {size, groups, ir::scale_group});
  require_layout(grouped.ok(), "a matrix instruction has no whole groups");
  return reduce(*grouped, 2);
}

LinearLayout layout_of_runs(const LinearLayout &values) {
  const int64_t size = values.dim(0).size(), runs = values.dim(1).size() / run_of_halves;
  Result<LinearLayout> grouped = reshape(values, {size, runs, run_of_halves});
  require_layout(grouped.ok(), "a matrix instruction has no whole runs");
  return reduce(*grouped, 2);
}

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

const MfmaFacts &find_mfma(MfmaKind kind, int64_t size) {
  return *std::find_if(instructions().begin(), instructions().end(),
                       [&](const MfmaFacts &mfma) { return mfma.kind == kind && mfma.size() == size; });
}

const OperandFacts *find_operand(MfmaKind kind, SideFormat format) {
  for (const OperandFacts &facts : operands)
    if (facts.kind == kind && facts.format == format)
      return &facts;
  return nullptr;
}

unsigned stored_bits(SideFormat format) { return format ? ir::facts(*format).bits : 8; }

unsigned multiplied_bits(MfmaKind kind, SideFormat format) {
  return kind == MfmaKind::BF16 || kind == MfmaKind::F16 ? 16 : stored_bits(format);
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
