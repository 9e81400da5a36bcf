#include <fmt/format.h>

#include "jit/tune/tuner.h"
#include "kernels/catalog.h"
#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"
#include "tools/command.h"
#include "tools/size_options.h"

namespace nereid::tools {
namespace {

constexpr const char *footer =
    R"(Compiles and runs the listed configs of a path on seeded data, rejects those that are wrong or do not fit,
and ranks the rest: by device time on a GPU, else by an estimate (rounds of workgroups over 256 compute units times the
instructions of the longest wave). With --store the report goes to a file of that directory too.

Examples:
  nereid tune mxfp4_gemm_fused --shape 16,2112,7168
  nereid tune --shape 4,2880,512 --path fused --store tuning --json)";

struct TuneOptions {
  std::string kernel = "mxfp4_linear";
  std::string shape;
  std::string path = "auto";
  std::string store;
};

/// Operands on the device and what runs on them.
struct Workbench {
  kernels::host::Problem problem;
  Buffer<uint16_t> a;
  Buffer<uint8_t> b;
  Buffer<uint8_t> b_scales;
  Buffer<uint16_t> c;
  kernels::Mxfp4Linear linear;

  explicit Workbench(const Device &device) : linear(device) {}
};

Result<std::shared_ptr<Workbench>> make_workbench(const Device &device, const kernels::ProblemSize &size) {
  auto bench = std::make_shared<Workbench>(device);
  bench->problem = kernels::host::random_problem(size.m, size.n, size.k, 1);
  Result<Buffer<uint16_t>> a = device.upload(bench->problem.a);
  Result<Buffer<uint8_t>> b = device.upload(bench->problem.b);
  Result<Buffer<uint8_t>> b_scales = device.upload(bench->problem.b_scales);
  Result<Buffer<uint16_t>> c = device.allocate<uint16_t>(size.m * size.n);
  if (!a || !c)
    return !a ? a.error() : c.error();
  if (!b || !b_scales)
    return !b ? b.error() : b_scales.error();
  bench->a = std::move(*a);
  bench->b = std::move(*b);
  bench->b_scales = std::move(*b_scales);
  bench->c = std::move(*c);
  return bench;
}

TuneCandidate make_candidate(const std::shared_ptr<Workbench> &bench, const Stream &stream,
                             const kernels::LibraryKernel &kernel, kernels::GemmPath path,
                             const kernels::ConfigValues &config, const kernels::ProblemSize &size) {
  TuneCandidate candidate;
  candidate.config = config.text();
  candidate.compile = [=, &kernel]() -> Result<std::vector<std::shared_ptr<const CompiledKernel>>> {
    Result<kernels::ConfigValues> whole = kernel.complete(config, size);
    if (!whole)
      return whole.error();
    Result<std::shared_ptr<const CompiledKernel>> compiled = kernel.compile(*whole, size, stream.device());
    if (!compiled)
      return compiled.error();
    return std::vector{*compiled};
  };
  candidate.run = [=]() -> Result<std::vector<LaunchInfo>> {
    Result<kernels::LinearReport> report =
        bench->linear(stream, {bench->a, bench->b, bench->b_scales, bench->c}, size, path, config);
    if (!report)
      return report.error();
    std::vector<LaunchInfo> launches;
    for (const kernels::LaunchRecord &record : report->launches)
      launches.push_back(record.info);
    return launches;
  };
  return candidate;
}

Status validate(const Workbench &bench) {
  Result<std::vector<uint16_t>> c = bench.c.to_host();
  if (!c)
    return c.error();
  const kernels::host::Comparison comparison = kernels::host::compare(*c, bench.problem.exact);
  if (comparison.passed())
    return {};
  return nereid_error(fmt::format("{} elements are wrong", comparison.wrong));
}

std::string report_text(const TuneReport &report) {
  std::string text = fmt::format("{} for {} on {}: {} in {}\n", report.kernel, report.key, report.device,
                                 report.ranking, report.unit);
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const TuneOutcome &candidate = report.candidates[i];
    const std::string figure =
        candidate.figure ? fmt::format("{:.6g}", *candidate.figure) : "rejected: " + candidate.rejected;
    text += fmt::format("{} {:<75} {}\n", report.winner == i ? "*" : " ", candidate.config, figure);
  }
  return text;
}

