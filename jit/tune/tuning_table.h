#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jit/tune/kernel_tunings.h"

namespace nereid {

/// The winners of tuning tables, for a library operation to look up at a call. Immutable once it is filled:
/// look-ups from several threads are safe, allocate nothing and cost two steps down maps.
class TuningTable {
public:
  /// What was chosen for a key.
  struct Choice {
    std::string config; ///< "block=1024,waves=4"
    double figure = 0;
    std::string unit;
    std::string ranking;
    std::string caches;
  };

  TuningTable() = default;
  /// Every table of a device in a directory; none when there is no such directory. Error (Environment): one
  /// of the tables is damaged or cannot be read; its text names the file and what to do.
  static Result<TuningTable> load(const std::string &directory, const std::string &device);

  /// Takes the winners of records. Where there is a choice already it stays unless the ranking of the new one
  /// says more (says_more): so measured figures go before simulated ones and these before imported ones, and
  /// of equal rankings tables of the user, which are added first, before those that came with the library.
  void add(const KernelTunings &tunings);

  /// The choice for a key of tuning_key(), or null. Valid as long as the table lives.
  const Choice *lookup(std::string_view kernel, std::string_view key) const &;
  /// Keys that have a choice, in natural order.
  std::vector<std::string> keys(std::string_view kernel) const;
  size_t size() const;

private:
  std::map<std::string, std::map<std::string, Choice, NaturalLess>, std::less<>> choices_;
};

} // namespace nereid
