// mxfp4_linear: the launches of each path, and the memory that they share between calls.
#include "kernels/mxfp4_linear.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/host/shuffle.h"
#include "kernels/linear_parts.h"

namespace nereid::kernels {

/// What is decided of a product.
struct Mxfp4Linear::Plan {
  GemmPlan choice;
  LinearParts parts;
  WorkspaceNeeds needs;
};

namespace {

/// Everything that can be said of the operands before anything is launched.
Status check_operands(const LinearOperands &operands, const ProblemSize &size) {
  const int64_t scale_bytes = host::shuffled_scale_bytes(size.n, size.k);
  const int64_t plain_bytes = size.n * (size.k / 32);
  if (operands.b_scales.address != 0 && static_cast<int64_t>(operands.b_scales.bytes) == plain_bytes &&
      plain_bytes < scale_bytes)
    return user_error(
        fmt::format("mxfp4_linear: b_scales has {} bytes, the length of plain scales [n, k/32]; "
                    "shuffled ones have {}",
                    plain_bytes, scale_bytes),
        "shuffle them with kernels::host::shuffle_scales");
  const NeededMemory needed[] = {{"a", operands.a, size.m * size.k * 2, "bf16 [m, k]"},
                                 {"b", operands.b, host::shuffled_b_bytes(size.n, size.k), shuffled_b_layout},
                                 {"b_scales", operands.b_scales, scale_bytes, shuffled_scales_layout},
                                 {"c", operands.c, size.m * size.n * 2, "bf16 [m, n]"}};
  return check_memory("mxfp4_linear", needed);
}

} // namespace

/// One call: its launches, in order.
struct Mxfp4Linear::Call {
  const Plan &plan;
  LaunchTarget target;
  const LinearOperands &operands;
  const ProblemSize &size;
  WorkspaceParts workspace;

  Result<LaunchRecord> multiply(const DeviceMemory &out) const {
    const SplitWorkspace split{workspace.sums, workspace.arrivals};
    if (plan.choice.path != GemmPath::TwoPass)
      return gemm_fused_kernel.launch(target, plan.choice.gemm, size,
                                      {operands.a, operands.b, operands.b_scales, out, split});
    return gemm_kernel.launch(
        target, plan.choice.gemm, size,
        {workspace.a_codes, workspace.a_scales, operands.b, operands.b_scales, out, {}, split});
  }

  Result<LinearReport> run() const {
    LinearReport report{plan.choice.path, plan.choice.gemm, {}};
    const auto add = [&](Result<LaunchRecord> launched) -> Status {
      NEREID_TRY(LaunchRecord record, std::move(launched));
      report.launches.push_back(std::move(record));
      return {};
    };
    if (plan.choice.gemm.reduce == Reduce::Atomic)
      NEREID_CHECK(add(launch_zero(target, workspace.sums, size.m * size.n)));
    if (plan.parts.quant)
      NEREID_CHECK(add(quant_kernel.launch(target, *plan.parts.quant, size,
                                           {operands.a, workspace.a_codes, workspace.a_scales})));
    NEREID_CHECK(add(multiply(plan.parts.reduce ? workspace.sums : operands.c)));
    if (plan.parts.reduce)
      NEREID_CHECK(add(reduce_kernel.launch(target, *plan.parts.reduce, size, {workspace.sums, operands.c})));
    return report;
  }
};

Mxfp4Linear::Mxfp4Linear(Device device, LaunchOptions options)
    : device_(std::move(device)), options_(options) {}

Mxfp4Linear::~Mxfp4Linear() = default;

Result<LinearReport> Mxfp4Linear::operator()(const Stream &stream, const LinearOperands &operands,
                                             const ProblemSize &size, GemmPath path,
                                             const Partial<GemmConfig> &config) {
  return run(options_, stream, operands, size, path, config);
}

Status Mxfp4Linear::prepare(const Stream &stream, const LinearOperands &operands, const ProblemSize &size,
                            GemmPath path, const Partial<GemmConfig> &config) {
  LaunchOptions options = options_;
  options.prepare = true;
  NEREID_CHECK(run(options, stream, operands, size, path, config));
  return {};
}

Result<LinearReport> Mxfp4Linear::run(const LaunchOptions &options, const Stream &stream,
                                      const LinearOperands &operands, const ProblemSize &size, GemmPath path,
                                      const Partial<GemmConfig> &config) {
  if (!(stream.device() == device_))
    return user_error("mxfp4_linear: the stream is of another device",
                      "use a stream of the device that the operation belongs to");
  NEREID_TRY(const std::shared_ptr<const Plan> plan, plan_for(size, path, config));
  NEREID_CHECK(check_operands(operands, size));
  NEREID_TRY(const bool capturing, stream.is_capturing());
  const std::shared_ptr<StreamWorkspace> workspace = workspaces_.of(stream);
  const std::lock_guard lock(workspace->mutex());
  NEREID_TRY(const WorkspaceParts parts, workspace->parts(stream, plan->needs));
  Result<LinearReport> report = Call{*plan, {stream, options}, operands, size, parts}.run();
  if (capturing)
    workspaces_.keep(stream, *workspace);
  else if (!report && !options.prepare)
    workspace->drop();
  return report;
}

Result<std::shared_ptr<const Mxfp4Linear::Plan>> Mxfp4Linear::plan_for(const ProblemSize &size, GemmPath path,
                                                                       const Partial<GemmConfig> &config) {
  const std::lock_guard lock(mutex_);
  Key key{size, path, config_text(config)};
  if (const auto found = plans_.find(key); found != plans_.end()) {
    found->second.used = ++clock_;
    return found->second.plan;
  }
  auto plan = std::make_shared<Plan>();
  NEREID_TRY(plan->choice, plan_gemm(path, config, size, device_.name()));
  NEREID_TRY(plan->parts, LinearParts::of(plan->choice, size));
  plan->needs = WorkspaceNeeds::of(plan->choice, size);
  if (plans_.size() == LinearMemory::max_plans)
    plans_.erase(std::min_element(plans_.begin(), plans_.end(), [](const auto &a, const auto &b) {
      return a.second.used < b.second.used;
    }));
  return plans_.emplace(std::move(key), KnownPlan{std::move(plan), ++clock_}).first->second.plan;
}

LinearMemory Mxfp4Linear::held() {
  const StreamWorkspaces::Held held = workspaces_.held();
  const std::lock_guard lock(mutex_);
  return {.workspace_bytes = held.bytes, .streams = held.streams, .plans = plans_.size()};
}

void Mxfp4Linear::trim() {
  workspaces_.trim();
  const std::lock_guard lock(mutex_);
  plans_.clear();
}

} // namespace nereid::kernels
