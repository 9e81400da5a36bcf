// What ends the process when a value or an error is asked for that is not there.
#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace nereid::detail {

void value_of_error(const Error &error) {
  std::fprintf(stderr, "nereid: value() of an error: %s\n", error.text().c_str());
  std::abort();
}

void error_of_success() {
  std::fputs("nereid: error() of a result that is none\n", stderr);
  std::abort();
}

} // namespace nereid::detail
