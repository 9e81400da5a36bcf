#pragma once

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace nereid::jit {

/// Calls a function that a user gave; one that is not there, or that throws, is an error (User). `what` names
/// it: "the candidate's run".
template <class Function, class... A>
auto guarded_call(const std::string &what, const Function &function, A &&...arguments)
    -> std::invoke_result_t<const Function &, A...> {
  if (!function)
    return user_error(what + " is a null function", "Give it a function");
  try {
    return function(std::forward<A>(arguments)...);
  } catch (const std::exception &thrown) {
    return user_error(what + " threw: " + thrown.what(), "Return an error in place of an exception");
  } catch (...) {
    return user_error(what + " threw something that is no std::exception",
                      "Return an error in place of an exception");
  }
}

} // namespace nereid::jit
