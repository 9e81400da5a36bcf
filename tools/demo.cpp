// nereid demo: the ten shapes of mxfp4_linear, checked, and on a GPU the probes of the chip.
#include <fmt/format.h>

#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

#include "tools/command.h"
#include "tools/demo_shapes.h"
#include "tools/launch_json.h"
#include "tools/probes.h"
#include "tools/product.h"

namespace nereid::tools {
namespace {

constexpr const char *demo_footer =
    R"(Runs mxfp4_linear on ten shapes with seeded data: the path it takes, the time to compile, the
instructions executed (on the simulator), the largest error against the exact product of the quantised operands, its bound, and
whether every element is within 1e-2 + 1e-2 |exact|. Outputs are filled with NaN before. On a GPU a list of probes
of the chip's behaviour follows.

Examples:
  nereid demo
  nereid demo --json > demo.json
  nereid demo --only benchmark)";

struct DemoOptions {
  std::string only = "all";
};

/// What one shape gave.
struct ShapeResult {
  kernels::LinearReport report;
  kernels::host::Comparison comparison;
};

Result<ShapeResult> run_shape(const Device &device, kernels::Mxfp4Linear &linear, const DemoShape &shape) {
  const auto [m, n, k] = shape.size;
  const kernels::host::Problem problem = kernels::host::random_problem(m, n, k, shape.seed);
  NEREID_TRY(Product product, run_product(device, linear, problem));
  return ShapeResult{std::move(product.report), kernels::host::compare(product.c, problem.exact)};
}

double jit_total(const kernels::LinearReport &report) {
  double total = 0;
  for (const kernels::LaunchRecord &record : report.launches)
    total += record.info.jit.total();
  return total;
}

std::optional<uint64_t> instructions_total(const kernels::LinearReport &report) {
  uint64_t total = 0;
  for (const kernels::LaunchRecord &record : report.launches) {
    if (!record.info.instructions)
      return std::nullopt;
    total += record.info.instructions->total;
  }
  return total;
}

/// The config of the launch that multiplies.
std::string gemm_config_text(const kernels::LinearReport &report) {
  const auto &[tile, split_k, reduce] = report.gemm;
  return fmt::format("{}x{}x{} split {} waves {} stages {}", tile.block_m, tile.block_n, tile.block_k,
                     split_k, tile.waves, tile.stages);
}

void show_progress(size_t index, size_t count, const DemoShape &shape) {
  const bool terminal = llvm::sys::Process::StandardErrIsDisplayed();
  llvm::errs() << fmt::format("{}[{}/{}] {} {}{}", terminal ? "\r\033[K" : "", index + 1, count, shape.kind,
                              shape.size.text(), terminal ? "" : "\n");
}

void clear_progress() {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\033[K";
}

void add_failure(Outcome &outcome, llvm::json::Object &object, const DemoShape &shape, const Error &error) {
  object["error"] = to_json(error);
  outcome.text += fmt::format("{:<9} {:<14} FAILED {}\n", shape.kind, shape.size.text(), error.text());
}

void add_figures(Outcome &outcome, llvm::json::Object &object, const DemoShape &shape,
                 const ShapeResult &result) {
  const std::string path(name_of(result.report.path));
  const double jit_ms = jit_total(result.report);
  const std::optional<uint64_t> instructions = instructions_total(result.report);
  object["path"] = path;
  object["max_error"] = max_error_json(result.comparison);
  object["max_error_bound"] = result.comparison.bound_of_max_error;
  object["wrong"] = result.comparison.wrong;
  object["jit_ms"] = jit_ms;
  if (instructions)
    object["instructions"] = static_cast<int64_t>(*instructions);
  object["launches"] = launches_json(result.report.launches);
  outcome.text += fmt::format("{:<9} {:<14} {:<9} {:<38} {:>8.1f} {:>14} {:>10.4g} {:>10.4g} {}\n",
                              shape.kind, shape.size.text(), path, gemm_config_text(result.report), jit_ms,
                              instructions ? std::to_string(*instructions) : std::string("-"),
                              result.comparison.max_error, result.comparison.bound_of_max_error,
                              result.comparison.passed() ? "pass" : "FAIL");
}

/// Adds a shape's line and object; false when it failed.
bool add_result(Outcome &outcome, llvm::json::Array &shapes, const DemoShape &shape,
                const Result<ShapeResult> &result) {
  const bool passed = result && result->comparison.passed();
  llvm::json::Object object{{"kind", llvm::StringRef(shape.kind).str()},
                            {"m", shape.size.m},
                            {"n", shape.size.n},
                            {"k", shape.size.k},
                            {"passed", passed}};
  if (result)
    add_figures(outcome, object, shape, *result);
  else
    add_failure(outcome, object, shape, result.error());
  shapes.push_back(std::move(object));
  return passed;
}

bool add_probes(Outcome &outcome, const Device &device) {
  llvm::json::Array probes;
  bool all = true;
  outcome.text += "\nprobes of the chip\n";
  for (const ProbeResult &probe : run_probes(device)) {
    all = all && probe.passed;
    outcome.text += fmt::format("  {:<14} {} {}\n", probe.name, probe.passed ? "pass" : "FAIL", probe.detail);
    probes.push_back(
        llvm::json::Object{{"name", probe.name}, {"passed", probe.passed}, {"detail", probe.detail}});
  }
  outcome.json["probes"] = std::move(probes);
  return all;
}

Outcome run(const CommonOptions &common, const DemoOptions &options) {
  NEREID_TRY(const Device device, chosen_device(common));
  std::vector<DemoShape> shapes;
  for (const DemoShape &shape : demo_shapes)
    if (options.only == "all" || options.only == shape.kind)
      shapes.push_back(shape);

  Outcome outcome;
  outcome.text =
      fmt::format("mxfp4_linear on {}\n{:<9} {:<14} {:<9} {:<38} {:>8} {:>14} {:>10} {:>10}\n", device.name(),
                  "kind", "shape", "path", "config", "jit ms", "instructions", "max error", "bound");
  llvm::json::Array results;
  size_t failures = 0, environment = 0;
  kernels::Mxfp4Linear linear(device);
  for (size_t i = 0; i < shapes.size(); ++i) {
    show_progress(i, shapes.size(), shapes[i]);
    const Result<ShapeResult> result = run_shape(device, linear, shapes[i]);
    environment += !result && result.error().owner == Owner::Environment ? 1 : 0;
    failures += add_result(outcome, results, shapes[i], result) ? 0 : 1;
  }
  clear_progress();
  const bool probes_passed = device.kind() != DeviceKind::Hip || add_probes(outcome, device);
  const bool passed = failures == 0 && probes_passed;
  outcome.json["device"] = llvm::StringRef(device.kind_name()).str();
  outcome.json["shapes"] = std::move(results);
  outcome.json["passed"] = passed;
  outcome.text += fmt::format("{} of {} shapes passed\n", shapes.size() - failures, shapes.size());
  if (!passed)
    outcome.code = probes_passed && environment == failures ? ExitCode::Environment : ExitCode::Wrong;
  return outcome;
}

} // namespace

void add_demo(Subcommand app, Invocation &invocation) {
  auto options = std::make_shared<DemoOptions>();
  Subcommand command = add_command(app, invocation, "demo", "Run and check mxfp4_linear on ten shapes",
                                   [&invocation, options] { return run(invocation.common, *options); });
  command.footer(demo_footer);
  add_device_option(command, invocation);
  command.option("--only", options->only, "all, test or benchmark")
      .one_of({"all", "test", "benchmark"})
      .shows_default();
}

} // namespace nereid::tools
