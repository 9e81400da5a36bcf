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
/// so does error() of a success. What value() and * give of a temporary is a value of its own; what -> leads
/// to lives no longer than the temporary.
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
  /// By value, so that `for (float x : buffer.to_host().value())` does not outlive what it goes through.
  T value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  const Error &error() const & {
    if (ok())
      detail::error_of_success();
    return *std::get_if<1>(&state_);
  }
  Error error() && { return std::as_const(*this).error(); }

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
  const Error &error() const & {
    if (ok())
      detail::error_of_success();
    return *error_;
  }
  Error error() && { return std::as_const(*this).error(); }

private:
  std::optional<Error> error_;
};

using Status = Result<void>;

} // namespace nereid

#define NEREID_JOIN_TOKENS(a, b) a##b
#define NEREID_TRY_INTO(result, declaration, ...)                                                            \
  auto result = (__VA_ARGS__);                                                                               \
  if (!result)                                                                                               \
    return std::move(result).error();                                                                        \
  declaration = *std::move(result)
#define NEREID_TRY_AT(number, ...) NEREID_TRY_INTO(NEREID_JOIN_TOKENS(nereid_result_, number), __VA_ARGS__)

/// NEREID_TRY(auto binary, compiler.compile(module)): declares `binary` with the value, or returns the error
/// from the function around it. Two statements: it wants braces under an `if`. A line may have several.
#define NEREID_TRY(...) NEREID_TRY_AT(__COUNTER__, __VA_ARGS__)

/// NEREID_CHECK(check(launch)): returns the error of a Status (or of a Result whose value is not wanted).
#define NEREID_CHECK(...)                                                                                    \
  do {                                                                                                       \
    if (auto nereid_status = (__VA_ARGS__); !nereid_status)                                                  \
      return std::move(nereid_status).error();                                                               \
  } while (false)
