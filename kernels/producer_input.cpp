// Where the kernels that end in a quantisation take their values from.
#include "kernels/producer_input.h"

#include <fmt/format.h>

#include "kernels/split_k_semaphore.h"

namespace nereid::kernels {

Status check_source(std::string_view kernel, InputSource source, int split_k) {
  if (source == InputSource::Bf16 && split_k != 1)
    return user_error(fmt::format("{}: split_k={} with source=bf16", kernel, split_k),
                      "use source=slices, or leave split_k out");
  return {};
}

Tile<f32> load_input(const ProducerInput &input, const Position2D &at, const TileSize &size) {
  if (input.source == InputSource::Bf16)
    return input.values.load(at, size).to<f32>();
  return sum_of_slices(input.slices, input.split_k, at, size);
}

} // namespace nereid::kernels
