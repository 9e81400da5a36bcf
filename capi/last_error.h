#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <nereid/c_api.h>

#include "base/result.h"

namespace nereid::capi {

/// The status of an error's owner.
nereid_status status_of(Owner owner);

// Each keeps what nereid_last_error says on this thread and returns the status. They allocate nothing.
nereid_status fail(Error error) noexcept;
nereid_status fail_without_memory() noexcept;
nereid_status fail_with_unknown_exception() noexcept;

/// Error (User) naming an argument that is null.
inline Status not_null(const void *pointer, std::string_view name) {
  if (pointer)
    return {};
  return user_error("the argument '" + std::string(name) + "' is NULL");
}

/// Runs what a function of the C API does: `body` returns a Status. Errors and exceptions become the status.
template <class Body> nereid_status guarded(const Body &body) noexcept {
  try {
    if (Status done = body(); !done)
      return fail(std::move(done).error());
    return NEREID_OK;
  } catch (const std::bad_alloc &) {
    return fail_without_memory();
  } catch (const std::exception &exception) {
    try {
      return fail(nereid_error(exception.what(), "Please report this"));
    } catch (...) {
      return fail_without_memory();
    }
  } catch (...) {
    return fail_with_unknown_exception();
  }
}

} // namespace nereid::capi
