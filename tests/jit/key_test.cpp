// What changes the key of a cached kernel, and what does not.
#include "jit/cache/key.h"

#include <set>

#include <gtest/gtest.h>

#include "jit/compile/identity.h"

namespace nereid::jit {
namespace {

const KeyParts base{"kernel @k() {}", "block=1024", "div16,-", "amdgcn-amd-amdhsa--gfx950",
                    "compiler 1",     "nereid 1"};

TEST(Key, Is32BytesInHexadecimalDigits) {
  const std::string key = hash_key(base);
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(key, hash_key(base));
}

TEST(Key, DependsOnEveryPart) {
  std::set<std::string> keys{hash_key(base)};
  for (std::string_view KeyParts::*part :
       {&KeyParts::canonical_ir, &KeyParts::config, &KeyParts::specialization, &KeyParts::isa,
        &KeyParts::compiler, &KeyParts::version}) {
    KeyParts changed = base;
    const std::string longer = std::string(base.*part) + "x";
    changed.*part = longer;
    keys.insert(hash_key(changed));
  }
  EXPECT_EQ(keys.size(), 7u);
}

TEST(Key, KeepsPartsApart) {
  KeyParts one = base, other = base;
  one.config = "ab", one.specialization = "c";
  other.config = "a", other.specialization = "bc";
  EXPECT_NE(hash_key(one), hash_key(other));
}

TEST(Key, ShowsTheSpecialisation) {
  EXPECT_EQ(
      text(std::vector<ArgumentFacts>{{16, std::nullopt}, {1, std::nullopt}, {1, 1}, {64, std::nullopt}}),
      "div16,-,=1,div64");
  EXPECT_EQ(
      text(std::vector<ArgumentFacts>{{.divisibility = 16, .pointer_range = 32}, {.pointer_range = 32}}),
      "div16+range32,range32");
  EXPECT_EQ(text(std::vector<ArgumentFacts>{}), "");
}

TEST(Identity, NamesTheLibrariesByTheirContent) {
  EXPECT_EQ(llvm_identity().substr(0, 3), "22.");
  // A GNU build id has 20 bytes, a SHA-256 32.
  EXPECT_GE(llvm_identity().size(), 40u);
  EXPECT_GE(lld_identity().size(), 64u);
  EXPECT_GE(nereid_identity().size(), 64u);
}

} // namespace
} // namespace nereid::jit
