#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/codegen/lower_random_kernel.h"

namespace nereid::codegen::testing {
namespace {

struct Seeds {
  uint64_t first, end;
};

/// NEREID_LONG_TESTS=1 runs more seeds, NEREID_SEED=n that one.
Seeds seeds() {
  if (const char *one = std::getenv("NEREID_SEED")) {
    const uint64_t seed = std::stoull(one);
    return {seed, seed + 1};
  }
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return {0, value && std::string(value) == "1" ? uint64_t{1000} : uint64_t{25}};
}

TEST(LowerRandom, CompiledKernelsDoWhatTheInterpreterDoes) {
  const auto [first, end] = seeds();
  for (uint64_t seed = first; seed < end; ++seed) {
    RandomKernel kernel = random_kernel(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(kernel.function, kernel.grid, kernel.arguments, kernel.floats, WhenTooLarge::Refused);
  }
}

} // namespace
} // namespace nereid::codegen::testing
