#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "jit/device/device.h"
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
CLI::App *add_command(CLI::App &app, Invocation &invocation, const std::string &name,
                      const std::string &description, std::function<Outcome()> action);
/// --device sim|hip|auto
void add_device_option(CLI::App &command, Invocation &invocation);

/// A device that kernels are compiled for and launched on. Error, before any work: it is not there, or the
/// environment asks for a compiler, cache or check that there is not.
Result<Device> ready_device(Result<Device> device);
/// The device of --device.
Result<Device> chosen_device(const CommonOptions &options);

// Each adds one subcommand; the options live as long as the invocation's action.
void add_demo(CLI::App &app, Invocation &invocation);
void add_sample(CLI::App &app, Invocation &invocation);
void add_quant(CLI::App &app, Invocation &invocation);
void add_gemm(CLI::App &app, Invocation &invocation);
void add_compile(CLI::App &app, Invocation &invocation);
void add_aot(CLI::App &app, Invocation &invocation);
void add_inspect(CLI::App &app, Invocation &invocation);
void add_layout(CLI::App &app, Invocation &invocation);
void add_tune(CLI::App &app, Invocation &invocation);
void add_tune_merge(CLI::App &tune, Invocation &invocation);
void add_tune_import(CLI::App &tune, Invocation &invocation);
void add_cache(CLI::App &app, Invocation &invocation);
void add_doctor(CLI::App &app, Invocation &invocation);
void add_sim(CLI::App &app, Invocation &invocation);

} // namespace nereid::tools
