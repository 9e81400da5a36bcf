// Keeps a test program away from the user's cache.
#include <cstdlib>

namespace {

/// Tests neither read nor fill the user's own cache.
const int cache_is_off = setenv("NEREID_CACHE_DIR", "off", /*overwrite=*/1);

} // namespace
