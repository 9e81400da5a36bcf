#include "sim/checks/global_order.h"

#include <algorithm>

namespace nereid::sim {

namespace {

void join(WaveClock &clock, const WaveClock &other) {
  for (size_t k = 0; k < clock.size(); ++k)
    clock[k] = std::max(clock[k], other[k]);
}

} // namespace

uint64_t GlobalOrder::issue(WaitCounter counter) {
  const Ticket ticket = outstanding_.issue(counter);
  if (counter != WaitCounter::Vector && counter != WaitCounter::Flat)
    return 0;
  in_flight_.push_back(ticket);
  ++issued_;
  settle();
  return issued_;
}

void GlobalOrder::wait(WaitCounts counts) {
  outstanding_.wait(counts);
  settle();
}

void GlobalOrder::settle() {
  while (!in_flight_.empty() && outstanding_.done(in_flight_.front()))
    in_flight_.pop_front();
  const uint64_t done = complete();
  std::erase_if(write_backs_, [&](const Pending<Published> &pending) {
    if (pending.number > done)
      return false;
    join(written_back_, pending.value.complete);
    return true;
  });
  std::erase_if(observations_, [&](const Pending<Knowledge> &pending) {
    if (pending.number > done)
      return false;
    observed_.join(pending.value);
    return true;
  });
}

Published GlobalOrder::published_now(uint64_t own) const {
  Published result{others_complete_, written_back_};
  result.complete[wave_] = own;
  return result;
}

void GlobalOrder::meet(std::vector<GlobalOrder> &waves) {
  Published all;
  Knowledge observed, acquired;
  for (const GlobalOrder &wave : waves) {
    const Published own = wave.published();
    join(all.complete, own.complete);
    join(all.written_back, own.written_back);
    observed.join(wave.observed_);
    acquired.join(wave.acquired_);
  }
  for (GlobalOrder &wave : waves) {
    wave.others_complete_ = all.complete;
    wave.written_back_ = all.written_back;
    wave.observed_ = observed;
    wave.acquired_ = acquired;
  }
}

} // namespace nereid::sim
