#pragma once

#include <vector>

#include "kernels/moe_down.h"
#include "kernels/moe_route.h"
#include "kernels/moe_sort.h"

namespace nereid::kernels {

/// A mixture of experts, and how its rows are routed.
struct MoeLayer {
  int64_t width = 0; ///< D, of a row of x and out; a multiple of 32
  int64_t inner = 0; ///< I, after the activation; a multiple of 32
  int experts = 1;
  int top_k = 1;
  Activation activation = Activation::Silu;
  GateLayout gates = GateLayout::Separated; ///< of the rows of up and up_bias
  bool bias = false;                        ///< of both products
  QuantRule rule = QuantRule::Even;         ///< between the products; x is quantised by the even rule
  Scatter scatter = Scatter::Store;         ///< Store: the result does not depend on the order of programs
  Scoring scoring = Scoring::Renormalised;
  int groups = 1;
  int keep_groups = 1;
  float scale = 1; ///< of the weights
};

/// All of all experts, one after another; codes and scales are shuffled (kernels/host/shuffle.h).
struct MoeWeights {
  DeviceMemory up;          ///< e2m1 [2 inner, width]
  DeviceMemory up_scales;   ///< e8m0
  DeviceMemory up_bias;     ///< bf16 [2 inner], where the layer has biases
  DeviceMemory down;        ///< e2m1 [width, inner]
  DeviceMemory down_scales; ///< e8m0
  DeviceMemory down_bias;   ///< bf16 [width]
  DeviceMemory route_bias;  ///< f32 [experts], with scoring=sigmoid
};

/// Memory of one call of a mixture of experts.
struct MoeOperands {
  DeviceMemory x;      ///< bf16 [m, width]
  DeviceMemory logits; ///< f32 [m, experts]
  DeviceMemory out;    ///< out: bf16 [m, width]
};

/// y = sum over the chosen experts of weight (act(x Wg + bg, x Wu + bu) Wd + bd) in MXFP4: routing, sorting,
/// two products. Its calls go to one stream, or one after another: they share a workspace.
class Mxfp4Moe {
public:
  /// With a workspace for up to max_rows rows. Error (User): a dimension is not positive, or not the multiple
  /// it has to be; errors of the device.
  static Result<Mxfp4Moe> create(const Device &device, const MoeLayer &layer, int64_t max_rows,
                                 const LaunchOptions &options = {});

  /// Gives its launches. Error (User): m is not from 1 to max_rows; an operand is null or too short.
  Result<std::vector<LaunchRecord>> operator()(const Stream &stream, const MoeWeights &weights,
                                               const MoeOperands &operands, int64_t m) const;

  /// The same with experts i32 [m, top_k], below 0 for none, and weights f32 [m, top_k] that are known.
  Result<std::vector<LaunchRecord>> run(const Stream &stream, const MoeWeights &weights,
                                        const MoeOperands &operands, DeviceMemory ids,
                                        DeviceMemory id_weights, int64_t m) const;

  /// How the rows of m are sorted: in blocks that the rows of an expert fill on average.
  MoeSortConfig sort_config(int64_t m) const;

private:
  Mxfp4Moe(Device device, const MoeLayer &layer, int64_t max_rows, const LaunchOptions &options)
      : device_(std::move(device)), layer_(layer), max_rows_(max_rows), options_(options) {}
  Status allocate();

  Device device_;
  MoeLayer layer_;
  int64_t max_rows_;
  LaunchOptions options_;
  Buffer<int32_t> ids_, sorted_, block_experts_, places_;
  Buffer<float> id_weights_, parts_;
  Buffer<uint8_t> scratch_, x_codes_, x_scales_, inner_codes_, inner_scales_;
};

} // namespace nereid::kernels
