// The hash that names a cached kernel.
#include "jit/cache/key.h"

#include <fmt/format.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace nereid::jit {

std::string hash_key(const KeyParts &parts) {
  llvm::SHA256 hash;
  // The length before each part keeps apart what would read the same when joined.
  for (std::string_view part : {std::string_view("nereid kernel 1"), parts.canonical_ir, parts.config,
                                parts.specialization, parts.isa, parts.compiler, parts.version})
    hash.update(fmt::format("{}:{}", part.size(), part));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string text(const std::vector<ArgumentFacts> &facts) {
  std::string out;
  for (const ArgumentFacts &fact : facts) {
    out += out.empty() ? "" : ",";
    if (fact.constant)
      out += fmt::format("={}", *fact.constant);
    else
      out += fact.divisibility > 1 ? fmt::format("div{}", fact.divisibility) : "-";
  }
  return out;
}

} // namespace nereid::jit
