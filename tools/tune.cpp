// nereid tune: the listed configs of a path, compiled, run, checked and ranked.
#include <fmt/format.h>

#include "jit/tune/tuner.h"
#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"
#include "tools/command.h"
#include "tools/kernel_choice.h"
#include "tools/size_options.h"

namespace nereid::tools {
namespace {

constexpr const char *footer =
    R"(Compiles and runs the listed configs of a path on seeded data, rejects those that are wrong or do not fit,
and ranks the rest: by device time on a GPU, else by an estimate (how often the workgroups fill 256 compute units times the
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
  NEREID_TRY(bench->a, device.upload(bench->problem.a));
  NEREID_TRY(bench->b, device.upload(bench->problem.b));
  NEREID_TRY(bench->b_scales, device.upload(bench->problem.b_scales));
  NEREID_TRY(bench->c, device.allocate<uint16_t>(size.m * size.n));
  return bench;
}

/// What is tuned: a config of a path that multiplies a problem with a kernel.
template <class GemmKernel>
TuneCandidate make_candidate(const std::shared_ptr<Workbench> &bench, const Stream &stream,
                             const GemmKernel &kernel, kernels::GemmPath path,
                             const Partial<kernels::GemmConfig> &config, const kernels::ProblemSize &size) {
  TuneCandidate candidate;
  candidate.config = config_text(config);
  candidate.compile = [=, &kernel]() -> Result<std::vector<std::shared_ptr<const CompiledKernel>>> {
    NEREID_TRY(const kernels::GemmConfig complete, kernel.complete(config, size));
    NEREID_TRY(std::shared_ptr<const CompiledKernel> compiled,
               kernel.compile(complete, size, stream.device()));
    return std::vector{std::move(compiled)};
  };
  candidate.run = [=]() -> Result<std::vector<LaunchInfo>> {
    NEREID_TRY(kernels::LinearReport report,
               bench->linear(stream, {bench->a, bench->b, bench->b_scales, bench->c}, size, path, config));
    std::vector<LaunchInfo> launches;
    for (kernels::LaunchRecord &record : report.launches)
      launches.push_back(std::move(record.info));
    return launches;
  };
  return candidate;
}

Status validate(const Workbench &bench) {
  NEREID_TRY(const std::vector<uint16_t> c, bench.c.to_host());
  const kernels::host::Comparison comparison = kernels::host::compare(c, bench.problem.exact);
  if (comparison.passed())
    return {};
  return nereid_error(fmt::format("{} elements are wrong", comparison.wrong));
}

/// The configs of a path, and how one is run and checked.
template <class GemmKernel>
TuneRequest request_for(const GemmKernel &kernel, const std::shared_ptr<Workbench> &bench,
                        const Stream &stream, kernels::GemmPath path, const kernels::ProblemSize &size) {
  TuneRequest request;
  request.kernel = fmt::format("{}.{}", kernel.name, name_of(path));
  request.key = fmt::format("M={},N={},K={}", size.m, size.n, size.k);
  for (const Partial<kernels::GemmConfig> &config : kernels::tuning_list(path))
    request.candidates.push_back(make_candidate(bench, stream, kernel, path, config, size));
  request.prepare = [bench] { return bench->c.fill(0xffff); };
  request.validate = [bench] { return validate(*bench); };
  return request;
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

/// The path whose list is tuned over: mxfp4_gemm multiplies in two passes alone, mxfp4_gemm_fused in all
/// other paths.
Result<kernels::GemmPath> chosen_path(const TuneOptions &options, const kernels::ProblemSize &size) {
  NEREID_TRY(kernels::GemmPath wanted, kernels::path_named(options.path));
  const bool automatic = wanted == kernels::GemmPath::Auto;
  if (automatic && options.kernel == kernels::gemm_kernel.name)
    wanted = kernels::GemmPath::TwoPass;
  NEREID_TRY(const kernels::GemmPlan plan, kernels::plan_gemm(wanted, {}, size));
  const bool two_pass = plan.path == kernels::GemmPath::TwoPass;
  if (automatic && two_pass && options.kernel == kernels::gemm_fused_kernel.name)
    return kernels::GemmPath::Fused;
  if (options.kernel != "mxfp4_linear" && two_pass != (options.kernel == kernels::gemm_kernel.name))
    return user_error(fmt::format("{} is not what --path {} multiplies with", options.kernel, options.path));
  return plan.path;
}

Outcome run(const CommonOptions &common, const TuneOptions &options) {
  NEREID_TRY(const kernels::ProblemSize size, parse_size(options.shape));
  NEREID_TRY(const kernels::GemmPath path, chosen_path(options, size));
  NEREID_TRY(const Device device, chosen_device(common));
  NEREID_TRY(const std::shared_ptr<Workbench> bench, make_workbench(device, size));
  const Stream stream = device.stream();
  const TuneRequest request = path == kernels::GemmPath::TwoPass
                                  ? request_for(kernels::gemm_kernel, bench, stream, path, size)
                                  : request_for(kernels::gemm_fused_kernel, bench, stream, path, size);
  NEREID_TRY(const TuneReport report, tune(request, stream, *ranking_for(device)));
  if (!options.store.empty())
    NEREID_CHECK(TuningStore(options.store).store(report));

  Outcome outcome;
  outcome.text = report_text(report);
  if (llvm::Expected<llvm::json::Value> json = llvm::json::parse(report.json()))
    outcome.json = std::move(*json->getAsObject());
  else
    llvm::consumeError(json.takeError());
  if (!report.winner) {
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
  add_path_option(*command, options->path);
  command->add_option("--store", options->store, "Directory for the report's file");
}

} // namespace nereid::tools
