// List scheduling of unequal workgroups over the places of the device.

#include "sim/timing/workgroup_schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "sim/state/isa_limits.h"
#include "sim/timing/constants.h"

namespace nereid::sim::timing {

namespace {

constexpr unsigned units_of_xcd = compute_units / xcd_count;

/// A workgroup on a compute unit.
struct Resident {
  double end;   ///< in the unit's progress
  double start; ///< in clocks
};

/// A compute unit. Its progress is the clocks that a workgroup alone would have had.
class Unit {
public:
  explicit Unit(UnitSharing sharing) : sharing_(sharing) {}

  size_t residents() const { return residents_.size(); }
  double bytes() const { return bytes_; }

  /// When the next workgroup ends; infinite when there is none.
  double next_end() const {
    if (residents_.empty())
      return std::numeric_limits<double>::infinity();
    return time_ + (residents_.front().end - progress_) * slowdown();
  }

  void begin(const ScheduledWorkgroup &workgroup, double time) {
    advance(time);
    const double start = std::max(time, may_start_);
    may_start_ = start + workgroup_start_clocks;
    residents_.push_back({0, start});
    // A start that is delayed is more to do.
    residents_.back().end = progress_ + workgroup.clocks + (start - time) / slowdown();
    std::push_heap(residents_.begin(), residents_.end(), ends_later);
    bytes_ += workgroup.load_bytes;
  }

  /// Ends the next workgroup; returns when it started.
  double end(double time) {
    const Resident ended = residents_.front();
    progress_ = ended.end;
    time_ = time;
    std::pop_heap(residents_.begin(), residents_.end(), ends_later);
    residents_.pop_back();
    return ended.start;
  }

private:
  static bool ends_later(const Resident &a, const Resident &b) { return a.end > b.end; }

  double slowdown() const {
    if (sharing_.places < 2)
      return 1;
    return 1 + (sharing_.slowdown - 1) * static_cast<double>(residents_.size() - 1) / (sharing_.places - 1);
  }
  void advance(double time) {
    if (!residents_.empty())
      progress_ += (time - time_) / slowdown();
    time_ = time;
  }

  UnitSharing sharing_;
  std::vector<Resident> residents_; ///< a heap, the next to end first
  double time_ = 0, progress_ = 0, may_start_ = 0, bytes_ = 0;
};

/// Runs each xcd_count-th workgroup from `first` on.
void run_xcd(std::span<const ScheduledWorkgroup> workgroups, size_t first, UnitSharing sharing,
             WorkgroupSchedule &result) {
  std::vector<Unit> units(units_of_xcd, Unit(sharing));
  const auto fewer = [](const Unit &a, const Unit &b) { return a.residents() < b.residents(); };
  double time = 0;
  for (size_t next = first;;) {
    while (next < workgroups.size()) {
      const auto emptiest = std::min_element(units.begin(), units.end(), fewer);
      if (emptiest->residents() >= sharing.places)
        break;
      emptiest->begin(workgroups[next], time);
      next += xcd_count;
    }
    const auto ending = std::min_element(
        units.begin(), units.end(), [](const Unit &a, const Unit &b) { return a.next_end() < b.next_end(); });
    if (ending->residents() == 0)
      break;
    time = ending->next_end();
    result.longest = std::max(result.longest, time - ending->end(time));
  }
  result.clocks = std::max(result.clocks, time);
  for (const Unit &unit : units)
    result.most_unit_bytes = std::max(result.most_unit_bytes, unit.bytes());
}

} // namespace

WorkgroupSchedule schedule(std::span<const ScheduledWorkgroup> workgroups, UnitSharing sharing) {
  WorkgroupSchedule result;
  for (size_t xcd = 0; xcd < std::min<size_t>(xcd_count, workgroups.size()); ++xcd)
    run_xcd(workgroups, xcd, sharing, result);
  return result;
}

} // namespace nereid::sim::timing
