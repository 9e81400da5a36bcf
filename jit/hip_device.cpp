#include "jit/device_interface.h"

namespace nereid::jit {

Result<std::shared_ptr<DeviceInterface>> make_hip_device(int) { return environment_error("no HIP"); }

} // namespace nereid::jit
