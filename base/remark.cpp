// The words of remarks.
#include "base/remark.h"

namespace nereid {

const char *remark_name(RemarkKind kind) {
  static constexpr const char *names[] = {
      "not pipelined", "fewer stages",  "not through LDS", "split over waves", "not split over waves",
      "narrow access", "mask branches", "LDS round trip",  "cache fences",     "overridden"};
  return names[static_cast<unsigned>(kind)];
}

std::string Remark::text() const {
  std::string result = where.known() ? where.text() + ": " : std::string();
  result += std::string(remark_name(kind)) + ": " + message;
  return remedy.empty() ? result : result + ". " + remedy;
}

} // namespace nereid
