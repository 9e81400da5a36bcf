// The records of a kernel on a device: look-up and merge.
#include "jit/tune/kernel_tunings.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace nereid {
namespace {

/// The order of a key's records.
bool stands_before(const TuningRecord &a, const TuningRecord &b) {
  if (a.config != b.config)
    return natural_less(a.config, b.config);
  return std::tie(a.ranking, a.caches) < std::tie(b.ranking, b.caches);
}

bool is_of(const TuningRecord &record, std::string_view ranking, std::string_view caches) {
  return record.ranking == ranking && record.caches == caches;
}

} // namespace

const TuningRecord *KernelTunings::find(std::string_view key, std::string_view config,
                                        std::string_view ranking, std::string_view caches) const & {
  const auto configs = records_.find(key);
  if (configs == records_.end())
    return nullptr;
  const auto found =
      std::find_if(configs->second.begin(), configs->second.end(), [&](const TuningRecord &record) {
        return record.config == config && is_of(record, ranking, caches);
      });
  return found == configs->second.end() ? nullptr : &*found;
}

const TuningRecord *KernelTunings::winner(std::string_view key) const & {
  const auto configs = records_.find(key);
  if (configs == records_.end())
    return nullptr;
  std::vector<const TuningRecord *> all;
  for (const TuningRecord &record : configs->second)
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
  const auto configs = records_.find(key);
  return configs == records_.end() ? Configs() : configs->second;
}

KernelTunings KernelTunings::winners() const {
  KernelTunings winners(kernel_, device_);
  for (const auto &[key, configs] : records_)
    if (const TuningRecord *record = winner(key))
      winners.add(*record);
  return winners;
}

void KernelTunings::add(const TuningRecord &record) {
  Configs &configs = records_[record.key];
  std::erase_if(configs, [&](const TuningRecord &other) {
    return is_of(other, record.ranking, record.caches) && other.identity != record.identity;
  });
  const auto place = std::lower_bound(configs.begin(), configs.end(), record, stands_before);
  if (place == configs.end() || stands_before(record, *place))
    configs.insert(place, record);
  else if (&kept_of(*place, record) == &record)
    *place = record;
}

void KernelTunings::drop_other_code(const TuningRecord &record, const std::string &code) {
  const auto configs = records_.find(record.key);
  if (configs == records_.end())
    return;
  std::erase_if(configs->second, [&](const TuningRecord &other) {
    return other.config == record.config && is_of(other, record.ranking, record.caches) && other.code != code;
  });
  if (configs->second.empty())
    records_.erase(configs);
}

Status KernelTunings::add(const KernelTunings &later) {
  if (later.kernel_ != kernel_ || later.device_ != device_)
    return user_error(fmt::format("records of kernel '{}' on '{}' do not go into the table of '{}' on '{}'",
                                  later.kernel_, later.device_, kernel_, device_),
                      "Each kernel has a table of its own on each device");
  for (const auto &[key, configs] : later.records_)
    for (const TuningRecord &record : configs)
      add(record);
  return {};
}

} // namespace nereid
