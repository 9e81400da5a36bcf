#include "sim/run/make_checkers.h"

#include "sim/checks/checker_list.h"
#include "sim/checks/global_race_checker.h"
#include "sim/checks/hazard_checker.h"
#include "sim/checks/lds_race_checker.h"
#include "sim/checks/wait_checker.h"
#include "sim/launch/launch_state.h"
#include "sim/shadow/checker.h"

namespace nereid::sim {

namespace {

/// Calls the launch's observer before each instruction.
class ObserverCall : public Checker {
public:
  explicit ObserverCall(const Observer &observer) : observer_(observer) {}
  std::unique_ptr<Checker> fork(LaunchState &copy) const override {
    return std::make_unique<ObserverCall>(copy.launch->observer);
  }
  void before(Wave &wave, const Instruction &instruction) override { observer_(wave, instruction); }

private:
  const Observer &observer_;
};

} // namespace

std::unique_ptr<Checker> make_checkers(LaunchState &state) {
  auto list = std::make_unique<CheckerList>();
  if (state.launch->observer)
    list->add(std::make_unique<ObserverCall>(state.launch->observer));
  const Checks &checks = state.launch->checks;
  const Program &program = state.code->program();
  if (checks.wait)
    list->add(std::make_unique<WaitChecker>(program));
  if (checks.undefined || checks.nan_scale)
    list->add(std::make_unique<ShadowChecker>(state, checks.undefined, checks.nan_scale));
  if (checks.race_lds)
    list->add(std::make_unique<LdsRaceChecker>(program));
  if (checks.hazard)
    list->add(std::make_unique<HazardChecker>(program));
  if (checks.race_global)
    list->add(std::make_unique<GlobalRaceChecker>(program));
  if (list->empty())
    return nullptr;
  return list;
}

} // namespace nereid::sim
