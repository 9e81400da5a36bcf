#include "sim/run/make_watch.h"

#include "sim/checks/global_race_check.h"
#include "sim/checks/hazard_check.h"
#include "sim/checks/lds_race_check.h"
#include "sim/checks/wait_check.h"
#include "sim/checks/watch_list.h"
#include "sim/launch/launch_state.h"
#include "sim/shadow/check.h"

namespace nereid::sim {

namespace {

/// Calls the launch's observer before each instruction.
class Observation : public Watch {
public:
  explicit Observation(const Observer &observer) : observer_(observer) {}
  std::unique_ptr<Watch> fork(LaunchState &copy) const override {
    return std::make_unique<Observation>(copy.launch->observer);
  }
  void before(Wave &wave, const Instruction &instruction) override { observer_(wave, instruction); }

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
