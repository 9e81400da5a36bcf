#include "kernels/mxfp4_linear.h"

#include <fmt/format.h>

#include "kernels/host/shuffle.h"

namespace nereid::kernels {

/// What a shape on a stream keeps between calls.
struct Mxfp4Linear::State {
  explicit State(Stream on) : stream(std::move(on)) {}

  Stream stream; ///< kept alive: its address is part of the key
  ProblemSize size;
  GemmPlan plan;
  ConfigValues quant;
  ConfigValues reduce;
  Buffer<u8> a_codes;   ///< staged: [m, k/2]
  Buffer<u8> a_scales;  ///< staged: shuffled, its padding 127
  Buffer<f32> sums;     ///< atomic: [m, n]; workspace and last_arrival: [split_k, m, n]
  Buffer<i32> arrivals; ///< last_arrival: one for each tile
  std::mutex mutex;     ///< launches of one call stay together in the stream
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
  return check_memory("mxfp4_linear",
                      {{"a", operands.a, size.m * size.k * 2, "bf16 [m, k]"},
                       {"b", operands.b, host::shuffled_b_bytes(size.n, size.k), shuffled_b_layout},
                       {"b_scales", operands.b_scales, scale_bytes, shuffled_scales_layout},
                       {"c", operands.c, size.m * size.n * 2, "bf16 [m, n]"}});
}

} // namespace

Mxfp4Linear::Mxfp4Linear(Device device, LaunchOptions options)
    : device_(std::move(device)), options_(options) {}

Mxfp4Linear::~Mxfp4Linear() = default;

Result<LinearReport> Mxfp4Linear::operator()(const Stream &stream, const LinearOperands &operands,
                                             const ProblemSize &size, GemmPath path,
                                             const ConfigValues &config) {
  if (!(stream.device() == device_))
    return user_error("mxfp4_linear: the stream is of another device",
                      "use a stream of the device that the operation was made for");
  Result<State *> state = state_for(stream, size, path, config);
  if (!state)
    return state.error();
  if (Status status = check_operands(operands, size); !status)
    return status.error();
  LinearReport report;
  const std::lock_guard lock((*state)->mutex);
  if (Status status = run(**state, operands, report); !status)
    return status.error();
  return report;
}

Result<Mxfp4Linear::State *> Mxfp4Linear::state_for(const Stream &stream, const ProblemSize &size,
                                                    GemmPath path, const ConfigValues &config) {
  const std::lock_guard lock(mutex_);
  Key key{stream.state(), size, path, config.text()};
  if (const auto found = states_.find(key); found != states_.end())
    return found->second.get();
  Result<GemmPlan> plan = plan_gemm(path, config, size);
  if (!plan)
    return plan.error();
  Result<std::unique_ptr<State>> state = make_state(stream, size, *plan);
  if (!state)
    return state.error();
  return states_.emplace(std::move(key), std::move(*state)).first->second.get();
}

Result<std::unique_ptr<Mxfp4Linear::State>>
Mxfp4Linear::make_state(const Stream &stream, const ProblemSize &size, const GemmPlan &plan) {
  auto state = std::make_unique<State>(stream);
  state->size = size;
  state->plan = plan;
  if (plan.reduce() == Reduce::LastArrival) {
    Result<Buffer<f32>> slices = device_.allocate<f32>(size.m * size.n * plan.split_k());
    if (!slices)
      return slices.error();
    Result<Buffer<i32>> arrivals = device_.allocate<i32>(gemm_tiles(plan.gemm, size));
    if (!arrivals)
      return arrivals.error();
    state->sums = std::move(*slices);
    state->arrivals = std::move(*arrivals);
    if (Status status = state->arrivals.fill(0); !status)
      return status.error();
    // They were zeroed on the default stream.
    if (Status status = device_.synchronize(); !status)
      return status.error();
  } else if (plan.reduce() != Reduce::None) {
    const bool slices = plan.reduce() == Reduce::Workspace;
    Result<ConfigValues> reduce = complete_reduce({{"split_k", slices ? plan.split_k() : 1}}, size);
    if (!reduce)
      return reduce.error();
    state->reduce = std::move(*reduce);
    Result<Buffer<f32>> sums = device_.allocate<f32>(size.m * size.n * state->reduce.get_or("split_k", 1));
    if (!sums)
      return sums.error();
    state->sums = std::move(*sums);
  }
  if (plan.path == GemmPath::Staged) {
    Result<ConfigValues> quant = complete_quant({{"shuffled", 1}}, size);
    if (!quant)
      return quant.error();
    state->quant = std::move(*quant);
    Result<Buffer<u8>> codes = device_.allocate<u8>(size.m * size.k / 2);
    if (!codes)
      return codes.error();
    Result<Buffer<u8>> scales = device_.allocate<u8>(host::shuffled_scale_bytes(size.m, size.k));
    if (!scales)
      return scales.error();
    state->a_codes = std::move(*codes);
    state->a_scales = std::move(*scales);
    if (Status status = state->a_scales.fill(127); !status)
      return status.error();
    // The padding was written on the default stream.
    if (Status status = device_.synchronize(); !status)
      return status.error();
  }
  return state;
}

Status Mxfp4Linear::run(State &state, const LinearOperands &operands, LinearReport &report) {
  const LaunchTarget target{state.stream, options_};
  const GemmPlan &plan = state.plan;
  report.path = plan.path;
  const auto add = [&](Result<LaunchRecord> launched) -> Status {
    if (!launched)
      return launched.error();
    report.launches.push_back(std::move(*launched));
    return {};
  };

  if (plan.reduce() == Reduce::Atomic)
    if (Status status = add(launch_zero(target, state.sums, state.size.m * state.size.n)); !status)
      return status;
  const bool reduces = plan.reduce() == Reduce::Atomic || plan.reduce() == Reduce::Workspace;
  const SplitWorkspace workspace{state.sums, state.arrivals};
  const DeviceMemory out = reduces ? DeviceMemory(state.sums) : operands.c;
  if (plan.path == GemmPath::Staged) {
    if (Status status =
            add(launch_quant(target, state.quant, state.size, operands.a, state.a_codes, state.a_scales));
        !status)
      return status;
    if (Status status = add(launch_gemm(target, plan.gemm, state.size, state.a_codes, state.a_scales,
                                        operands.b, operands.b_scales, out, {}, workspace));
        !status)
      return status;
  } else if (Status status = add(launch_gemm_fused(target, plan.gemm, state.size, operands.a, operands.b,
                                                   operands.b_scales, out, workspace));
             !status) {
    return status;
  }
  return reduces ? add(launch_reduce(target, state.reduce, state.size, state.sums, operands.c)) : Status();
}

} // namespace nereid::kernels
