#pragma once

#include "base/result.h"
#include "jit/tune/report.h"
#include "jit/tune/request.h"

namespace nereid {

/// Finds the best candidate. Compiles all, each in a process of its own; rejects what does not compile, by
/// its resources (scratch, a workgroup that does not fit, fewer waves than its waves_per_eu) and by the
/// request's accept; runs and validates each; ranks what is right, where measuring costs by successive
/// halving. The winner is winner_of() the records, which decides ties within 2 % by a fixed rule.
///
/// With a table, a config whose key, code and ranking are those of a stored record is neither run nor ranked
/// again, and each new record is stored as soon as it is known.
///
/// What a candidate does wrong, exceptions and crashes of its compile included, is a rejection in the report.
/// Errors: the request is incomplete or two candidates have the same config (User); the mode does not fit the
/// device (User); a table is damaged or cannot be written (Environment).
///
/// Compiles are forked from the calling thread: other threads of the process should neither compile nor
/// launch meanwhile (docs/tuning.md).
Result<TuneReport> tune(const TuneRequest &request, const Stream &stream, const TuneOptions &options = {});

} // namespace nereid
