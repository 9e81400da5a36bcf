// Calls that fail because a test asked for it.
#include "hip_sim/failures.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace nereid::hip_sim {
namespace {

/// The text up to a separator, which is taken off with it.
std::string_view take(std::string_view &text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

bool read(std::string_view text, uint64_t &value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

} // namespace

Failures &Failures::all() {
  static Failures *one = [] {
    auto *made = new Failures; // never destroyed
    const char *asked = std::getenv("NEREID_HIP_FAIL");
    if (asked && !made->parse(asked))
      std::fprintf(stderr,
                   "nereid_hip: NEREID_HIP_FAIL is '%s'. It is CALL:n or CALL:n:code, separated by "
                   "commas\n",
                   asked);
    return made;
  }();
  return *one;
}

std::optional<Entry> Failures::entry_of(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(Entry::Count); ++i)
    if (name == entry_name(static_cast<Entry>(i)))
      return static_cast<Entry>(i);
  return std::nullopt;
}

hipError_t Failures::count(Entry entry) {
  Counter &counter = counters_[static_cast<size_t>(entry)];
  const uint64_t number = counter.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  return counter.failing.load(std::memory_order_relaxed) == number
             ? static_cast<hipError_t>(counter.error.load(std::memory_order_relaxed))
             : hipSuccess;
}

void Failures::fail(Entry entry, uint64_t n, hipError_t error) {
  Counter &counter = counters_[static_cast<size_t>(entry)];
  counter.error = error;
  counter.failing = n ? counter.calls + n : 0;
}

bool Failures::parse(std::string_view text) {
  while (!text.empty()) {
    std::string_view item = take(text, ',');
    const auto entry = entry_of(take(item, ':'));
    const std::string_view count = take(item, ':');
    uint64_t n = 0, error = hipErrorUnknown;
    if (!entry || !read(count, n) || n == 0 || (!item.empty() && !read(item, error)))
      return false;
    fail(*entry, n, static_cast<hipError_t>(error));
  }
  return true;
}

} // namespace nereid::hip_sim
