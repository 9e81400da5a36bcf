#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/gemm_plan.h"

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

/// mxfp4_linear: the product of bf16 A, quantised to MXFP4 on the way, with shuffled MXFP4 weights. The first
/// call of a shape on a stream chooses the path and allocates what it needs; later calls allocate nothing on
/// the device. Calls from several threads and on several streams are safe; streams share no workspace.
///
/// Whether bytes of the right length were really shuffled cannot be seen, nor whether scales belong to B.
class Mxfp4Linear {
public:
  explicit Mxfp4Linear(Device device, LaunchOptions options = {});
  ~Mxfp4Linear();
  Mxfp4Linear(const Mxfp4Linear &) = delete;
  Mxfp4Linear &operator=(const Mxfp4Linear &) = delete;

  /// Queues the product on the stream, which must be of this object's device. Errors (User): a bad shape, a
  /// null or short operand, a config that contradicts the path.
  Result<LinearReport> operator()(const Stream &stream, const LinearOperands &operands,
                                  const ProblemSize &size, GemmPath path = GemmPath::Auto,
                                  const Partial<GemmConfig> &config = {});

private:
  struct State;
  using Key = std::tuple<const jit::StreamState *, ProblemSize, GemmPath, std::string>;

  Result<State *> state_for(const Stream &stream, const ProblemSize &size, GemmPath path,
                            const Partial<GemmConfig> &config);
  Result<std::unique_ptr<State>> make_state(const Stream &stream, const ProblemSize &size,
                                            const GemmPlan &plan);
  Status allocate_for_splits(State &state) const;
  Status allocate_for_two_passes(State &state) const;
  Result<LaunchRecord> multiply(State &state, const LinearOperands &operands, const DeviceMemory &out) const;
  Result<LinearReport> run(State &state, const LinearOperands &operands) const;

  Device device_;
  LaunchOptions options_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<State>> states_;
};

} // namespace nereid::kernels
