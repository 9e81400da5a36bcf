// JSON with short numbers, and of bytes that need not be text.
#include "jit/json_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <llvm/Support/raw_ostream.h>

namespace nereid::jit {
namespace {

void write(llvm::json::OStream &json, const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject()) {
    std::vector<llvm::StringRef> names;
    for (const auto &member : *object)
      names.emplace_back(member.first);
    std::sort(names.begin(), names.end());
    json.objectBegin();
    for (const llvm::StringRef name : names) {
      json.attributeBegin(name);
      write(json, *object->get(name));
      json.attributeEnd();
    }
    json.objectEnd();
  } else if (const llvm::json::Array *array = value.getAsArray()) {
    json.arrayBegin();
    for (const llvm::json::Value &element : *array)
      write(json, element);
    json.arrayEnd();
  } else if (const std::optional<double> number = value.getAsNumber();
             number && !value.getAsInteger() && !value.getAsUINT64() && std::isfinite(*number)) {
    json.rawValue(fmt::format("{}", *number));
  } else {
    json.value(value);
  }
}

} // namespace

std::string json_text(const llvm::json::Value &value, bool indented) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, indented ? 2 : 0);
  write(json, value);
  stream << "\n";
  return text;
}

llvm::json::Value json_string(const std::string &bytes) {
  return llvm::json::isUTF8(bytes) ? bytes : llvm::json::fixUTF8(bytes);
}

} // namespace nereid::jit
