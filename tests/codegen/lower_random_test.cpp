#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/codegen/lower_random_kernel.h"

namespace nereid::codegen::testing {
namespace {

/// NEREID_LONG_TESTS=1 runs more seeds.
uint64_t seed_count() {
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return value && std::string(value) == "1" ? 1000 : 25;
}

TEST(LowerRandom, CompiledKernelsDoWhatTheInterpreterDoes) {
  for (uint64_t seed = 0; seed < seed_count(); ++seed) {
    RandomKernel kernel = random_kernel(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(kernel.function, kernel.grid, kernel.arguments, kernel.floats);
  }
}

} // namespace
} // namespace nereid::codegen::testing
