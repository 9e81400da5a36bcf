// The scope of default floats, and what it leaves.
#include <cfenv>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "base/float_environment.h"
#include "base/threads.h"
#include "tests/support/hostile_floats.h"

using namespace nereid;
using test::HostileFloats;

namespace {

struct Answers {
  bool rounds_to_nearest, keeps_denormals, divides_by_zero;
  bool operator==(const Answers &) const = default;
};
constexpr Answers by_default{true, true, true};

Answers ask() {
  volatile float one = 1, third = 3, zero = 0, tiny = std::numeric_limits<float>::min(), half = 0.5F;
  const int trapped = fegetexcept();
  return {one / third == 1.0F / 3.0F && std::fegetround() == FE_TONEAREST, tiny * half != 0,
          trapped == 0 && one / zero == std::numeric_limits<float>::infinity()};
}

TEST(FloatEnvironment, IsTheDefaultAndRestoresTheHosts) {
  for (const HostileFloats::Kind kind : HostileFloats::kinds) {
    const HostileFloats hostile(kind);
    {
      const FloatEnvironment environment;
      EXPECT_EQ(ask(), by_default);
    }
    EXPECT_TRUE(hostile.in_force());
  }
}

TEST(FloatEnvironment, HoldsOnWorkersToo) {
  for (const HostileFloats::Kind kind : HostileFloats::kinds) {
    const HostileFloats hostile(kind);
    run_on_threads(4, [] { EXPECT_EQ(ask(), by_default); });
    EXPECT_TRUE(hostile.in_force());
  }
}

} // namespace
