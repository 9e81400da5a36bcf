#pragma once

#include "base/result.h"
#include "jit/tune/request.h"

namespace nereid::jit {

/// Errors (User): there is no candidate or no kernel's name, a text is not UTF-8, two candidates have the
/// same config.
Status check_request(const TuneRequest &request);

/// The mode of the options, else that of the device. Error (User): the device cannot have it, and the options
/// give no ranking of their own.
Result<TuneMode> mode_of(const TuneOptions &options, const Device &device);

} // namespace nereid::jit
