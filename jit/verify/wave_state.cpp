// How a wave's copies and reads follow each other: the rules of the contract, step by step.
#include "jit/verify/wave_state.h"

#include <algorithm>

namespace nereid::jit {
namespace {

void issue(WaveState &state, char what) {
  state.outstanding += what;
  if (state.outstanding.size() > max_outstanding)
    state.outstanding.erase(0, 1);
}

/// LDS counts down in order, but scalar memory may come between: then only zero says something.
void wait(const MachineStep &step, WaveState &state) {
  if (state.outstanding.size() > step.vector_wait)
    state.outstanding.erase(0, state.outstanding.size() - step.vector_wait);
  if (step.lds_wait == 0)
    state.scalar_pending = false;
  if (step.lds_wait == 0 || !state.scalar_pending)
    state.lds_pending = std::min(state.lds_pending, step.lds_wait);
  if (state.lds_pending == 0)
    state.reads_pending = false;
}

/// All waves run the same code: what holds for one at its barrier holds for all.
void meet(WaveState &state) {
  const auto in_flight = std::count(state.outstanding.begin(), state.outstanding.end(), 'c');
  state.arrived = state.copied - static_cast<int>(in_flight);
  if (!state.reads_pending)
    state.free = 0;
}

} // namespace

Status ContractRules::advance(const MachineStep &step, WaveState &state) const {
  switch (step.kind) {
  case StepKind::FirstCopy:
    return first_copy(state);
  case StepKind::Copy:
    return copy(state);
  case StepKind::PipelineRead:
    return read(state);
  case StepKind::VectorMemory:
    issue(state, '.');
    break;
  case StepKind::Lds:
    ++state.lds_pending;
    break;
  case StepKind::ScalarMemory:
    state.scalar_pending = true;
    break;
  case StepKind::Wait:
    wait(step, state);
    if (one_wave_)
      meet(state);
    break;
  case StepKind::Barrier:
    meet(state);
    break;
  case StepKind::Branch:
  case StepKind::Other:
    break;
  }
  return {};
}

Status ContractRules::first_copy(WaveState &state) const {
  if (state.outstanding.find('c') != std::string::npos || state.reads_pending)
    return nereid_error("a pipeline starts while copies or reads of the one before are outstanding");
  state.copied = state.arrived = state.read = state.free = 0;
  return copy(state);
}

Status ContractRules::copy(WaveState &state) const {
  const int overwritten = state.copied / copies_ - buffers_;
  if (overwritten >= state.free)
    return nereid_error("a copy overwrites a buffer whose reads may not be over in all waves");
  issue(state, 'c');
  ++state.copied;
  return {};
}

Status ContractRules::read(WaveState &state) const {
  if (state.arrived < copies_)
    return nereid_error("a read may come before the copies of its stage have arrived in all waves");
  ++state.lds_pending;
  state.reads_pending = true;
  if (++state.read == reads_) {
    state.read = 0;
    state.copied -= copies_;
    state.arrived -= copies_;
    --state.free;
  }
  return {};
}

} // namespace nereid::jit
