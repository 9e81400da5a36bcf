// A compile in a process of its own, for those that may crash or take for ever.
#include "jit/isolated_compile.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "jit/compile/worker_processes.h"
#include "jit/worker_message.h"

namespace nereid::jit {
namespace {

constexpr const char *timeout_variable = "NEREID_COMPILE_TIMEOUT";
constexpr std::string_view only_key = "kernel";

static_assert(std::is_trivially_copyable_v<JitTimes>);

/// The worker's times, then its message.
std::string with_times(const JitTimes &times, const Result<Binary> &compiled) {
  std::string bytes(sizeof(times), '\0');
  std::memcpy(bytes.data(), &times, sizeof(times));
  if (!compiled)
    return bytes + worker_message(compiled.error());
  BinariesByKey binaries;
  binaries.emplace(only_key, *compiled);
  return bytes + worker_message(binaries);
}

std::optional<Result<Binary>> read(std::string_view bytes, JitTimes &times) {
  if (bytes.size() < sizeof(times))
    return std::nullopt;
  std::optional<Result<BinariesByKey>> outcome = read_worker_message(bytes.substr(sizeof(times)));
  if (!outcome || (*outcome && (*outcome)->size() != 1))
    return std::nullopt;
  std::memcpy(&times, bytes.data(), sizeof(times));
  if (!*outcome)
    return Result<Binary>(outcome->error());
  return Result<Binary>(std::move((*outcome)->begin()->second));
}

} // namespace

Result<std::optional<double>> compile_timeout() {
  const char *text = std::getenv(timeout_variable);
  if (!text || !*text)
    return std::optional<double>();
  char *end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end || !std::isfinite(seconds) || seconds <= 0)
    return user_error(fmt::format("{}='{}' is no positive number of seconds", timeout_variable, text),
                      "Set it to the seconds that one compile may take, or unset it");
  return std::optional(seconds);
}

Result<Binary> compile_isolated(const std::string &kernel, double seconds,
                                const std::function<Result<Binary>(JitTimes &)> &compile, JitTimes &times) {
  const WorkerJob job[] = {[&] {
    JitTimes own = times;
    const Result<Binary> compiled = compile(own);
    return with_times(own, compiled);
  }};
  const WorkerOutcome outcome = std::move(run_in_processes(job, {1, seconds}).front());
  if (outcome.not_started)
    return *outcome.not_started;
  if (outcome.late)
    return user_error(
        fmt::format("kernel '{}' compiles longer than the {} s of {}", kernel, seconds, timeout_variable),
        "Use smaller tiles or more waves, or allow it more seconds");
  if (std::optional<Result<Binary>> compiled = read(outcome.bytes, times))
    return *std::move(compiled);
  return nereid_error(fmt::format("the process in which kernel '{}' compiles ended with {}", kernel,
                                  text_of_status(outcome.status)),
                      "Please report the kernel; NEREID_DUMP_DIR writes what the compiler was given");
}

} // namespace nereid::jit
