#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/checks/global_order.h"
#include "sim/state/checker.h"

namespace nereid::sim {

class Program;

/// Finds two workgroups that touch the same byte of global memory, one of them writing, without order: a
/// store of device scope (sc1, or followed by buffer_wbl2 sc1) that its wave has waited for is before the
/// atomics after it, and those are before the loads of device scope (sc1, or after buffer_inv sc1) that come
/// after an atomic which observes them. Barriers order the waves of a workgroup. Must see all workgroups, so
/// the launch runs on one host thread.
class GlobalRaceChecker : public Checker {
public:
  explicit GlobalRaceChecker(const Program &program);

  std::unique_ptr<Checker> fork(LaunchState &copy) const override;

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override;
  void before(Wave &wave, const Instruction &instruction) override;
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override;
  void barrier(Workgroup &) override { GlobalOrder::meet(orders_); }

private:
  struct Facts {
    WaitCounter counter = WaitCounter::None;
    bool waits = false;
    bool writes_back = false;
    bool invalidates = false;
    bool device = false; ///< sc1
    bool scalar = false;
  };
  /// One executed instruction that touched memory.
  struct Stamp {
    uint64_t workgroup;
    uint64_t number; ///< of the operation in its wave
    uint32_t instruction;
    uint8_t wave;
    bool device;        ///< seen by others once complete
    bool atomic;        ///< or a load or store that must be one, as the bytes are changed by atomics
    bool may_be_atomic; ///< of device scope and at most 8 bytes
  };
  struct Page {
    static constexpr unsigned size = 4096;
    std::array<uint32_t, size> writer{}, reader{}; ///< number of the last stamp, 0: none
  };
  struct Release {
    uint32_t location;
    uint64_t position;
    std::shared_ptr<const Published> published;
  };
  /// A place that atomics change.
  struct Location {
    uint32_t number;
    uint64_t releases = 0;
    Knowledge known; ///< of those who released here
  };

  Page &page(uint64_t address);
  /// True when atomics have changed a place that a lane touches.
  bool changed_by_atomics(const MemoryAccess &access) const;
  void synchronise(Wave &wave, const MemoryAccess &access, bool returns);
  bool happened_before(const Stamp &stamp, bool is_load, const Knowledge &knowledge) const;
  /// Raises a fault when an earlier access is not before this one.
  bool ordered(Wave &wave, const MemoryAccess &access, unsigned lane, uint64_t byte, const Stamp &now,
               uint32_t earlier, bool earlier_writes);

  const Program &program_;
  std::vector<Facts> facts_;
  std::vector<GlobalOrder> orders_; ///< of the waves of the workgroup that runs
  uint64_t workgroup_ = 0;
  uint64_t number_ = 0; ///< of the operation that runs
  std::vector<Stamp> stamps_;
  std::unordered_map<uint64_t, Page> pages_;
  Page *page_ = nullptr; ///< that was used last
  uint64_t page_number_ = 0;
  std::unordered_map<uint64_t, Location> locations_;            ///< by address
  std::unordered_map<uint64_t, std::vector<Release>> releases_; ///< by workgroup
  uint32_t last_ordered_ = 0; ///< a stamp that was found to be before the operation that runs
};

} // namespace nereid::sim
