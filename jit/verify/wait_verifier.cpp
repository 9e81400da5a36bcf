// The walk of the wait verifier: all states that a wave can be in at each instruction.
#include "jit/verify/wait_verifier.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "jit/verify/wave_state.h"

namespace nereid::jit {
namespace {

class Walk {
public:
  Walk(const MachineFunction &function, const codegen::PipelineContract &contract,
       std::vector<MachineStep> steps)
      : function_(function), rules_(contract), steps_(std::move(steps)), seen_(steps_.size()) {}

  Status run() {
    constexpr size_t max_states = 400000;
    enter(0, WaveState());
    for (size_t states = 0; !open_.empty(); ++states) {
      auto [at, state] = std::move(open_.back());
      open_.pop_back();
      if (states == max_states)
        return nereid_error("the code has more states than the wait verifier follows");
      const MachineStep &step = steps_[at];
      if (Status kept = rules_.advance(step, state); !kept)
        return nereid_error(kept.error().message + " (" + text_of(function_.instructions[at]) + ")");
      if (step.falls_through)
        enter(at + 1, state);
      if (step.target)
        enter(*step.target, state);
    }
    return {};
  }

  bool reached(StepKind kind) const {
    for (size_t at = 0; at < steps_.size(); ++at)
      if (steps_[at].kind == kind && !seen_[at].empty())
        return true;
    return false;
  }

private:
  void enter(size_t at, const WaveState &state) {
    if (at < steps_.size() && seen_[at].insert(state).second)
      open_.emplace_back(at, state);
  }

  const MachineFunction &function_;
  ContractRules rules_;
  std::vector<MachineStep> steps_;
  std::vector<std::set<WaveState>> seen_; ///< by step
  std::vector<std::pair<size_t, WaveState>> open_;
};

} // namespace

Status verify_waits(const MachineFunction &function, const codegen::PipelineContract &contract) {
  if (contract.copies == 0 || contract.reads == 0 || contract.buffers == 0)
    return nereid_error("a pipeline's contract has no copies, no reads or no buffers");
  NEREID_TRY(std::vector<MachineStep> steps, read_steps(function, contract));
  Walk walk(function, contract, std::move(steps));
  NEREID_CHECK(walk.run());
  if (!walk.reached(StepKind::Copy) && !walk.reached(StepKind::FirstCopy))
    return nereid_error("the copies of a pipeline are not in the code");
  if (!walk.reached(StepKind::PipelineRead))
    return nereid_error("the reads of a pipeline are not in the code");
  return {};
}

bool is_left_out(const MachineFunction &function, const codegen::PipelineContract &contract,
                 const std::vector<codegen::PipelineContract> &all) {
  const auto is_copy = [](const MachineStep &step) {
    return step.kind == StepKind::Copy || step.kind == StepKind::FirstCopy;
  };
  const auto own = read_steps(function, contract);
  if (!own || std::any_of(own->begin(), own->end(), [&](const MachineStep &step) {
        return is_copy(step) || step.kind == StepKind::PipelineRead;
      }))
    return false;
  std::vector<bool> accounted(function.instructions.size());
  for (const codegen::PipelineContract &other : all)
    if (const auto steps = read_steps(function, other))
      for (size_t i = 0; i < steps->size(); ++i)
        accounted[i] = accounted[i] || is_copy((*steps)[i]);
  for (size_t i = 0; i < accounted.size(); ++i)
    if (!accounted[i] && is_async_copy(function.instructions[i]))
      return false;
  return true;
}

} // namespace nereid::jit
