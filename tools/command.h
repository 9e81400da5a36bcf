#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "jit/device/device.h"
#include "tools/options.h"
#include "tools/outcome.h"

namespace nereid::tools {

/// Options that every subcommand has.
struct CommonOptions {
  bool json = false;
  std::string device = "auto";
};

/// What the command line asked for.
struct Invocation {
  CommonOptions common;
  std::function<Outcome()> run;
};

/// A subcommand with --json; its action becomes the invocation's when it is on the command line without a
/// subcommand of its own.
Subcommand add_command(Subcommand app, Invocation &invocation, const std::string &name,
                       const std::string &description, std::function<Outcome()> action);
/// --device sim|hip|auto
void add_device_option(Subcommand command, Invocation &invocation);

/// A device that kernels are compiled for and launched on. Error, before any work: it is not there, or the
/// environment asks for a compiler, cache or check that there is not.
Result<Device> ready_device(Result<Device> device);
/// The device of --device.
Result<Device> chosen_device(const CommonOptions &options);

// Each adds one subcommand; the options live as long as the invocation's action.
void add_demo(Subcommand app, Invocation &invocation);
void add_sample(Subcommand app, Invocation &invocation);
void add_quant(Subcommand app, Invocation &invocation);
void add_gemm(Subcommand app, Invocation &invocation);
void add_compile(Subcommand app, Invocation &invocation);
void add_aot(Subcommand app, Invocation &invocation);
void add_inspect(Subcommand app, Invocation &invocation);
void add_layout(Subcommand app, Invocation &invocation);
void add_tune(Subcommand app, Invocation &invocation);
void add_tune_merge(Subcommand tune, Invocation &invocation);
void add_tune_import(Subcommand tune, Invocation &invocation);
void add_cache(Subcommand app, Invocation &invocation);
void add_doctor(Subcommand app, Invocation &invocation);
void add_sim(Subcommand app, Invocation &invocation);

} // namespace nereid::tools
