// The hash of keys and of files in the cache.
#include "jit/cache/digest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

namespace nereid::jit {

std::string digest(std::initializer_list<std::string_view> parts) {
  llvm::BLAKE3 hash;
  for (const std::string_view part : parts)
    hash.update(llvm::StringRef(part));
  const auto bytes = hash.final();
  static_assert(sizeof(bytes) == digest_bytes);
  return std::string(bytes.begin(), bytes.end());
}

std::string hexadecimal(std::string_view digest) { return llvm::toHex(digest, /*LowerCase=*/true); }

bool is_key(std::string_view text) {
  return text.size() == 2 * digest_bytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace nereid::jit
