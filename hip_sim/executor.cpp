// Which queued operation runs when.
#include "hip_sim/executor.h"

#include <algorithm>
#include <unordered_set>

#include "hip_sim/device.h"
#include "hip_sim/log.h"
#include "hip_sim/runtime.h"

namespace nereid::hip_sim {
namespace {

/// Operations that may be queued: HIP too waits when its queues are full.
constexpr size_t max_pending = 4096;

bool is_done(const OperationPtr &operation) { return operation->state == Operation::State::Done; }

} // namespace

OperationPtr Executor::add(Device &device, Work work, std::vector<OperationPtr> waits) {
  std::erase_if(waits, [](const OperationPtr &wait) { return !wait; });
  auto operation = std::make_shared<Operation>();
  operation->sequence = next_++;
  operation->device = &device;
  operation->work = std::move(work);
  operation->waits = std::move(waits);
  pending_.emplace(operation->sequence, operation);
  return operation;
}

std::vector<OperationPtr> Executor::needed_for(const OperationPtr &operation) const {
  std::vector<OperationPtr> found;
  if (is_done(operation))
    return found;
  std::unordered_set<const Operation *> seen{operation.get()};
  found.push_back(operation);
  for (size_t i = 0; i < found.size(); ++i)
    for (const OperationPtr &wait : found[i]->waits)
      if (!is_done(wait) && seen.insert(wait.get()).second)
        found.push_back(wait);
  std::sort(found.begin(), found.end(),
            [](const auto &a, const auto &b) { return a->sequence < b->sequence; });
  return found;
}

void Executor::run(Runtime &runtime, Lock &lock, const OperationPtr &operation) {
  done_.wait(lock, [&] { return operation->state != Operation::State::Running; });
  if (is_done(operation))
    return;
  operation->state = Operation::State::Running;
  double begin = 0;
  for (const OperationPtr &wait : operation->waits)
    begin = std::max(begin, wait->finished_us);
  Outcome outcome;
  // A device that is lost does nothing any more.
  if (operation->device->lost == hipSuccess) {
    lock.unlock();
    outcome = perform(runtime, operation->work);
    lock.lock();
  }
  if (outcome.error != hipSuccess && operation->device->lost == hipSuccess) {
    operation->device->lost = outcome.error;
    runtime.fault_text = outcome.text;
    log(runtime.options.log, LogLevel::Faults, outcome.text);
  }
  operation->finished = std::chrono::steady_clock::now();
  operation->finished_us = begin + outcome.us;
  operation->state = Operation::State::Done;
  operation->work = std::monostate();
  operation->waits.clear();
  pending_.erase(operation->sequence);
  done_.notify_all();
}

void Executor::finish(Runtime &runtime, Lock &lock, const OperationPtr &operation) {
  if (operation)
    for (const OperationPtr &needed : needed_for(operation))
      run(runtime, lock, needed);
}

bool Executor::step(Runtime &runtime, Lock &lock, const OperationPtr &operation) {
  if (!operation || is_done(operation))
    return true;
  run(runtime, lock, needed_for(operation).front());
  return false;
}

void Executor::finish_all(Runtime &runtime, Lock &lock, const Device &device) {
  std::vector<OperationPtr> all;
  for (const auto &[sequence, operation] : pending_)
    if (operation->device == &device)
      all.push_back(operation);
  for (const OperationPtr &operation : all)
    finish(runtime, lock, operation);
}

void Executor::bound(Runtime &runtime, Lock &lock) {
  while (pending_.size() > max_pending) {
    const OperationPtr oldest = pending_.begin()->second;
    finish(runtime, lock, oldest);
  }
}

} // namespace nereid::hip_sim
