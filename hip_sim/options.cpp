// Reads the environment.
#include "hip_sim/options.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace nereid::hip_sim {
namespace {

/// A variable that is set to something.
std::optional<std::string_view> variable(const char *name) {
  const char *value = std::getenv(name);
  if (!value || !*value)
    return std::nullopt;
  return value;
}

Error bad(const char *name, const char *expected) {
  return user_error(fmt::format("{} is '{}'", name, *variable(name)), fmt::format("It is {}", expected));
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

Status read_number(const char *name, uint64_t least, uint64_t most, const char *expected, uint64_t &to) {
  const auto text = variable(name);
  if (!text)
    return {};
  const auto value = number(*text);
  if (!value || *value < least || *value > most)
    return bad(name, expected);
  to = *value;
  return {};
}

/// A number of bytes with an optional K, M, G or T (powers of 1024).
Status read_size(const char *name, uint64_t &to) {
  const auto text = variable(name);
  if (!text)
    return {};
  constexpr std::string_view suffixes = "KMGT";
  std::string_view digits = *text;
  unsigned shift = 0;
  if (const size_t found = suffixes.find(digits.back()); found != std::string_view::npos) {
    shift = 10 * static_cast<unsigned>(found + 1);
    digits.remove_suffix(1);
  }
  const auto value = number(digits);
  if (!value || *value == 0 || *value > (std::numeric_limits<uint64_t>::max() >> shift) ||
      (*value << shift) > (uint64_t{1} << 46))
    return bad(name, "a number of bytes up to 64T, with K, M, G or T");
  to = *value << shift;
  return {};
}

template <class T, size_t n>
Status read_word(const char *name, const std::pair<const char *, T> (&words)[n], const char *expected,
                 T &to) {
  const auto text = variable(name);
  if (!text)
    return {};
  for (const auto &[word, value] : words)
    if (*text == word) {
      to = value;
      return {};
    }
  return bad(name, expected);
}

constexpr std::pair<const char *, bool> switch_words[] = {
    {"1", true}, {"on", true}, {"0", false}, {"off", false}};

} // namespace

Result<Options> Options::from_environment() {
  Options options;
  uint64_t devices = 1;
  NEREID_CHECK(read_number("NEREID_HIP_DEVICES", 0, 16, "a number of devices, 0 to 16", devices));
  options.devices = static_cast<int>(devices);
  NEREID_CHECK(read_size("NEREID_HIP_MEMORY", options.memory));
  NEREID_CHECK(read_number("NEREID_SIM_BUDGET", 1, std::numeric_limits<uint64_t>::max(),
                           "a number of wave instructions, at least 1", options.instruction_budget));
  if (const auto checks = variable("NEREID_SIM_CHECKS")) {
    NEREID_TRY(options.checks, sim::Checks::parse(*checks));
  }
  NEREID_CHECK(read_word<LogLevel>("NEREID_HIP_LOG",
                                   {{"none", LogLevel::None},
                                    {"faults", LogLevel::Faults},
                                    {"errors", LogLevel::Errors},
                                    {"calls", LogLevel::Calls}},
                                   "none, faults, errors or calls", options.log));
  NEREID_CHECK(read_word("NEREID_HIP_TIMING", switch_words, "on or off", options.timing));
  NEREID_CHECK(read_word<bool>("NEREID_HIP_LAUNCH", {{"run", true}, {"none", false}}, "run or none",
                               options.launches));
  NEREID_CHECK(read_word("HIP_LAUNCH_BLOCKING", switch_words, "1 or 0", options.eager));
  return options;
}

} // namespace nereid::hip_sim
