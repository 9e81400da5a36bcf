// Where the kernels that end in a quantisation take their values from, and how they store the result.
#include "kernels/producer_input.h"

#include <fmt/format.h>

#include "kernels/split_k_semaphore.h"

namespace nereid::kernels {
namespace {

template <class T> Tile<T> load_in_bounds(const Ptr<const T> &pointers, const Mask &in_bounds) {
  return in_bounds ? load(pointers, *in_bounds) : load(pointers);
}

} // namespace

Status check_source(std::string_view kernel, InputSource source, int split_k) {
  if (source == InputSource::Bf16 && split_k != 1)
    return user_error(fmt::format("{}: split_k={} with source=bf16", kernel, split_k),
                      "use source=slices, or leave split_k out");
  return {};
}

Tile<f32> load_input(const ProducerInput &input, const Long &first, const Tile<i32> &offsets,
                     const Mask &in_bounds) {
  if (input.source == InputSource::Bf16)
    return load_in_bounds(input.values + first + offsets, in_bounds).to<f32>();
  Var sum = load_in_bounds(input.slices + first + offsets, in_bounds);
  for (Int split : range(1, input.split_k, {.unroll = max_unrolled_slices - 1}))
    sum += load_in_bounds(input.slices + (first + input.slice * split.to<i64>()) + offsets, in_bounds);
  return sum;
}

void store_quantized(const Ptr<u8> &codes, const Ptr<u8> &scales, bool shuffled, const TileOrigin &origin,
                     const Quantized &quantized) {
  store_bytes(codes, origin, quantized.codes, 1);
  if (shuffled)
    store_shuffled_scales(scales, origin, quantized.scales);
  else
    store_bytes(scales, origin, quantized.scales, 5);
}

} // namespace nereid::kernels
