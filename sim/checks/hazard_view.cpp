#include <algorithm>
#include <string_view>

#include "sim/checks/hazard_table.h"

namespace nereid::sim {

namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

/// Steps of a matrix operation, from its shape: the newest ones of 16 and 32 rows take 4 and 8, older ones of
/// several blocks and those on f32 twice that, and 8-bit operands of the mixed formats twice that.
unsigned matrix_passes(std::string_view name, const Instruction &instruction) {
  const bool on_singles = name.starts_with("v_mfma_f32_") && name.ends_with("_f32");
  if (has(name, "f64"))
    return has(name, "16x16") ? 16 : 8;
  if (has(name, "_4x4x"))
    return 2;
  unsigned passes = has(name, "_32x32") ? 8 : 4;
  if (has(name, "f8f6f4")) {
    const bool a_is_wide = instruction.cbsz < 2, b_is_wide = instruction.blgp < 2;
    return a_is_wide || b_is_wide ? 2 * passes : passes;
  }
  return on_singles || has(name, "_4b_") || has(name, "_2b_") ? 2 * passes : passes;
}

constexpr std::string_view transcendental_prefixes[] = {"v_exp_",  "v_log_", "v_rcp_", "v_rsq_",
                                                        "v_sqrt_", "v_sin_", "v_cos_"};
constexpr std::string_view memory_prefixes[] = {"buffer_", "tbuffer_", "global_", "flat_", "scratch_", "ds_"};

} // namespace

HazardView::HazardView(const Instruction &of, const Effects &registers)
    : instruction(&of), effects(&registers), name(of.operation ? of.operation->name : std::string_view()) {
  auto starts_with = [this](std::string_view prefix) { return name.starts_with(prefix); };
  vector_alu = name.starts_with("v_");
  matrix = of.category == Category::Mfma;
  if (matrix) {
    double_matrix = has(name, "f64");
    wide_matrix = !double_matrix && !(name.starts_with("v_mfma_f32_") && name.ends_with("_f32"));
    passes = matrix_passes(name, of);
  }
  dot = name.starts_with("v_dot");
  transcendental = std::ranges::any_of(transcendental_prefixes, starts_with);
  memory = std::ranges::any_of(memory_prefixes, starts_with);
  vector_memory = memory && !name.starts_with("ds_");
}

} // namespace nereid::sim
