#pragma once

#include <array>
#include <string_view>

#include "kernels/epilogues.h"

/// Gated layers: which function of gate and up, and where each stands among the columns of both.
namespace nereid::kernels {

/// What a gate is to its up: silu(g) u, gelu(g) u, or GPT-OSS's g sigmoid(1.702 g) (u + 1) of g at most 7 and
/// u from -7 to 7.
enum class Activation : int { Silu, Gelu, Swiglu };
constexpr auto nereid_config_names(Activation) {
  return std::to_array<std::string_view>({"silu", "gelu", "swiglu"});
}

/// Columns of gates and ups, or the rows of their weights: all gates and then all ups; 16 gates and their 16
/// ups by turns, as AITER's interleaved weights have them; or a gate and its up by turns, as GPT-OSS's have.
enum class GateLayout : int { Separated, Interleaved, Pairs };
constexpr auto nereid_config_names(GateLayout) {
  return std::to_array<std::string_view>({"separated", "interleaved", "pairs"});
}

/// act(gate) * up, of the shape of both.
inline Tile<f32> activate(Activation activation, const Tile<f32> &gate, const Tile<f32> &up) {
  switch (activation) {
  case Activation::Silu:
    return silu(gate) * up;
  case Activation::Gelu:
    return gelu(gate) * up;
  case Activation::Swiglu:
    break;
  }
  const Tile<f32> limited = min(gate, 7.0F);
  return limited * sigmoid(1.702F * limited) * (clamp(up, -7.0F, 7.0F) + 1.0F);
}

/// Gates and ups of a tile that has both, [rows, 2k].
inline std::pair<Tile<f32>, Tile<f32>> split_gates(GateLayout layout, const Tile<f32> &both) {
  const int64_t rows = both.size(0), k = both.size(1) / 2;
  const int64_t run = layout == GateLayout::Separated ? k : layout == GateLayout::Interleaved ? 16 : 1;
  const auto [gates, ups] = split(permute(reshape(both, {rows, k / run, 2, run}), {0, 1, 3, 2}));
  return {reshape(gates, {rows, k}), reshape(ups, {rows, k})};
}

/// Error (User): an operand's layout is not that of the config.
Error wrong_gates(std::string_view kernel, GateLayout operand, GateLayout config);

} // namespace nereid::kernels
