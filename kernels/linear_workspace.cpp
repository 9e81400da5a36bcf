// One growing workspace a stream.
#include "kernels/linear_workspace.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "jit/device/device_interface.h"
#include "kernels/host/shuffle.h"

namespace nereid::kernels {
namespace {

/// Parts begin where kernels may assume the alignment of buffers.
constexpr size_t alignment = 256;

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

} // namespace

WorkspaceNeeds WorkspaceNeeds::of(const GemmPlan &plan, const ProblemSize &size) {
  const auto &[m, n, k] = size;
  const auto &[tile, split_k, reduce] = plan.gemm;
  WorkspaceNeeds needs;
  if (reduce != Reduce::None)
    needs.sums = 4 * m * n * (reduce == Reduce::Atomic ? 1 : split_k);
  if (reduce == Reduce::LastArrival)
    needs.arrivals = 4 * gemm_tiles(tile, size);
  if (plan.path == GemmPath::TwoPass) {
    needs.a_codes = m * k / 2;
    needs.a_scales = host::shuffled_scale_bytes(m, k);
  }
  return needs;
}

size_t WorkspaceNeeds::scratch() const { return aligned(sums) + aligned(a_codes) + aligned(a_scales); }

Status StreamWorkspace::grow(const Stream &stream, const WorkspaceNeeds &needs) {
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (capturing)
    return user_error(fmt::format("mxfp4_linear: the product needs a workspace of {} bytes, its stream has "
                                  "one of {} and is being captured",
                                  aligned(needs.arrivals) + needs.scratch(), bytes()),
                      "Call prepare() for this product on this stream before the capture");
  const size_t arrivals = std::max(arrivals_, aligned(needs.arrivals));
  // Half as much again, so that products that grow step by step do not allocate at every step.
  const size_t scratch =
      needs.scratch() > scratch_ ? std::max(needs.scratch(), scratch_ + scratch_ / 2) : scratch_;
  NEREID_TRY(Buffer<std::byte> grown, stream.device().allocate(arrivals + scratch));
  NEREID_CHECK(grown.fill_async(stream, std::byte{0}, 0, arrivals));
  memory_ = std::make_shared<const Buffer<std::byte>>(std::move(grown));
  arrivals_ = arrivals;
  scratch_ = scratch;
  faults_ = stream.interface().faults();
  return {};
}

Status StreamWorkspace::reset_arrivals(const Stream &stream) {
  jit::DeviceInterface &device = stream.interface();
  NEREID_TRY(const bool capturing, stream.is_capturing());
  // A GPU is lost by a fault. The simulator lives on, so that each replay of a graph may come after one.
  const bool may_be_dirty = capturing ? device.kind() == DeviceKind::Simulator : device.faults() != faults_;
  if (!may_be_dirty)
    return {};
  NEREID_CHECK(device.fill_async(stream.state(), memory_->address(), {0, 1}, arrivals_));
  if (!capturing)
    faults_ = device.faults();
  return {};
}

Result<WorkspaceParts> StreamWorkspace::parts(const Stream &stream, const WorkspaceNeeds &needs) {
  if (needs.arrivals > arrivals_ || needs.scratch() > scratch_)
    NEREID_CHECK(grow(stream, needs));
  WorkspaceParts parts;
  if (!memory_)
    return parts;
  if (needs.arrivals)
    NEREID_CHECK(reset_arrivals(stream));
  uint64_t address = memory_->address();
  if (needs.arrivals)
    parts.arrivals = {address, needs.arrivals};
  address += arrivals_;
  const auto take = [&](size_t bytes) {
    const DeviceMemory part{bytes ? address : 0, bytes};
    address += aligned(bytes);
    return part;
  };
  parts.sums = take(needs.sums);
  parts.a_codes = take(needs.a_codes);
  parts.a_scales = take(needs.a_scales);
  return parts;
}

void StreamWorkspace::drop() {
  memory_.reset();
  arrivals_ = scratch_ = 0;
}

void StreamWorkspaces::drop_those_of_dead_streams() {
  std::erase_if(entries_, [](const auto &entry) { return entry.first && entry.second.stream.expired(); });
}

std::shared_ptr<StreamWorkspace> StreamWorkspaces::of(const Stream &stream) {
  const std::lock_guard lock(mutex_);
  jit::StreamState *state = stream.state();
  // A new stream may have the address of one that is gone.
  if (const auto found = entries_.find(state);
      found != entries_.end() && (!state || !found->second.stream.expired()))
    return found->second.workspace;
  drop_those_of_dead_streams();
  Entry entry{.stream = {}, .workspace = std::make_shared<StreamWorkspace>()};
  if (state)
    entry.stream = state->weak_from_this();
  return entries_.insert_or_assign(state, std::move(entry)).first->second.workspace;
}

void StreamWorkspaces::keep(const Stream &stream, const StreamWorkspace &workspace) {
  if (!workspace.memory() || stream.keep(workspace.memory()))
    return;
  const std::lock_guard lock(mutex_);
  captured_by_others_.insert(workspace.memory());
}

void StreamWorkspaces::trim() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

StreamWorkspaces::Held StreamWorkspaces::held() {
  std::set<std::shared_ptr<const Buffer<std::byte>>> memory;
  std::vector<std::shared_ptr<StreamWorkspace>> workspaces;
  {
    const std::lock_guard lock(mutex_);
    drop_those_of_dead_streams();
    memory = captured_by_others_;
    for (const auto &[state, entry] : entries_)
      workspaces.push_back(entry.workspace);
  }
  // Calls lock a workspace before this object.
  for (const auto &workspace : workspaces) {
    const std::lock_guard call(workspace->mutex());
    if (workspace->memory())
      memory.insert(workspace->memory());
  }
  Held held{.streams = workspaces.size()};
  for (const auto &each : memory)
    held.bytes += each->bytes();
  return held;
}

} // namespace nereid::kernels
