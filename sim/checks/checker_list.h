#pragma once

#include <memory>
#include <vector>

#include "sim/state/checker.h"

namespace nereid::sim {

/// Several checkers as one; after the first that raises a fault the others are not asked.
class CheckerList : public Checker {
public:
  void add(std::unique_ptr<Checker> checker) { checkers_.push_back(std::move(checker)); }
  bool empty() const { return checkers_.empty(); }

  std::unique_ptr<Checker> fork(LaunchState &copy) const override {
    auto list = std::make_unique<CheckerList>();
    for (const auto &checker : checkers_)
      list->add(checker->fork(copy));
    return list;
  }

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override {
    for (auto &checker : checkers_)
      checker->begin(group, waves);
  }
  void before(Wave &wave, const Instruction &instruction) override {
    each(wave, [&](Checker &checker) { checker.before(wave, instruction); });
  }
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override {
    each(wave, [&](Checker &checker) { checker.access(wave, instruction, access); });
  }
  void barrier(Workgroup &group) override {
    for (auto &checker : checkers_)
      checker->barrier(group);
  }
  void end(Workgroup &group) override {
    for (auto &checker : checkers_)
      checker->end(group);
  }

private:
  template <class F> void each(const Wave &wave, F call) {
    for (auto &checker : checkers_) {
      call(*checker);
      if (wave.fault)
        return;
    }
  }

  std::vector<std::unique_ptr<Checker>> checkers_;
};

} // namespace nereid::sim
