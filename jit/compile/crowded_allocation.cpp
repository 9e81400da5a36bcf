// How the vector registers of large code are allocated: by the demand that its schedule has.
#include "jit/compile/crowded_allocation.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "llvm/ADT/bit.h"
#include "llvm/CodeGen/LiveIntervals.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/RegAllocCommon.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/PassRegistry.h"

namespace nereid::jit {
namespace {

/// Values from which on the greedy allocator is too slow where registers are short: 2,000 took it 11 s.
constexpr unsigned many_values = 1000;
/// The same of code without a loop, where the registers are nearly taken: 720 values that need 436 of 512
/// registers took it 2.8 s, 910 values that need 578 took it 6.8 s; one pass takes 0.3 s.
constexpr unsigned many_values_once = 500;
constexpr unsigned nearly_taken_percent = 80;

/// A change of the number of live registers at a place of the code.
using Change = std::pair<llvm::SlotIndex, int>;

void add_changes(const llvm::LiveRange &range, int registers, std::vector<Change> &changes) {
  for (const llvm::LiveRange::Segment &segment : range) {
    changes.emplace_back(segment.start, registers);
    changes.emplace_back(segment.end, -registers);
  }
}

MachineDemand machine_demand(const llvm::MachineFunction &function, const llvm::LiveIntervals &intervals) {
  const llvm::MachineRegisterInfo &values = function.getRegInfo();
  const llvm::TargetRegisterInfo &target = *values.getTargetRegisterInfo();
  MachineDemand demand;
  std::vector<Change> changes;
  for (unsigned i = 0; i < values.getNumVirtRegs(); ++i) {
    const llvm::Register value = llvm::Register::index2VirtReg(i);
    if (values.reg_nodbg_empty(value) || !intervals.hasInterval(value))
      continue;
    ++demand.values;
    const llvm::LiveInterval &interval = intervals.getInterval(value);
    const unsigned size = target.getRegSizeInBits(*values.getRegClass(value)) / 32;
    if (!interval.hasSubRanges()) {
      add_changes(interval, static_cast<int>(size), changes);
      continue;
    }
    const auto lanes = [](llvm::LaneBitmask mask) { return llvm::popcount(mask.getAsInteger()); };
    const int all = lanes(values.getMaxLaneMaskForVReg(value));
    for (const llvm::LiveInterval::SubRange &part : interval.subranges())
      add_changes(part, (lanes(part.LaneMask) * static_cast<int>(size) + all - 1) / all, changes);
  }
  for (const llvm::MachineBasicBlock &block : function)
    for (const llvm::MachineBasicBlock *next : block.successors())
      demand.has_loop |= next->getNumber() <= block.getNumber();
  std::sort(changes.begin(), changes.end());
  int live = 0, most = 0;
  for (const auto &[where, change] : changes) {
    live += change;
    most = std::max(most, live);
  }
  demand.registers = static_cast<unsigned>(most);
  return demand;
}

class MeasureDemand : public llvm::MachineFunctionPass {
public:
  static inline char ID = 0;
  explicit MeasureDemand(std::shared_ptr<MachineDemand> result)
      : MachineFunctionPass(ID), result_(std::move(result)) {}

  llvm::StringRef getPassName() const override { return "Measure the demand for vector registers"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::LiveIntervalsWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &function) override {
    *result_ = machine_demand(function, getAnalysis<llvm::LiveIntervalsWrapperPass>().getLIS());
    return false;
  }

private:
  std::shared_ptr<MachineDemand> result_;
};

} // namespace

bool is_crowded(const MachineDemand &demand, unsigned available) {
  if (demand.has_loop)
    return demand.registers > available && demand.values > many_values;
  return 100 * demand.registers > nearly_taken_percent * available && demand.values > many_values_once;
}

Status allocate_crowded_in_one_pass(llvm::TargetPassConfig &config, unsigned available) {
  const llvm::PassInfo *before =
      llvm::PassRegistry::getPassRegistry()->getPassInfo(llvm::StringRef("amdgpu-reserve-wwm-regs"));
  if (!before)
    return nereid_error("this LLVM has no pass 'amdgpu-reserve-wwm-regs'", "Build Nereid with LLVM 22");
  auto demand = std::make_shared<MachineDemand>();
  const auto takes_all = [demand, available](const llvm::TargetRegisterInfo &,
                                             const llvm::MachineRegisterInfo &,
                                             llvm::Register) { return is_crowded(*demand, available); };
  config.insertPass(before->getTypeInfo(), new MeasureDemand(demand));
  config.insertPass(before->getTypeInfo(), llvm::createBasicRegisterAllocator(takes_all));
  return {};
}

std::string crowded_allocation_identity() {
  return fmt::format("crowded {} {} {}", many_values, many_values_once, nearly_taken_percent);
}

} // namespace nereid::jit
