#pragma once

#include <cstdint>
#include <string>

namespace nereid {

/// "1 byte", "16 bytes".
inline std::string byte_text(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

} // namespace nereid
