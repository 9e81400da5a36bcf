#pragma once

#include <string>

#include "dsl/ops/common.h"

/// Promises, checks and prints.
namespace nereid {

using detail::Where;

/// The author promises that the scalar condition holds; a promise that is broken has no meaning.
inline void assume(const detail::Operand<i1> &condition,
                   const detail::Effect &effect = detail::Effect(Where::current())) {
  effect.emit().assume(condition.id());
}

/// A condition on the config, checked while tracing.
void static_check(bool condition, const std::string &message, Where where = Where::current());

/// Stops the program with the message where the condition does not hold everywhere.
inline void device_assert(const detail::Operand<i1> &condition, const std::string &message,
                          const detail::Effect &effect = detail::Effect(Where::current())) {
  effect.emit().device_assert(condition.id(), message);
}

namespace detail {
/// The text of a print; also its effect, so that it lives as long as the full-expression.
class PrintText : public Effect {
public:
  PrintText(const char *text, Where where = Where::current()) : Effect(where), text_(text) {}
  PrintText(std::string text, Where where = Where::current()) : Effect(where), text_(std::move(text)) {}
  const std::string &text() const { return text_; }

private:
  std::string text_;
};
} // namespace detail

/// Prints the message and the values, once a program; compiled code may ignore it.
template <class... X>
  requires((detail::TileLike<X> || detail::PtrLike<X> || detail::Number<X>) && ...)
void device_print(const detail::PrintText &message, const X &...x) {
  const std::vector<ir::ValueId> values{detail::argument_id(x, message.where())...};
  message.emit().device_print(message.text(), values);
}

} // namespace nereid
