#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "jit/tune/request.h"
#include "kernels/gemm_plan.h"

namespace nereid::tools {

/// Tunes mxfp4_linear for a shape: operands on the device, candidates of all listed configs of some paths,
/// and the reference.
class LinearTuning {
public:
  /// With a simulator that has a clock, results are validated on `device`, for a large shape on a smaller one
  /// of the same divisibility, and times are those of launches that another simulator times without running
  /// them.
  static Result<LinearTuning> make(const Device &device, const kernels::ProblemSize &size,
                                   const std::vector<kernels::GemmPath> &paths);

  const TuneRequest &request() const { return request_; }
  const Stream &stream() const { return stream_; }
  /// Ranking, if not the device's own, and the instructions that a candidate may take.
  TuneOptions options() const;

private:
  explicit LinearTuning(const Stream &stream) : stream_(stream) {}

  Stream stream_;
  TuneRequest request_;
  std::shared_ptr<const Ranking> ranking_;
  uint64_t instructions_ = 0;
};

} // namespace nereid::tools
