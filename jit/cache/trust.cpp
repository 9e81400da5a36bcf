// Whose files and directories may give code to this process.
#include "jit/cache/trust.h"

#include <fmt/format.h>

namespace nereid::jit {

std::optional<std::string> distrust(const struct stat &status, uid_t user) {
  constexpr uid_t root = 0;
  if (status.st_uid != user && status.st_uid != root)
    return fmt::format("it belongs to user {}", status.st_uid);
  if (status.st_mode & S_IWOTH)
    return "everybody may write to it";
  if (S_ISREG(status.st_mode) && (status.st_mode & S_IWGRP))
    return "its group may write to it";
  return std::nullopt;
}

} // namespace nereid::jit