/// The path whose list is tuned over: mxfp4_gemm has staged alone, mxfp4_gemm_fused all but that.
Result<kernels::GemmPath> chosen_path(const TuneOptions &options, const kernels::ProblemSize &size) {
  Result<kernels::GemmPath> wanted = kernels::path_named(options.path);
  if (!wanted)
    return wanted.error();
  const bool automatic = *wanted == kernels::GemmPath::Auto;
  if (automatic && options.kernel == "mxfp4_gemm")
    wanted = kernels::GemmPath::Staged;
  Result<kernels::GemmPlan> plan = kernels::plan_gemm(*wanted, {}, size);
  if (!plan)
    return plan.error();
  const bool staged = plan->path == kernels::GemmPath::Staged;
  if (automatic && staged && options.kernel == "mxfp4_gemm_fused")
    return kernels::GemmPath::Fused;
  if (options.kernel != "mxfp4_linear" && staged != (options.kernel == "mxfp4_gemm"))
    return user_error(fmt::format("{} is not what --path {} multiplies with", options.kernel, options.path));
  return plan->path;
}

Outcome run(const CommonOptions &common, const TuneOptions &options) {
  const Result<kernels::ProblemSize> shape = parse_size(options.shape);
  if (!shape)
    return shape.error();
  const kernels::ProblemSize &size = *shape;
  const Result<kernels::GemmPath> path = chosen_path(options, size);
  if (!path)
    return path.error();
  Result<Device> device = chosen_device(common);
  if (!device)
    return device.error();
  Result<std::shared_ptr<Workbench>> bench = make_workbench(*device, size);
  if (!bench)
    return bench.error();

  const bool staged = *path == kernels::GemmPath::Staged;
  const kernels::LibraryKernel &kernel = **kernels::kernel_named(staged ? "mxfp4_gemm" : "mxfp4_gemm_fused");
  const Stream stream = device->stream();
  TuneRequest request;
  request.kernel = fmt::format("{}.{}", kernel.name, name_of(*path));
  request.key = fmt::format("M={},N={},K={}", size.m, size.n, size.k);
  for (const kernels::ConfigValues &config : kernels::tuning_list(*path))
    request.candidates.push_back(make_candidate(*bench, stream, kernel, *path, config, size));
  request.prepare = [bench = *bench] { return bench->c.fill(0xffff); };
  request.validate = [bench = *bench] { return validate(*bench); };
  Result<TuneReport> report = tune(request, stream, *ranking_for(*device));
  if (!report)
    return report.error();
  if (!options.store.empty())
    if (Status status = TuningStore(options.store).store(*report); !status)
      return status.error();

  Outcome outcome;
  outcome.text = report_text(*report);
  if (llvm::Expected<llvm::json::Value> json = llvm::json::parse(report->json()))
    outcome.json = std::move(*json->getAsObject());
  else
    llvm::consumeError(json.takeError());
  if (!report->winner) {
    const Error none = nereid_error("no candidate gave a right result");
    outcome.code = ExitCode::Wrong;
    outcome.error = none.text();
    outcome.json["error"] = to_json(none);
  }
  return outcome;
}

} // namespace

void add_tune(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App *command =
      add_command(app, invocation, "tune", "Find the best listed config of mxfp4_linear for a shape",
                  [&invocation, options] { return run(invocation.common, *options); });
  command->footer(footer);
  add_device_option(*command, invocation);
  command->add_option("kernel", options->kernel, "mxfp4_linear, mxfp4_gemm_fused or mxfp4_gemm")
      ->check(CLI::IsMember({"mxfp4_linear", "mxfp4_gemm_fused", "mxfp4_gemm"}))
      ->capture_default_str();
  command->add_option("--shape", options->shape, "M,N,K")->required();
  command->add_option("--path", options->path, "auto, fused, atomic, workspace or staged")
      ->check(CLI::IsMember({"auto", "fused", "atomic", "workspace", "staged"}))
      ->capture_default_str();
  command->add_option("--store", options->store, "Directory for the report's file");
}

} // namespace nereid::tools
