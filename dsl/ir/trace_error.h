#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/error.h"

namespace nereid {

/// What operations throw while a kernel is traced; trace() turns it into a value.
class TraceError : public std::exception {
public:
  explicit TraceError(Error error) : error_(std::move(error)), text_(error_.text()) {}
  const Error &error() const { return error_; }
  const char *what() const noexcept override { return text_.c_str(); }

private:
  Error error_;
  std::string text_;
};

} // namespace nereid
