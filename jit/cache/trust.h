#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::jit {

/// Why code from a file or directory is not run by `user`: "it belongs to user 1000", "everybody may write to
/// it". Nothing where its owner is the user or root and others may not write, nor to a file its group.
std::optional<std::string> distrust(const struct stat &status, uid_t user = geteuid());

} // namespace nereid::jit
