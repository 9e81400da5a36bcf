#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/problem_size.h"

namespace nereid::tools {

/// Which shapes a run of `nereid tune` has.
struct ShapeOptions {
  std::vector<std::string> shapes; ///< of --shape, each M,N,K
  std::string file;                ///< of --shapes
  std::string shard;               ///< of --shard: "i/n"
};

/// The shapes of both options, each once, in order; of these every n-th from the i-th on where there is a
/// shard. Errors (User): none is given, one is not a shape of the library, the file cannot be read, the shard
/// is none of 1/n to n/n.
Result<std::vector<kernels::ProblemSize>> chosen_shapes(const ShapeOptions &options);

} // namespace nereid::tools
