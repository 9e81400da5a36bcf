#pragma once

#include <string>

#include "base/error.h"

namespace nereid {

/// What a remark is about.
enum class RemarkKind {
  NotPipelined,      ///< a loop with stages, or one of its loads, is not issued ahead
  FewerStages,       ///< fewer iterations of a loop are in flight than its stages ask for
  NotThroughLds,     ///< an operand that several waves gather, each for itself
  SplitOverWaves,    ///< each wave runs iterations of its own
  NotSplitOverWaves, ///< all waves run each iteration, although a split was thought of
  NarrowAccess,      ///< a load or store is narrow for want of an argument's divisibility
  MaskBranches,      ///< the mask of a load or store became branches
  LdsRoundTrip,      ///< in a loop, a value goes through LDS to get to another layout
  CacheFences,       ///< release and acquire write back and invalidate the L2
  Overridden,        ///< a file of NEREID_OVERRIDE_DIR is taken in place of what the compiler makes
};

/// "not pipelined", "mask branches", ...
const char *remark_name(RemarkKind kind);

/// What the compiler did not do for a kernel, or not as asked, and why. No remark changes what a kernel
/// means.
struct Remark {
  RemarkKind kind;
  SourceLine where;    ///< in the kernel's source
  unsigned line = 0;   ///< of the operation in the canonical IR
  std::string message; ///< what, and why
  std::string remedy;  ///< what the author could do; may be empty

  /// "file:line: mask branches: message. remedy".
  std::string text() const;
};

} // namespace nereid
