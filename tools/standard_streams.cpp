// Descriptors 0 to 2 are never free.
#include "tools/standard_streams.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace nereid::tools {

void reserve_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      // The lowest free number is this one. Open the wrong way round: reading and writing fail.
      (void)!open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

} // namespace nereid::tools
