#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/library_kernel.h"
#include "kernels/nearest_config.h"
#include "kernels/tile_config.h"

/// Which configs the kernels of the library take: a side of a tile is a power of two or a multiple of 16, and
/// the registers of the waves hold it; waves are a power of two. All errors are the user's.
namespace nereid::kernels {

/// A value of a config by its key.
struct KeyValue {
  std::string_view key;
  int value;
};

/// Whether the value of each key is_allowed (config_limits.h).
Status check_values(std::string_view kernel, std::span<const KeyValue> values);

/// A tile of rows x columns on `waves` waves, each lane of which holds at most so many elements. Beyond this
/// the compiler would spend minutes on code that only spills.
Status check_elements(std::string_view kernel, const KeyValue &rows, const KeyValue &columns, int waves,
                      int64_t max_per_lane);

/// Whether blocks of rows fit y or z of a grid.
Status check_rows(std::string_view kernel, int block_m, const MaybeSize &size);

/// The tile of a product. `fused`: A is bf16 and quantised in the kernel.
Status check_tile(std::string_view kernel, const TileConfig &config, const MaybeSize &size, bool fused);

} // namespace nereid::kernels
