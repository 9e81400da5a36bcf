// What tests ask the library.
#include "hip_sim/test_api.h"

#include <algorithm>
#include <string_view>

#include "hip_sim/failures.h"

using namespace nereid::hip_sim;

#define NEREID_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <class Type> int64_t count_allocations(const Runtime &hip, Type matches) {
  return std::count_if(hip.allocations.begin(), hip.allocations.end(),
                       [&](const auto &entry) { return matches(entry.second); });
}

bool on_device(const Allocation &allocation) { return allocation.type == hipMemoryTypeDevice; }

struct Kind {
  const char *name;
  int64_t (*count)(const Runtime &);
};

constexpr Kind kinds[] = {
    {"memory", [](const Runtime &hip) { return count_allocations(hip, on_device); }},
    {"host memory",
     [](const Runtime &hip) { return count_allocations(hip, [](auto &a) { return !on_device(a); }); }},
    {"bytes",
     [](const Runtime &hip) {
       int64_t bytes = 0;
       for (const auto &device : hip.devices)
         bytes += static_cast<int64_t>(device->used);
       return bytes;
     }},
    {"streams", [](const Runtime &hip) { return static_cast<int64_t>(hip.streams.size()); }},
    {"events", [](const Runtime &hip) { return static_cast<int64_t>(hip.events.size()); }},
    {"modules", [](const Runtime &hip) { return static_cast<int64_t>(hip.modules.size()); }},
    {"graphs", [](const Runtime &hip) { return static_cast<int64_t>(hip.graphs.size()); }},
    {"graph execs", [](const Runtime &hip) { return static_cast<int64_t>(hip.execs.size()); }},
    {"pools", [](const Runtime &hip) { return static_cast<int64_t>(hip.pools.size() - hip.devices.size()); }},
};

} // namespace

NEREID_HIP_EXPORT int nereid_hip_fail(const char *entry, uint64_t n, int error) {
  const auto found = Failures::entry_of(entry);
  if (found)
    Failures::all().fail(*found, n, static_cast<hipError_t>(error));
  return found ? 0 : 1;
}

NEREID_HIP_EXPORT uint64_t nereid_hip_calls(const char *entry) {
  const auto found = Failures::entry_of(entry);
  return found ? Failures::all().calls(*found) : 0;
}

NEREID_HIP_EXPORT const char *nereid_hip_entry(unsigned number) {
  return number < static_cast<unsigned>(Entry::Count) ? entry_name(static_cast<Entry>(number)) : nullptr;
}

NEREID_HIP_EXPORT int64_t nereid_hip_living(const char *kind) {
  if (!runtime())
    return -1;
  Runtime &hip = **runtime();
  Lock lock(hip.mutex);
  for (const Kind &known : kinds)
    if (std::string_view(known.name) == kind)
      return known.count(hip);
  return -1;
}

NEREID_HIP_EXPORT void nereid_hip_run_launches(int run) {
  if (!runtime())
    return;
  Runtime &hip = **runtime();
  Lock lock(hip.mutex);
  hip.launches = run != 0;
}

NEREID_HIP_EXPORT const char *nereid_hip_fault(void) {
  if (!runtime())
    return "";
  Runtime &hip = **runtime();
  Lock lock(hip.mutex);
  return hip.fault_text.c_str();
}
