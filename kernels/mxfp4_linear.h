#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/gemm_plan.h"
#include "kernels/linear_workspace.h"

namespace nereid::kernels {

/// Operands of C = A times B transposed, in device memory.
struct LinearOperands {
  DeviceMemory a;        ///< bf16 [m, k]
  DeviceMemory b;        ///< e2m1 [n, k/2] in (16,16)-shuffled order
  DeviceMemory b_scales; ///< e8m0 of B in shuffled, padded order; the padding may hold anything
  DeviceMemory c;        ///< bf16 [m, n]
};

/// What a call did.
struct LinearReport {
  GemmPath path = GemmPath::Fused;
  GemmConfig gemm;
  std::vector<LaunchRecord> launches;
};

/// What an Mxfp4Linear keeps between calls.
struct LinearMemory {
  size_t workspace_bytes = 0; ///< of the device, in all workspaces
  size_t streams = 0;         ///< that have one
  size_t plans = 0;           ///< products whose path and config are known, at most LinearMemory::max_plans

  static constexpr size_t max_plans = 1024;
};

/// mxfp4_linear: the product of bf16 A, quantised to MXFP4 on the way, with shuffled MXFP4 weights. The first
/// call of a product chooses its path; each stream has one workspace, which grows to what the largest of its
/// products needs. Calls from several threads and on several streams are safe; streams share no workspace.
///
/// Calls may be captured. A call in a capture neither builds a kernel nor allocates: what it needs has to be
/// there, by prepare() or an earlier call. A graph works in the workspace of the stream that it was captured
/// on, and keeps it: graphs of one stream must not run at the same time as each other, nor as calls on it.
///
/// Whether bytes of the right length were really shuffled cannot be seen, nor whether scales belong to B.
class Mxfp4Linear {
public:
  explicit Mxfp4Linear(Device device, LaunchOptions options = {});
  ~Mxfp4Linear();
  Mxfp4Linear(const Mxfp4Linear &) = delete;
  Mxfp4Linear &operator=(const Mxfp4Linear &) = delete;

  /// Queues the product on the stream, which must be of this object's device. Errors (User): a bad shape, a
  /// null or short operand, a config that contradicts the path; in a capture, what was not prepared.
  Result<LinearReport> operator()(const Stream &stream, const LinearOperands &operands,
                                  const ProblemSize &size, GemmPath path = GemmPath::Auto,
                                  const Partial<GemmConfig> &config = {});

  /// Builds the kernels of a product and makes the stream's workspace large enough, and launches nothing:
  /// what comes before a capture. The operands' addresses count only by their divisibility by 16.
  Status prepare(const Stream &stream, const LinearOperands &operands, const ProblemSize &size,
                 GemmPath path = GemmPath::Auto, const Partial<GemmConfig> &config = {});

  LinearMemory held();
  /// Gives up workspaces and plans; what graphs work in stays as long as they. Waits for launches that use
  /// them.
  void trim();

private:
  struct Plan;
  struct Call;
  using Key = std::tuple<ProblemSize, GemmPath, std::string>;

  Result<LinearReport> run(const LaunchOptions &options, const Stream &stream, const LinearOperands &operands,
                           const ProblemSize &size, GemmPath path, const Partial<GemmConfig> &config);
  Result<std::shared_ptr<const Plan>> plan_for(const ProblemSize &size, GemmPath path,
                                               const Partial<GemmConfig> &config);

  Device device_;
  LaunchOptions options_;
  StreamWorkspaces workspaces_;
  std::mutex mutex_;
  struct KnownPlan {
    std::shared_ptr<const Plan> plan;
    uint64_t used = 0; ///< when, by clock_
  };
  std::map<Key, KnownPlan> plans_;
  uint64_t clock_ = 0;
};

} // namespace nereid::kernels
