#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "jit/tune/request.h"

namespace nereid::jit {

/// Sets device memory before runs as a request wants it.
class MemoryHooks {
public:
  /// Saves what is to be restored. Errors (User): a candidate writes memory whose size is not known and that
  /// no list of the request has; nothing says what the candidates write; a range is of another device.
  static Result<MemoryHooks> make(const TuneRequest &request, const Stream &stream);

  /// Before every run: zeroes, restores, calls prepare.
  Status before_run() const;
  /// Before a run that is validated: poisons what the candidate writes, then the same.
  Status before_checked_run(const TuneCandidate &candidate) const;

private:
  MemoryHooks(const TuneRequest &request, const Stream &stream) : request_(&request), stream_(stream) {}
  Status save();
  bool is_listed(const MemoryRange &range) const;
  Status poison(const std::vector<MemoryRange> &ranges) const;

  const TuneRequest *request_;
  Stream stream_;
  std::vector<std::vector<std::byte>> saved_; ///< of request.restore, in order
};

} // namespace nereid::jit
