// What every entry point does before and after its work: counts, failures that tests ask for, the last error.
#include "hip_sim/entry.h"

#include <array>
#include <cstdio>

#include "hip_sim/failures.h"
#include "hip_sim/log.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

constexpr const char *names[] = {
#define NEREID_HIP(name, ...) #name,
#define NEREID_HIP_TEXT(name, ...) #name,
#include "hip_sim/entry_points.def"
};

} // namespace

const char *entry_name(Entry entry) { return names[static_cast<size_t>(entry)]; }

hipError_t begin_call(Entry entry) { return Failures::all().count(entry); }

hipError_t end_call(Entry entry, hipError_t error) {
  // That work goes on is an answer, no error.
  if (error != hipSuccess && error != hipErrorNotReady)
    this_thread().last_error = error;
  const LogLevel wanted = runtime() ? (*runtime())->options.log : LogLevel::None;
  const LogLevel level =
      error == hipSuccess || error == hipErrorNotReady ? LogLevel::Calls : LogLevel::Errors;
  if (wanted >= level)
    log(wanted, level, std::string(entry_name(entry)) + ": " + hipGetErrorName(error));
  return error;
}

hipError_t no_runtime() {
  static const bool said = [] {
    std::fprintf(stderr, "nereid_hip: %s\n", runtime().error().text().c_str());
    return true;
  }();
  (void)said;
  return hipErrorNotInitialized;
}

} // namespace nereid::hip_sim
