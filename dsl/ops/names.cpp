#include "dsl/ops/memory.h"
#include "dsl/ops/statement.h"

namespace nereid {

namespace detail {

std::string name_of(Cache cache) {
  static constexpr const char *names[] = {"", "stream", "global"};
  return names[static_cast<size_t>(cache)];
}

std::string name_of(Order order) {
  static constexpr const char *names[] = {"relaxed", "acquire", "release", "acq_rel"};
  return names[static_cast<size_t>(order)];
}

std::string name_of(Scope scope) { return scope == Scope::Workgroup ? "workgroup" : "device"; }

} // namespace detail

void static_check(bool condition, const std::string &message, Where where) {
  if (!condition)
    detail::at(where).fail("static_check: " + message, "Choose a config that fulfils it");
}

} // namespace nereid
