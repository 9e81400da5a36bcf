// What all subcommands share: --json, --device.
#include "tools/command.h"

#include "jit/cache/disk_cache.h"
#include "jit/compile/compiler.h"
#include "jit/isolated_compile.h"
#include "jit/override.h"

namespace nereid::tools {

CLI::App *add_command(CLI::App &app, Invocation &invocation, const std::string &name,
                      const std::string &description, std::function<Outcome()> action) {
  CLI::App *command = app.add_subcommand(name, description);
  command->footer(""); // not that of the whole command, which subcommands inherit
  command->add_flag("--json", invocation.common.json, "Print one JSON object on stdout, also on failure");
  command->callback([&invocation, command, action = std::move(action)] {
    if (command->get_subcommands().empty())
      invocation.run = action;
  });
  return command;
}

void add_device_option(CLI::App &command, Invocation &invocation) {
  command
      .add_option("--device", invocation.common.device,
                  "sim: the simulator; hip: a gfx950 GPU; auto: a GPU if there is one, else the simulator")
      ->check(CLI::IsMember({"sim", "hip", "auto"}))
      ->capture_default_str();
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
