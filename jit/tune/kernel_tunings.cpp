// The records of a kernel on a device: look-up and merge.
#include "jit/tune/kernel_tunings.h"

#include <fmt/format.h>

namespace nereid {

const TuningRecord *KernelTunings::find(std::string_view key, std::string_view config) const & {
  const auto configs = records_.find(key);
  if (configs == records_.end())
    return nullptr;
  const auto found = configs->second.find(config);
  return found == configs->second.end() ? nullptr : &found->second;
}

const TuningRecord *KernelTunings::winner(std::string_view key) const & {
  const auto configs = records_.find(key);
  if (configs == records_.end())
    return nullptr;
  std::vector<const TuningRecord *> all;
  for (const auto &[config, record] : configs->second)
    all.push_back(&record);
  return winner_of(all);
}

std::vector<std::string> KernelTunings::keys() const {
  std::vector<std::string> keys;
  for (const auto &[key, configs] : records_)
    keys.push_back(key);
  return keys;
}

std::vector<TuningRecord> KernelTunings::records(std::string_view key) const {
  std::vector<TuningRecord> all;
  if (const auto configs = records_.find(key); configs != records_.end())
    for (const auto &[config, record] : configs->second)
      all.push_back(record);
  return all;
}

KernelTunings KernelTunings::winners() const {
  KernelTunings winners(kernel_, device_);
  for (const auto &[key, configs] : records_)
    if (const TuningRecord *record = winner(key))
      winners.add(*record);
  return winners;
}

void KernelTunings::add(const TuningRecord &record) {
  const auto [place, added] = records_[record.key].try_emplace(record.config, record);
  if (!added && &kept_of(place->second, record) == &record)
    place->second = record;
}

Status KernelTunings::add(const KernelTunings &later) {
  if (later.kernel_ != kernel_ || later.device_ != device_)
    return user_error(fmt::format("records of kernel '{}' on '{}' do not go into the table of '{}' on '{}'",
                                  later.kernel_, later.device_, kernel_, device_),
                      "Each kernel has a table of its own on each device");
  for (const auto &[key, configs] : later.records_)
    for (const auto &[config, record] : configs)
      add(record);
  return {};
}

} // namespace nereid
