#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::sim {

/// Which kinds of fault a run looks for beyond those that it cannot go on after (out_of_bounds, misaligned,
/// barrier, budget, unsupported).
struct Checks {
  bool undefined = false; ///< a value never written reaches an address, a branch, EXEC, or as a result memory
  bool race_lds = false;  ///< waves of a workgroup touch the same LDS byte without a barrier between them
  bool race_global = false; ///< workgroups touch the same byte without an atomic between them
  bool wait = false;        ///< a result is used before its s_waitcnt
  bool hazard = false;      ///< too few instructions between two that the hardware does not interlock
  bool nan_scale = false;   ///< the product of an e8m0 NaN reaches memory

  /// All but race_global, which takes one host thread and most of the time.
  static Checks all() { return {true, true, false, true, true, true}; }
  /// The words of the kinds that a run with these checks looks for.
  std::vector<std::string> kinds() const;
  /// Turns on the check for a kind of that name ("undefined"); false when there is no such kind. The kinds
  /// that are always looked for change nothing.
  bool enable(std::string_view kind);
  /// "all", "none", or kinds separated by commas. Errors (User) name the word.
  static Result<Checks> parse(std::string_view text);
};

} // namespace nereid::sim
