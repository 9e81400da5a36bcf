#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/decode/program.h"
#include "sim/state/checker.h"
#include "sim/timing/line_set.h"
#include "sim/timing/loop_skip.h"
#include "sim/timing/trace.h"
#include "sim/timing/undo_log.h"

namespace nereid::sim::timing {

/// Lines that workgroups asked for.
struct Footprint {
  uint64_t requested_bytes = 0;           ///< by vector loads, a line as often as it was asked for
  std::array<LineSet, xcd_count> fetched; ///< by the XCD
  LineSet lines;                          ///< of loads, of the device
  std::unordered_map<uint64_t, uint64_t> block_bytes; ///< distinct ones, by the address of their allocation

  uint64_t fetched_bytes() const;
};

/// Records what workgroups do: which lines all of them touch, what they overwrite, and of those that are
/// asked for the whole sequence of instructions.
class TraceRecorder final : public Checker {
public:
  TraceRecorder(const Memory::View &memory, Footprint &footprint, UndoLog &overwritten)
      : memory_(memory), footprint_(footprint), overwritten_(overwritten) {}
  std::unique_ptr<Checker> fork(LaunchState &) const override { return nullptr; }

  /// Whether the next workgroups are recorded as traces too.
  void keep_traces(bool keep) { keep_ = keep; }
  /// Only the first wave instructions of a workgroup add to the footprint.
  void limit_footprint(uint64_t instructions) { noted_ = instructions; }
  /// From now on passes over what long loops of this workgroup repeat (loop_skip.h).
  void skip_loops(const Program &program) { skip_.emplace(trace_, program); }
  /// Wave instructions of this workgroup, and distinct lines of all workgroups.
  uint64_t instructions() const { return trace_.instructions; }
  size_t lines() const { return fill_of_.size() + footprint_.lines.size(); }
  /// The trace of the last workgroup that began while traces were kept.
  WorkgroupTrace take_trace();

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override;

private:
  /// Notes the lines of an access, which are then in the first cache: where they were, and how many the cache
  /// missed.
  void touch(std::span<const uint64_t> lines, bool load, bool vector, TracedAccess &traced);

  const Memory::View &memory_;
  Footprint &footprint_;
  UndoLog &overwritten_;
  bool keep_ = false;
  uint64_t noted_ = std::numeric_limits<uint64_t>::max();
  unsigned xcd_ = 0;
  WorkgroupTrace trace_;
  std::optional<LoopSkip> skip_;
  /// Of the lines of this workgroup: the how manieth fill of the first cache brought them last. It holds
  /// those of the last fills.
  LineMap fill_of_;
  uint64_t fills_ = 0;
};

} // namespace nereid::sim::timing
