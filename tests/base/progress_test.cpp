// What progress lines write to a terminal, which a pseudoterminal is, and to anything else.
#include "base/progress.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/log.h"
#include "tests/support/terminal.h"

namespace nereid {
namespace {

using namespace std::chrono_literals;
using test::on_terminal;

void four_steps(std::chrono::milliseconds delay) {
  ProgressLine line("simulating kernel 'add'", 4, delay);
  for (int step = 0; step < 4; ++step) {
    std::this_thread::sleep_for(100ms);
    line.advance();
  }
}

TEST(Progress, ABarShowsTheShareThatIsDone) {
  EXPECT_EQ(progress_bar(0, 4), "[" + std::string(30, '.') + "]");
  EXPECT_EQ(progress_bar(1, 2), "[" + std::string(15, '#') + std::string(15, '.') + "]");
  EXPECT_EQ(progress_bar(5, 4), "[" + std::string(30, '#') + "]");
}

TEST(Progress, StepsAreShownOnATerminalAndGoneAtTheEnd) {
  const std::string text = on_terminal([] { four_steps(0ms); });
  EXPECT_EQ(text.find("\r\x1b[K[#######.......................] 1/4 simulating kernel 'add', 0 s"), 0U)
      << text;
  EXPECT_TRUE(text.ends_with(" s\r\x1b[K")) << text;
}

TEST(Progress, WhatHasNoStepsIsShownWithItsSeconds) {
  const std::string text = on_terminal([] {
    const ProgressClock clock("compiling kernel 'add'", 0ms);
    std::this_thread::sleep_for(400ms);
  });
  EXPECT_EQ(text.find("\r\x1b[Kcompiling kernel 'add', 0 s"), 0U) << text;
  EXPECT_TRUE(text.ends_with(" s\r\x1b[K")) << text;
}

TEST(Progress, WhatIsShortIsNotShown) {
  EXPECT_EQ(on_terminal([] { four_steps(progress_delay()); }), "");
  EXPECT_EQ(on_terminal([] { const ProgressClock clock("compiling"); }), "");
}

TEST(Progress, NothingIsWrittenWhereStderrIsNoTerminal) {
  testing::internal::CaptureStderr();
  four_steps(0ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, NothingIsWrittenWhereTheLogIsOff) {
  setenv("NEREID_LOG", "none", /*overwrite=*/1);
  EXPECT_EQ(on_terminal([] { four_steps(0ms); }), "");
  unsetenv("NEREID_LOG");
}

TEST(Progress, ALineOfTheLogTakesItsPlace) {
  setenv("NO_COLOR", "1", /*overwrite=*/1);
  const std::string text = on_terminal([] {
    ProgressLine line("simulating kernel 'add'", 2, 0ms);
    line.advance();
    log(LogLevel::Warning, "text");
  });
  unsetenv("NO_COLOR");
  EXPECT_NE(text.find("0 s\r\x1b[Knereid: warning: text\r\n"), std::string::npos) << text;
}

} // namespace
} // namespace nereid
