#pragma once

#include <cstddef>

namespace nereid::sim {

/// Makes every byte of [at, at + size), private memory that starts at a page, have that value, without
/// touching the pages. False when the host refuses.
bool map_filled(std::byte *at, size_t size, std::byte value);

} // namespace nereid::sim
