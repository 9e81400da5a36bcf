// The hash that names a cached kernel.
#include "jit/cache/key.h"

#include <fmt/format.h>

#include "jit/cache/digest.h"

namespace nereid::jit {

std::string hash_key(const KeyParts &parts) {
  // The length before each part keeps apart what would read the same when joined.
  const auto length = [](std::string_view part) { return fmt::format("{}:", part.size()); };
  return hexadecimal(
      digest({"nereid kernel 2", length(parts.canonical_ir), parts.canonical_ir, length(parts.config),
              parts.config, length(parts.specialization), parts.specialization, length(parts.isa), parts.isa,
              length(parts.compiler), parts.compiler, length(parts.version), parts.version}));
}

std::string text(const std::vector<ArgumentFacts> &facts) {
  std::string out;
  for (const ArgumentFacts &fact : facts) {
    out += out.empty() ? "" : ",";
    std::string words = fact.constant           ? fmt::format("={}", *fact.constant)
                        : fact.divisibility > 1 ? fmt::format("div{}", fact.divisibility)
                                                : "";
    if (fact.pointer_range != 0)
      words += fmt::format("{}range{}", words.empty() ? "" : "+", fact.pointer_range);
    out += words.empty() ? "-" : words;
  }
  return out;
}

} // namespace nereid::jit
