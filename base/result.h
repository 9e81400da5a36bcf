#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace nereid {

namespace detail {
/// Prints the error's text and ends the process.
[[noreturn]] void value_of_error(const Error &error);
/// Says that there is no error to look at and ends the process.
[[noreturn]] void error_of_success();
} // namespace detail

/// A value or the error that prevented it. value(), * and -> of an error print its text to stderr and abort;
/// so does error() of a success.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  const T &value() const & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T &&value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  const Error &error() const {
    if (ok())
      detail::error_of_success();
    return *std::get_if<1>(&state_);
  }

private:
  void require_value() const {
    if (const Error *error = std::get_if<1>(&state_))
      detail::value_of_error(*error);
  }

  std::variant<T, Error> state_;
};

/// Success, or the error that prevented it. value() of an error prints its text to stderr and aborts.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (error_)
      detail::value_of_error(*error_);
  }
  const Error &error() const {
    if (ok())
      detail::error_of_success();
    return *error_;
  }

private:
  std::optional<Error> error_;
};

using Status = Result<void>;

} // namespace nereid
