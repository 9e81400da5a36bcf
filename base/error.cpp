// Errors as text.
#include "base/error.h"

namespace nereid {

const char *owner_name(Owner owner) {
  switch (owner) {
  case Owner::User:
    return "user";
  case Owner::Nereid:
    return "nereid";
  case Owner::Device:
    return "device";
  case Owner::Environment:
    return "environment";
  }
  return "unknown";
}

std::string SourceLine::text() const { return known() ? file + ":" + std::to_string(line) : std::string(); }

std::string Error::text() const {
  std::string out;
  if (where.known())
    out += where.text() + ": ";
  out += std::string(owner_name(owner)) + " error: " + message;
  if (!remedy.empty())
    out += ". " + remedy;
  return out;
}

} // namespace nereid
