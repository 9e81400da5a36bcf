#pragma once

#include <vector>

#include "base/result.h"
#include "jit/tune/request.h"
#include "kernels/gemm_plan.h"

namespace nereid::tools {

/// Which configs of each path are tried.
struct TunedConfigs {
  bool listed = true;   ///< those of the library's lists
  size_t generated = 4; ///< so many of the generated space, those with the least quick estimate
  /// What the library takes at present is tried also where it is of a path that is left out.
  bool dispatched_of_any_path = false;
};

/// Tunes mxfp4_linear for a shape: operands on the device, candidates of some paths,
/// and the reference.
class LinearTuning {
public:
  /// Results are validated for the shape itself or, where it is large, for a smaller one of the same tails
  /// and divisibility; figures are those of the shape itself.
  static Result<LinearTuning> make(const Device &device, const kernels::ProblemSize &size,
                                   const std::vector<kernels::GemmPath> &paths, const TunedConfigs &configs);

  const TuneRequest &request() const { return request_; }
  const Stream &stream() const { return stream_; }
  /// With the instructions that a candidate may take.
  TuneOptions options() const;

private:
  explicit LinearTuning(const Stream &stream) : stream_(stream) {}

  Stream stream_;
  TuneRequest request_;
  uint64_t instructions_ = 0;
};

} // namespace nereid::tools
