// What progress lines write to a terminal, which a pseudoterminal is, and to anything else.
#include "base/progress.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/log.h"

namespace nereid {
namespace {

using namespace std::chrono_literals;

/// stderr is the file for a while.
class StderrIs {
public:
  explicit StderrIs(int file) : saved_(dup(STDERR_FILENO)) { dup2(file, STDERR_FILENO); }
  ~StderrIs() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  StderrIs(const StderrIs &) = delete;
  StderrIs &operator=(const StderrIs &) = delete;

private:
  int saved_;
};

std::string all_of(int file) {
  fcntl(file, F_SETFL, O_NONBLOCK);
  std::string text;
  char bytes[4096];
  for (ssize_t count; (count = read(file, bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<size_t>(count));
  return text;
}

/// What `act` writes to stderr where that is a terminal.
std::string on_terminal(const std::function<void()> &act) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    return "no pseudoterminal";
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  {
    const StderrIs redirected(end);
    act();
  }
  std::string text = all_of(terminal);
  close(end);
  close(terminal);
  return text;
}

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
  EXPECT_EQ(on_terminal([] { four_steps(ProgressLine::usual_delay); }), "");
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
