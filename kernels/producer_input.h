#pragma once

#include <array>
#include <string_view>

#include "dsl/dsl.h"
#include "kernels/device_memory.h"

/// What the kernels that end in a quantisation have in common: where their values come from, and the rule of
/// the scales.
namespace nereid::kernels {

/// Values in bf16, or as the f32 sums of a K split that are yet to be added.
enum class InputSource : int { Bf16, Slices };
constexpr auto nereid_config_names(InputSource) {
  return std::to_array<std::string_view>({"bf16", "slices"});
}

/// How a group's scale comes from its largest magnitude (ir::ScaleRule): the even rule, or the smallest under
/// which no value exceeds 6 (ceil).
enum class QuantRule : int { Even, Ceil };
constexpr auto nereid_config_names(QuantRule) { return std::to_array<std::string_view>({"even", "ceil"}); }

/// The rule of the language for a rule of a config.
constexpr ScaleRule scale_rule(QuantRule rule) {
  return rule == QuantRule::Even ? ScaleRule::Even : ScaleRule::Ceil;
}

/// Error (User): more than one slice where values are bf16.
Status check_source(std::string_view kernel, InputSource source, int split_k);

/// A matrix of one source; slices one after another.
struct ProducerInput {
  InputSource source;
  int split_k; ///< slices
  View2D<const bf16> values;
  View2D<const f32> slices;
};

/// A tile; slices are added in their order.
Tile<f32> load_input(const ProducerInput &input, const Position2D &at, const TileSize &size);

} // namespace nereid::kernels
