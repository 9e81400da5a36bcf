// A bound of the instructions of several launches.
#include "jit/device/launch_budget.h"

#include <algorithm>

namespace nereid {
namespace {

thread_local std::optional<uint64_t> budget;

} // namespace

LaunchBudget::LaunchBudget(uint64_t instructions) : outer_(budget) { budget = instructions; }
LaunchBudget::~LaunchBudget() { budget = outer_; }

std::optional<uint64_t> LaunchBudget::left() { return budget; }

void LaunchBudget::spend(uint64_t instructions) {
  if (budget)
    *budget -= std::min(*budget, instructions);
}

} // namespace nereid
