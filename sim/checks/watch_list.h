#pragma once

#include <memory>
#include <vector>

#include "sim/state/watch.h"

namespace nereid::sim {

/// Several watches as one; those behind the first that raises a fault are not asked any more.
class WatchList : public Watch {
public:
  void add(std::unique_ptr<Watch> watch) { watches_.push_back(std::move(watch)); }
  bool empty() const { return watches_.empty(); }

  std::unique_ptr<Watch> fork(LaunchState &copy) const override {
    auto list = std::make_unique<WatchList>();
    for (const auto &watch : watches_)
      list->add(watch->fork(copy));
    return list;
  }

  void begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) override {
    for (auto &watch : watches_)
      watch->begin(group, waves);
  }
  void before(Wave &wave, const Instruction &instruction) override {
    each(wave, [&](Watch &watch) { watch.before(wave, instruction); });
  }
  void access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) override {
    each(wave, [&](Watch &watch) { watch.access(wave, instruction, access); });
  }
  void barrier(Workgroup &group) override {
    for (auto &watch : watches_)
      watch->barrier(group);
  }
  void end(Workgroup &group) override {
    for (auto &watch : watches_)
      watch->end(group);
  }

private:
  template <class F> void each(const Wave &wave, F call) {
    for (auto &watch : watches_) {
      call(*watch);
      if (wave.fault)
        return;
    }
  }

  std::vector<std::unique_ptr<Watch>> watches_;
};

} // namespace nereid::sim
