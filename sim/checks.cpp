#include "sim/checks.h"

#include "sim/global_race_check.h"
#include "sim/hazard_check.h"
#include "sim/lds_race_check.h"
#include "sim/shadow_watch.h"
#include "sim/wait_check.h"
#include "sim/watch_list.h"
#include "sim/workgroup.h"

namespace nereid::sim {

bool Checks::enable(FaultKind kind) {
  switch (kind) {
  case FaultKind::Undefined:
    return undefined = true;
  case FaultKind::RaceLds:
    return race_lds = true;
  case FaultKind::RaceGlobal:
    return race_global = true;
  case FaultKind::Wait:
    return wait = true;
  case FaultKind::Hazard:
    return hazard = true;
  case FaultKind::NanScale:
    return nan_scale = true;
  default:
    return false;
  }
}

namespace {

/// Calls the launch's observer before each instruction.
class Observation : public Watch {
public:
  explicit Observation(const Observer &observer) : observer_(observer) {}
  void begin(Workgroup &, std::span<const std::unique_ptr<Wave>>) override {}
  void before(Wave &wave, const Instruction &instruction) override { observer_(wave, instruction); }
  void access(Wave &, const Instruction &, const MemoryAccess &) override {}
  void after(Wave &, const Instruction &) override {}
  void barrier(Workgroup &) override {}
  void end(Workgroup &) override {}

private:
  const Observer &observer_;
};

} // namespace

std::unique_ptr<Watch> make_watch(LaunchState &state) {
  auto list = std::make_unique<WatchList>();
  if (state.launch->observer)
    list->add(std::make_unique<Observation>(state.launch->observer));
  const Checks &checks = state.launch->checks;
  const Program &program = state.code->program();
  if (checks.wait)
    list->add(std::make_unique<WaitCheck>(program));
  if (checks.undefined || checks.nan_scale)
    list->add(std::make_unique<ShadowWatch>(state, checks.undefined, checks.nan_scale));
  if (checks.race_lds)
    list->add(std::make_unique<LdsRaceCheck>(program));
  if (checks.hazard)
    list->add(std::make_unique<HazardCheck>(program));
  if (checks.race_global)
    list->add(std::make_unique<GlobalRaceCheck>(program));
  if (list->empty())
    return nullptr;
  return list;
}

} // namespace nereid::sim
