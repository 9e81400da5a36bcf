#pragma once

#include <string>
#include <tuple>

#include "jit/verify/machine_steps.h"

namespace nereid::jit {

/// What a wave has done for one contract. Copies and groups of reads are counted from the stage that is being
/// read, so that a loop comes back to the state in which it began.
struct WaveState {
  std::string outstanding; ///< vector memory, oldest first: 'c' a copy of the contract, '.' another
  bool reads_pending = false, scalar_pending = false;
  unsigned lds_pending = 0; ///< LDS instructions
  int copied = 0;           ///< copies issued
  int arrived = 0;          ///< of these, before the last barrier
  int read = 0;             ///< reads of the stage
  int free = 0;             ///< stages before this one are read and were so at a barrier

  auto key() const {
    return std::tie(outstanding, reads_pending, scalar_pending, lds_pending, copied, arrived, read, free);
  }
  bool operator<(const WaveState &other) const { return key() < other.key(); }
};

/// The rules of a contract.
class ContractRules {
public:
  explicit ContractRules(const codegen::PipelineContract &contract)
      : copies_(static_cast<int>(contract.copies)), reads_(static_cast<int>(contract.reads)),
        buffers_(static_cast<int>(contract.buffers)), one_wave_(contract.one_wave) {}

  /// The state after a step, or (Nereid's error) which rule the step breaks.
  Status advance(const MachineStep &step, WaveState &state) const;

private:
  Status copy(WaveState &state) const;
  Status read(WaveState &state) const;
  Status first_copy(WaveState &state) const;

  int copies_, reads_, buffers_;
  bool one_wave_;
};

} // namespace nereid::jit
