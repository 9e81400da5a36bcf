#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/calibrate/measurement.h"

namespace nereid::calibrate::test {

/// A code object with a kernel of the family's name and argument block for a tile: it reads A along K and
/// stores to C, which is enough to be timed.
std::vector<std::byte> product_kernel(const Tile &tile);

/// A folder of its own with such a code object a tile, removed with the object.
class ObjectFolder {
public:
  explicit ObjectFolder(const std::vector<Tile> &tiles);
  ~ObjectFolder();
  std::string path(const std::string &name = "") const;
  void write(const std::string &name, const std::vector<std::byte> &bytes) const;

private:
  std::string path_;
};

} // namespace nereid::calibrate::test
