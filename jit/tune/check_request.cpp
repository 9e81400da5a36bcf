// What is wrong with a request before anything is compiled.
#include "jit/tune/check_request.h"

#include <set>

#include <fmt/format.h>

#include "llvm/Support/JSON.h"

namespace nereid::jit {
namespace {

Status check_text(const std::string &what, const std::string &text) {
  if (llvm::json::isUTF8(text))
    return {};
  return user_error(fmt::format("the {} of a tuning is not UTF-8: '{}'", what, llvm::json::fixUTF8(text)),
                    "Tables are text; tuning_key() escapes what is not");
}

} // namespace

Status check_request(const TuneRequest &request) {
  NEREID_CHECK(check_text("kernel", request.kernel));
  NEREID_CHECK(check_text("key", request.key));
  if (request.kernel.empty())
    return user_error("a tuning without a kernel's name", "Its table is named by it");
  if (request.candidates.empty())
    return user_error("there is no candidate to tune '" + request.kernel + "' with");
  std::set<std::string> configs;
  for (const TuneCandidate &candidate : request.candidates) {
    NEREID_CHECK(check_text("config", candidate.config));
    if (!configs.insert(candidate.config).second)
      return user_error(
          fmt::format("two candidates of '{}' have the config '{}'", request.kernel, candidate.config),
          "A table has one figure for a config: tell them apart in its text");
  }
  return {};
}

Result<TuneMode> mode_of(const TuneOptions &options, const Device &device) {
  const bool gpu = device.kind() == DeviceKind::Hip;
  const TuneMode mode = options.mode.value_or(gpu ? TuneMode::Measure : TuneMode::Model);
  if (options.ranking || mode == TuneMode::Off)
    return mode;
  if (mode == TuneMode::Measure && !gpu)
    return user_error("mode measure needs a GPU, and the stream is of a simulator",
                      "Use mode model, or a stream of Device::hip()");
  if (mode == TuneMode::Model && gpu)
    return user_error("mode model needs a simulator, and the stream is of a GPU",
                      "Use mode measure, or a stream of Device::simulator()");
  return mode;
}

} // namespace nereid::jit
