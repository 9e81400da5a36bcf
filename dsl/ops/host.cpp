// What operations do on the host alone: the IR's words for their options, checks of the config, errors of
// cdiv.
#include "dsl/ops/cdiv.h"
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

void cdiv_by_zero(std::source_location where) {
  throw TraceError(
      user_error("cdiv: the divisor is 0", "Check it before the division", SourceLine::from(where)));
}

void cdiv_does_not_fit(std::source_location where) {
  throw TraceError(user_error("cdiv: the type of a / b does not hold the quotient",
                              "Convert the operands to a signed or wider type", SourceLine::from(where)));
}

} // namespace detail

void static_check(bool condition, const std::string &message, Where where) {
  if (!condition)
    detail::at(where).fail("static_check: " + message, "Choose a config that fulfils it");
}

} // namespace nereid
