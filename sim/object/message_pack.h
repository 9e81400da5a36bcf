#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::sim {

/// A value of a MessagePack document.
struct PackedValue {
  enum class Kind : uint8_t { Nil, Boolean, Integer, Float, Text, Array, Map };

  Kind kind = Kind::Nil;
  uint64_t integer = 0;              ///< two's complement; of a boolean 0 or 1
  std::string text;                  ///< of binary data too
  std::vector<std::string> keys;     ///< of a map; entries whose key is no text are left out
  std::vector<PackedValue> elements; ///< of an array, or of a map in the order of its keys

  /// The entry of a map, or null.
  const PackedValue *find(std::string_view key) const;
};

/// Reads a document that may be damaged; nothing when it is malformed or nested too deeply.
std::optional<PackedValue> read_message_pack(std::string_view bytes);

} // namespace nereid::sim
