#pragma once

#include <cstddef>
#include <string>

namespace nereid::tools {

/// Says on stderr how far a long run is: a bar that is redrawn where stderr is a terminal, else a line a
/// finished step.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Within a step.
  void show(const std::string &step, size_t done, size_t of);
  /// A step is over; `result` is what a line says of it.
  void finish(const std::string &step, const std::string &result);

private:
  void clear();

  bool terminal_;
  bool drawn_ = false;
};

} // namespace nereid::tools
