// What failed, and in which words.
#include <utility>

#include "hip_sim/entry.h"
#include "hip_sim/failures.h"
#include "hip_sim/thread.h"

namespace nereid::hip_sim {
namespace {

struct ErrorText {
  hipError_t error;
  const char *name, *text;
};

constexpr ErrorText texts[] = {
#define NEREID_HIP_ERROR(name, value, text) {name, #name, text},
#include "hip_sim/errors.def"
};

/// Null when HIP has no error of that number.
const ErrorText *text_of(hipError_t error) {
  for (const ErrorText &text : texts)
    if (text.error == error)
      return &text;
  return nullptr;
}

hipError_t text_into(const char **to, const char *ErrorText::*member, hipError_t error) {
  if (!to)
    return hipErrorInvalidValue;
  const ErrorText *text = text_of(error);
  *to = text ? text->*member : nullptr;
  return text ? hipSuccess : hipErrorInvalidValue;
}

/// The last error; these calls leave it alone unless they give it back.
hipError_t last(Entry entry, bool forget) {
  (void)Failures::all().count(entry);
  return forget ? std::exchange(this_thread().last_error, hipSuccess) : this_thread().last_error;
}

} // namespace

hipError_t hipGetLastError() { return last(Entry::hipGetLastError, true); }
hipError_t hipExtGetLastError() { return last(Entry::hipExtGetLastError, true); }
hipError_t hipPeekAtLastError() { return last(Entry::hipPeekAtLastError, false); }

const char *hipGetErrorName(hipError_t error) {
  const ErrorText *text = text_of(error);
  return text ? text->name : "hipErrorUnknown";
}
const char *hipGetErrorString(hipError_t error) {
  const ErrorText *text = text_of(error);
  return text ? text->text : "unknown error";
}
hipError_t hipDrvGetErrorName(hipError_t error, const char **text) {
  return text_into(text, &ErrorText::name, error);
}
hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  return text_into(text, &ErrorText::text, error);
}

} // namespace nereid::hip_sim
