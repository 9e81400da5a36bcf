#include "jit/compiler.h"

namespace nereid::jit {

Result<const Compiler *> comgr_compiler() { return environment_error("comgr is not built in"); }

} // namespace nereid::jit
