#pragma once

#include <source_location>
#include <string>
#include <utility>

namespace nereid {

/// Whose fault an error is: it decides who has to act on the remedy.
enum class Owner {
  User,        ///< the caller or the author of a kernel
  Nereid,      ///< a defect or a missing part of Nereid
  Device,      ///< a fault while a kernel ran
  Environment, ///< the machine: files, libraries, memory
};

/// The lower-case word for an owner: "user", "nereid", "device", "environment".
const char *owner_name(Owner owner);

/// A location in a source file; line 0 means that none is known.
struct SourceLine {
  std::string file;
  unsigned line = 0;

  static SourceLine from(const std::source_location &where) { return {where.file_name(), where.line()}; }
  bool known() const { return line != 0; }
  /// "file:line", or an empty string when none is known.
  std::string text() const;
  bool operator==(const SourceLine &) const = default;
};

/// An error is a value: what is wrong, whose fault it is, where, and what to do about it.
struct Error {
  Owner owner = Owner::Nereid;
  std::string message;
  std::string remedy;
  SourceLine where;

  /// One paragraph for people: "file:line: user error: message. remedy".
  std::string text() const;
};

inline Error user_error(std::string message, std::string remedy = {}, SourceLine where = {}) {
  return {Owner::User, std::move(message), std::move(remedy), std::move(where)};
}
inline Error nereid_error(std::string message, std::string remedy = {}, SourceLine where = {}) {
  return {Owner::Nereid, std::move(message), std::move(remedy), std::move(where)};
}
inline Error device_error(std::string message, std::string remedy = {}, SourceLine where = {}) {
  return {Owner::Device, std::move(message), std::move(remedy), std::move(where)};
}
inline Error environment_error(std::string message, std::string remedy = {}, SourceLine where = {}) {
  return {Owner::Environment, std::move(message), std::move(remedy), std::move(where)};
}

} // namespace nereid
