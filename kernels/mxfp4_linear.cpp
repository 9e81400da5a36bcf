// mxfp4_linear: the launches of each path, and the memory that they share between calls.
#include "kernels/mxfp4_linear.h"

#include <fmt/format.h>

#include "kernels/host/shuffle.h"
#include "kernels/linear_parts.h"

namespace nereid::kernels {

/// What a shape on a stream keeps between calls.
struct Mxfp4Linear::State {
  explicit State(Stream on) : stream(std::move(on)) {}

  Stream stream; ///< kept alive: its address is part of the key
  ProblemSize size;
  GemmPlan plan;
  QuantConfig quant;
  ReduceConfig reduce;
  Buffer<u8> a_codes;   ///< two passes: [m, k/2]
  Buffer<u8> a_scales;  ///< two passes: shuffled, its padding 127
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
  const NeededMemory needed[] = {{"a", operands.a, size.m * size.k * 2, "bf16 [m, k]"},
                                 {"b", operands.b, host::shuffled_b_bytes(size.n, size.k), shuffled_b_layout},
                                 {"b_scales", operands.b_scales, scale_bytes, shuffled_scales_layout},
                                 {"c", operands.c, size.m * size.n * 2, "bf16 [m, n]"}};
  return check_memory("mxfp4_linear", needed);
}

} // namespace

Mxfp4Linear::Mxfp4Linear(Device device, LaunchOptions options)
    : device_(std::move(device)), options_(options) {}

Mxfp4Linear::~Mxfp4Linear() = default;

Result<LinearReport> Mxfp4Linear::operator()(const Stream &stream, const LinearOperands &operands,
                                             const ProblemSize &size, GemmPath path,
                                             const Partial<GemmConfig> &config) {
  if (!(stream.device() == device_))
    return user_error("mxfp4_linear: the stream is of another device",
                      "use a stream of the device that the operation belongs to");
  NEREID_TRY(State * state, state_for(stream, size, path, config));
  NEREID_CHECK(check_operands(operands, size));
  const std::lock_guard lock(state->mutex);
  return run(*state, operands);
}

Result<Mxfp4Linear::State *> Mxfp4Linear::state_for(const Stream &stream, const ProblemSize &size,
                                                    GemmPath path, const Partial<GemmConfig> &config) {
  const std::lock_guard lock(mutex_);
  Key key{stream.state(), size, path, config_text(config)};
  if (const auto found = states_.find(key); found != states_.end())
    return found->second.get();
  NEREID_TRY(const GemmPlan plan, plan_gemm(path, config, size, device_.name()));
  NEREID_TRY(std::unique_ptr<State> state, make_state(stream, size, plan));
  return states_.emplace(std::move(key), std::move(state)).first->second.get();
}

Result<std::unique_ptr<Mxfp4Linear::State>>
Mxfp4Linear::make_state(const Stream &stream, const ProblemSize &size, const GemmPlan &plan) {
  auto state = std::make_unique<State>(stream);
  state->size = size;
  state->plan = plan;
  NEREID_TRY(const LinearParts parts, LinearParts::of(plan, size));
  state->quant = parts.quant.value_or(QuantConfig{});
  state->reduce = parts.reduce.value_or(ReduceConfig{});
  if (plan.gemm.reduce != Reduce::None)
    NEREID_CHECK(allocate_for_splits(*state));
  if (plan.path == GemmPath::TwoPass)
    NEREID_CHECK(allocate_for_two_passes(*state));
  return state;
}

Status Mxfp4Linear::allocate_for_splits(State &state) const {
  const auto &[tile, split_k, reduce] = state.plan.gemm;
  const int slices = reduce == Reduce::Atomic ? 1 : split_k;
  NEREID_TRY(state.sums, device_.allocate<f32>(state.size.m * state.size.n * slices));
  if (!writes_bf16(reduce))
    return {};
  NEREID_TRY(state.arrivals, device_.allocate<i32>(gemm_tiles(tile, state.size)));
  NEREID_CHECK(state.arrivals.fill(0));
  // They were zeroed on the default stream.
  return device_.synchronize();
}

Status Mxfp4Linear::allocate_for_two_passes(State &state) const {
  const auto &[m, n, k] = state.size;
  NEREID_TRY(state.a_codes, device_.allocate<u8>(m * k / 2));
  NEREID_TRY(state.a_scales, device_.allocate<u8>(host::shuffled_scale_bytes(m, k)));
  NEREID_CHECK(state.a_scales.fill(127));
  // The padding was written on the default stream.
  return device_.synchronize();
}

Result<LaunchRecord> Mxfp4Linear::multiply(State &state, const LinearOperands &operands,
                                           const DeviceMemory &out) const {
  const LaunchTarget target{state.stream, options_};
  const SplitWorkspace workspace{state.sums, state.arrivals};
  if (state.plan.path != GemmPath::TwoPass)
    return gemm_fused_kernel.launch(target, state.plan.gemm, state.size,
                                    {operands.a, operands.b, operands.b_scales, out, workspace});
  return gemm_kernel.launch(
      target, state.plan.gemm, state.size,
      {state.a_codes, state.a_scales, operands.b, operands.b_scales, out, {}, workspace});
}

Result<LinearReport> Mxfp4Linear::run(State &state, const LinearOperands &operands) const {
  const LaunchTarget target{state.stream, options_};
  const GemmPlan &plan = state.plan;
  LinearReport report{plan.path, plan.gemm, {}};
  const auto add = [&](Result<LaunchRecord> launched) -> Status {
    NEREID_TRY(LaunchRecord record, std::move(launched));
    report.launches.push_back(std::move(record));
    return {};
  };

  const bool reduces = !writes_bf16(plan.gemm.reduce);
  if (plan.gemm.reduce == Reduce::Atomic)
    NEREID_CHECK(add(launch_zero(target, state.sums, state.size.m * state.size.n)));
  if (plan.path == GemmPath::TwoPass)
    NEREID_CHECK(add(
        quant_kernel.launch(target, state.quant, state.size, {operands.a, state.a_codes, state.a_scales})));
  NEREID_CHECK(add(multiply(state, operands, reduces ? DeviceMemory(state.sums) : operands.c)));
  if (reduces)
    NEREID_CHECK(add(reduce_kernel.launch(target, state.reduce, state.size, {state.sums, operands.c})));
  return report;
}

} // namespace nereid::kernels
