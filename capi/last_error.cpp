// What the last failed call of a thread said, and the versions.
#include "capi/last_error.h"

#include <string>

#include "capi/version.h"

namespace nereid::capi {
namespace {

struct LastError {
  Error error;
  std::string where;
  nereid_error_info view{NEREID_OK, "", "", ""};
};

LastError &last_error() {
  static thread_local LastError last;
  return last;
}

} // namespace

nereid_status status_of(Owner owner) {
  switch (owner) {
  case Owner::User:
    return NEREID_USER_ERROR;
  case Owner::Nereid:
    return NEREID_NEREID_ERROR;
  case Owner::Device:
    return NEREID_DEVICE_ERROR;
  case Owner::Environment:
    break;
  }
  return NEREID_ENVIRONMENT_ERROR;
}

nereid_status fail(Error error) noexcept {
  LastError &last = last_error();
  last.error = std::move(error);
  try {
    last.where = last.error.where.text();
  } catch (...) {
    last.where.clear();
  }
  last.view = {status_of(last.error.owner), last.error.message.c_str(), last.error.remedy.c_str(),
               last.where.c_str()};
  return last.view.owner;
}

nereid_status fail_without_memory() noexcept {
  last_error().view = {NEREID_ENVIRONMENT_ERROR, "the host has not enough memory", "Use a smaller shape", ""};
  return NEREID_ENVIRONMENT_ERROR;
}

nereid_status fail_with_unknown_exception() noexcept {
  last_error().view = {NEREID_NEREID_ERROR, "an exception of unknown type", "Please report this", ""};
  return NEREID_NEREID_ERROR;
}

} // namespace nereid::capi

using namespace nereid;

extern "C" {

uint32_t nereid_c_api_version(void) { return NEREID_C_API_VERSION; }
const char *nereid_version(void) { return capi::version; }

const nereid_error_info *nereid_last_error(void) { return &capi::last_error().view; }

const char *nereid_owner_name(nereid_status owner) {
  for (const Owner known : {Owner::User, Owner::Nereid, Owner::Device, Owner::Environment})
    if (capi::status_of(known) == owner)
      return owner_name(known);
  return "";
}
}
