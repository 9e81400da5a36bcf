#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "jit/cache/precompiled.h"

namespace nereid::jit {

/// What a compile gave, as the bytes that its process sends.
std::string worker_message(const Result<BinariesByKey> &outcome);
/// The inverse; nothing when the message is not complete.
std::optional<Result<BinariesByKey>> read_worker_message(std::string_view bytes);

} // namespace nereid::jit
