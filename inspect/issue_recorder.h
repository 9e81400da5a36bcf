#pragma once

#include <map>
#include <string>
#include <vector>

#include "inspect/machine_code.h"
#include "sim/timing/hot_loop.h"
#include "sim/timing/replay_observer.h"

namespace nereid::inspect {

/// What a replay of the first workgroup tells of each instruction, and its timeline.
class IssueRecorder final : public sim::timing::ReplayObserver {
public:
  explicit IssueRecorder(const sim::Program &program) : program_(program), facts_(program.size()) {}

  void begin(std::span<const sim::timing::WorkgroupTrace *const> workgroups) override;
  void issued(const sim::timing::ReplayedIssue &issue) override;
  void passed_barrier(size_t group, unsigned wave, uint64_t from, uint64_t until) override;

  /// Adds executions, clocks and stalls to the report's code, the loops' iterations, which loop is hot, and
  /// the timeline of its run.
  void add_to(Report &report, const MachineCode &machine) const;
  unsigned waves() const { return static_cast<unsigned>(waves_.size()); }

private:
  struct Facts {
    double executed = 0, clocks = 0;
    std::map<std::string, double> stalls;
  };
  struct WaveFacts {
    size_t first = 0, last = 0; ///< events that stand for others
    double weight = 1;          ///< of each of these
    size_t shown_from = 0;      ///< event with which the timeline begins
    uint32_t last_issued = 0;   ///< instruction
    double last_weight = 1;
    bool last_is_shown = false;
  };
  struct Shown {
    uint32_t instruction;
    unsigned wave;
    uint64_t ready, issue, end, done;
    std::string reason;
  };

  double weight(const WaveFacts &wave, size_t event) const {
    return event >= wave.first && event < wave.last ? wave.weight : 1;
  }
  void add_timeline(Run &run, const MachineCode &machine) const;
  void choose_hot_loop(Report &report, const MachineCode &machine) const;

  const sim::Program &program_;
  std::vector<Facts> facts_;
  std::vector<WaveFacts> waves_;
  std::vector<Shown> shown_;
  bool cut_ = false;
  uint32_t hot_first_ = 0, hot_last_ = 0; ///< instructions of the hot loop
  bool has_hot_loop_ = false;
};

} // namespace nereid::inspect
