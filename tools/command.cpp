// What all subcommands share: --json, --device.
#include "tools/command.h"

#include "jit/cache/disk_cache.h"
#include "jit/compile/compiler.h"
#include "jit/isolated_compile.h"
#include "jit/override.h"

namespace nereid::tools {

Subcommand add_command(Subcommand app, Invocation &invocation, const std::string &name,
                       const std::string &description, std::function<Outcome()> action) {
  return app.command(name, description, invocation.common.json,
                     [&invocation, action = std::move(action)] { invocation.run = action; });
}

void add_device_option(Subcommand command, Invocation &invocation) {
  command
      .option("--device", invocation.common.device,
              "sim: the simulator; hip: a gfx950 GPU; auto: a GPU if there is one, else the simulator")
      .one_of({"sim", "hip", "auto"})
      .shows_default();
}

Result<Device> ready_device(Result<Device> device) {
  NEREID_CHECK(device);
  NEREID_CHECK(jit::chosen_compiler());
  NEREID_CHECK(jit::DiskCache::from_environment());
  NEREID_CHECK(jit::compile_timeout());
  NEREID_CHECK(jit::check_override_directory());
  NEREID_CHECK(device->check());
  return device;
}

Result<Device> chosen_device(const CommonOptions &options) {
  return ready_device(Device::named(options.device));
}

} // namespace nereid::tools
