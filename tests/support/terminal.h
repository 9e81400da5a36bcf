#pragma once

#include <fcntl.h>
#include <functional>
#include <stdlib.h>
#include <string>
#include <unistd.h>

/// What is written to a terminal, which a pseudoterminal is.
namespace nereid::test {

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

inline std::string all_of(int file) {
  fcntl(file, F_SETFL, O_NONBLOCK);
  std::string text;
  char bytes[4096];
  for (ssize_t count; (count = read(file, bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<size_t>(count));
  return text;
}

/// What `act` writes to stderr where that is a terminal.
inline std::string on_terminal(const std::function<void()> &act) {
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

} // namespace nereid::test
