// Reads MessagePack into a tree; damaged documents are an answer, not a crash.

#include "sim/object/message_pack.h"

#include <algorithm>

#include <llvm/BinaryFormat/MsgPackReader.h>
#include <llvm/Support/Error.h>

namespace nereid::sim {

namespace {

using llvm::msgpack::Type;

/// Documents of code objects have five levels.
constexpr unsigned max_depth = 16;

/// LLVM's reader gives one token after the other; its document class stops the process on damaged ones.
class TreeReader {
public:
  explicit TreeReader(std::string_view bytes) : reader_(llvm::StringRef(bytes.data(), bytes.size())) {}

  bool read(PackedValue &value, unsigned depth) {
    llvm::msgpack::Object token;
    llvm::Expected<bool> more = reader_.read(token);
    if (!more) {
      llvm::consumeError(more.takeError());
      return false;
    }
    if (!*more || depth > max_depth)
      return false;
    switch (token.Kind) {
    case Type::Boolean:
      value.kind = PackedValue::Kind::Boolean;
      value.integer = token.Bool;
      return true;
    case Type::Int:
      value.kind = PackedValue::Kind::Integer;
      value.integer = static_cast<uint64_t>(token.Int);
      return true;
    case Type::UInt:
      value.kind = PackedValue::Kind::Integer;
      value.integer = token.UInt;
      return true;
    case Type::Float:
      value.kind = PackedValue::Kind::Float;
      return true;
    case Type::String:
    case Type::Binary:
      value.kind = PackedValue::Kind::Text;
      value.text = token.Raw.str();
      return true;
    case Type::Array:
      value.kind = PackedValue::Kind::Array;
      for (size_t i = 0; i < token.Length; ++i)
        if (!read(value.elements.emplace_back(), depth + 1))
          return false;
      return true;
    case Type::Map:
      value.kind = PackedValue::Kind::Map;
      for (size_t i = 0; i < token.Length; ++i)
        if (!read_entry(value, depth + 1))
          return false;
      return true;
    default:
      return true;
    }
  }

private:
  bool read_entry(PackedValue &map, unsigned depth) {
    PackedValue key, value;
    if (!read(key, depth) || !read(value, depth))
      return false;
    if (key.kind == PackedValue::Kind::Text) {
      map.keys.push_back(std::move(key.text));
      map.elements.push_back(std::move(value));
    }
    return true;
  }

  llvm::msgpack::Reader reader_;
};

} // namespace

const PackedValue *PackedValue::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &elements[static_cast<size_t>(found - keys.begin())];
}

std::optional<PackedValue> read_message_pack(std::string_view bytes) {
  PackedValue root;
  if (!TreeReader(bytes).read(root, 0))
    return std::nullopt;
  return root;
}

} // namespace nereid::sim
