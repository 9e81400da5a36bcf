// Lines on stderr: levels, and no colours where no terminal reads.
#include "base/log.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace nereid {
namespace {

/// What a line of that level writes where NEREID_LOG is `value` (nullptr: not set).
std::string said(const char *value, LogLevel level) {
  if (value)
    setenv("NEREID_LOG", value, /*overwrite=*/1);
  else
    unsetenv("NEREID_LOG");
  testing::internal::CaptureStderr();
  log(level, "text");
  unsetenv("NEREID_LOG");
  return testing::internal::GetCapturedStderr();
}

TEST(Log, WarningsAreSaidUnlessTurnedOff) {
  EXPECT_EQ(said(nullptr, LogLevel::Warning), "nereid: warning: text\n");
  EXPECT_EQ(said("warnings", LogLevel::Warning), "nereid: warning: text\n");
  EXPECT_EQ(said("info", LogLevel::Warning), "nereid: warning: text\n");
  EXPECT_EQ(said("none", LogLevel::Warning), "");
}

TEST(Log, InfoIsSaidWhenAskedFor) {
  EXPECT_EQ(said("info", LogLevel::Info), "nereid: text\n");
  EXPECT_EQ(said(nullptr, LogLevel::Info), "");
  EXPECT_EQ(said("warnings", LogLevel::Info), "");
}

TEST(Log, AnUnknownLevelIsSaidOnceAndCountsAsWarnings) {
  EXPECT_EQ(said("loud", LogLevel::Warning),
            "nereid: warning: NEREID_LOG is 'loud': it is none, warnings (taken here) or info\n"
            "nereid: warning: text\n");
  EXPECT_EQ(said("loud", LogLevel::Info), "");
}

} // namespace
} // namespace nereid
