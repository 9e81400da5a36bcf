#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/decode/program.h"
#include "sim/state/wave.h"
#include "sim/timing/trace.h"

namespace nereid::sim::timing {

/// Lets the waves of a traced workgroup pass most iterations of long loops without executing them, so that a
/// trace costs the same for a short K and a long one. Of the loop that a wave is in when it begins,
/// iterations are kept until the loop is seen to be steady; those that follow are counted and not kept. Where
/// the scalar compares of an iteration are between registers that change by the same amount each time, the
/// iteration in which the first of them changes its answer is known, and the registers are set to what they
/// hold a few iterations before it. Vector registers stay as they are: the addresses in the rest of the trace
/// are those of early iterations.
class LoopSkip {
public:
  /// Begins for a workgroup in the state that its trace ends in.
  LoopSkip(const WorkgroupTrace &trace, const Program &program);

  /// Before an instruction is added to the events of its wave, which lose those of a passed iteration.
  void before(Wave &wave, const Instruction &instruction, std::vector<TraceEvent> &events);
  /// Whether what the wave does now is counted and not kept.
  bool passes_over(unsigned wave) const { return waves_[wave].passes > last_kept_ && !waves_[wave].left; }
  /// What the traces have to stand for, once the workgroup has ended.
  std::vector<LoopSample> samples(const WorkgroupTrace &trace) const;

private:
  using Scalars = std::array<uint32_t, scalar_registers>;

  /// A scalar compare of one iteration.
  struct Compare {
    uint32_t instruction;
    int64_t a, b;
  };

  struct WaveLoop {
    bool found = false;
    bool left = false;    ///< it is behind the loop
    uint32_t first = 0;   ///< instruction of the loop's head
    uint32_t branch = 0;  ///< instruction that goes back to it
    uint32_t last = 0;    ///< instruction before
    uint64_t passes = 0;  ///< of the head
    uint64_t skipped = 0; ///< iterations that the trace does not have
    uint64_t jumped = 0;  ///< of these those that were not executed
    size_t kept = 0;      ///< events up to the last iteration that is kept
    bool meets = false;   ///< there is a barrier in the loop
    bool known = false;   ///< when its iterations end was looked for, and
    uint64_t goal = 0;    ///< the pass to go on with; 0: not found
    std::array<Scalars, 3> scalars{};
    std::array<std::vector<Compare>, 2> compares;
    std::array<int64_t, scalar_registers> change{}; ///< of a block of iterations; 0: none, or not the same
  };

  void pass(Wave &wave, WaveLoop &loop, std::vector<TraceEvent> &events);
  void find_goal(WaveLoop &loop) const;
  bool all_known() const;
  uint64_t blocks_to_jump(const WaveLoop &loop);
  void jump(Wave &wave, WaveLoop &loop);

  const Program &program_;
  std::vector<WaveLoop> waves_;
  uint64_t first_watched_ = 0; ///< pass from which iterations are watched
  uint64_t last_kept_ = 0;
  std::optional<uint64_t> shared_blocks_; ///< that all waves jump which meet at barriers
};

/// The trace without the iterations of its samples.
WorkgroupTrace without_samples(const WorkgroupTrace &trace);

} // namespace nereid::sim::timing
