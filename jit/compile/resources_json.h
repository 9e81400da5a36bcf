#pragma once

#include <optional>

#include "jit/compile/resources.h"
#include "llvm/Support/JSON.h"

namespace nereid::jit {

/// The fields by name.
inline llvm::json::Object resources_json(const Resources &resources) {
  llvm::json::Object object;
  for (const ResourceField &field : resource_fields)
    object[field.name] = resources.*field.member;
  return object;
}

/// The inverse; nothing where a field is missing or no such number.
inline std::optional<Resources> resources_of(const llvm::json::Object &object) {
  Resources resources;
  for (const ResourceField &field : resource_fields) {
    const std::optional<int64_t> value = object.getInteger(field.name);
    if (!value || *value < 0 || *value > int64_t{UINT32_MAX})
      return std::nullopt;
    resources.*field.member = static_cast<unsigned>(*value);
  }
  return resources;
}

} // namespace nereid::jit
