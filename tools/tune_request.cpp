// mxfp4_linear as the tuner sees it.
#include "tools/tune_request.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "kernels/host/problem.h"
#include "kernels/linear_config.h"
#include "kernels/linear_parts.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/operand_buffers.h"
#include "kernels/plan_choice.h"
#include "kernels/plan_space.h"
#include "kernels/registry.h"

namespace nereid::tools {
namespace {

using kernels::GemmPath;
using kernels::LinearConfig;
using kernels::OperandBuffers;
using kernels::ProblemSize;

constexpr uint64_t seed = 1;

/// Multiplications of a reference that take a few seconds.
constexpr int64_t max_validated = int64_t{1} << 31;

/// The shape itself, or a smaller one with the same tails and divisibility: fewer columns, then fewer rows,
/// and a shorter K last, as K may be a constant of the code.
ProblemSize validated_size(const ProblemSize &size) {
  ProblemSize smaller = size;
  // Multiples of the blocks of lists and space, so that the code is the same.
  const std::pair<int64_t ProblemSize::*, int64_t> extents[] = {
      {&ProblemSize::n, 5376}, {&ProblemSize::n, 768}, {&ProblemSize::m, 768}, {&ProblemSize::k, 1024}};
  for (const auto &[extent, unit] : extents)
    if (smaller.m * smaller.n * smaller.k > max_validated && size.*extent > 2 * unit)
      smaller.*extent = unit + size.*extent % unit;
  return smaller;
}

/// Operands on a device and what runs on them.
struct Workbench {
  Workbench(const Device &device, const ProblemSize &problem_size)
      : size(problem_size), stream(device.stream()), linear(device) {}

  Result<std::vector<LaunchInfo>> run(const Partial<LinearConfig> &config) {
    NEREID_TRY(kernels::LinearReport report,
               linear(stream, buffers.operands(), size, *config.path, config.gemm));
    std::vector<LaunchInfo> launches;
    for (kernels::LaunchRecord &record : report.launches)
      launches.push_back(std::move(record.info));
    return launches;
  }

  ProblemSize size;
  Stream stream;
  OperandBuffers buffers;
  std::vector<double> exact; ///< empty where results are not looked at
  kernels::Mxfp4Linear linear;
};

Result<std::shared_ptr<Workbench>> with_data(const Device &device, const kernels::host::Operands &operands) {
  auto bench = std::make_shared<Workbench>(device, ProblemSize{operands.m, operands.n, operands.k});
  NEREID_TRY(bench->buffers, OperandBuffers::upload(device, operands));
  return bench;
}

/// For launches that are timed without computing.
Result<std::shared_ptr<Workbench>> without_data(const Device &device, const ProblemSize &size) {
  auto bench = std::make_shared<Workbench>(device, size);
  NEREID_TRY(bench->buffers, OperandBuffers::allocate(device, size));
  return bench;
}

Status validate(const Workbench &bench) {
  NEREID_TRY(const std::vector<uint16_t> c, bench.buffers.c.to_host());
  const kernels::host::Comparison comparison = kernels::host::compare(c, bench.exact);
  if (comparison.passed())
    return {};
  return nereid_error(fmt::format("{} elements are wrong", comparison.wrong));
}

/// The kernels that a config launches.
Result<CompiledKernels> compile(const Partial<LinearConfig> &config, const ProblemSize &size,
                                const Device &device) {
  NEREID_TRY(const kernels::GemmPlan plan, kernels::plan_gemm(*config.path, config.gemm, size));
  return kernels::compile_linear(plan, size, device);
}

TuneCandidate make_candidate(const Partial<LinearConfig> &config, const ProblemSize &size,
                             const std::shared_ptr<Workbench> &checked,
                             const std::shared_ptr<Workbench> &ranked) {
  TuneCandidate candidate;
  candidate.config = kernels::linear_config_text(config, size);
  candidate.compile = [=](const Device &device) { return compile(config, size, device); };
  candidate.run = [=] { return ranked->run(config); };
  candidate.check = [=] { return checked->run(config); };
  candidate.writes.emplace_back(checked->buffers.c);
  return candidate;
}

/// A hundred instructions for each matrix instruction of 16 x 16 x 128, and what small launches need.
uint64_t budget_of(const ProblemSize &size) {
  using kernels::blocks;
  const int64_t products = blocks(size.m, 16) * blocks(size.n, 16) * blocks(size.k, 128);
  return std::max(uint64_t{1} << 27, 100 * static_cast<uint64_t>(products));
}

/// A config of the generated space that is estimated to take so much longer than the best of all paths is not
/// compiled: several times the estimate's error.
constexpr double hopeless = 1.5;

/// What the library takes for the shape at present: tuning then never ends with less.
void add_dispatched(const std::vector<GemmPath> &paths, const ProblemSize &size, const Device &device,
                    bool of_any_path, std::vector<Partial<LinearConfig>> &all) {
  const Result<kernels::GemmPlan> present = kernels::choose_plan(size, device.name());
  if (!present || (!of_any_path && std::find(paths.begin(), paths.end(), present->path) == paths.end()))
    return;
  const kernels::LinearConfig complete{.path = present->path, .gemm = present->gemm};
  if (const auto config =
          kernels::parse_keys<kernels::LinearConfig>(kernels::linear_name, config_text(complete)))
    all.push_back(*config);
}

/// The configs of each path, each once, listed ones first, and what the library takes at present.
std::vector<Partial<LinearConfig>> configs_of(const std::vector<GemmPath> &paths, const ProblemSize &size,
                                              const Device &device, const TunedConfigs &wanted) {
  std::vector<std::vector<kernels::EstimatedPlan>> generated;
  double best = std::numeric_limits<double>::infinity();
  for (const GemmPath path : paths) {
    // One at least: the best of all paths says what is hopeless.
    generated.push_back(kernels::best_of_space(path, size, std::max<size_t>(wanted.generated, 1)));
    if (!generated.back().empty())
      best = std::min(best, generated.back().front().us);
    generated.back().resize(std::min(generated.back().size(), wanted.generated));
  }
  std::vector<Partial<LinearConfig>> all;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::vector<Partial<kernels::GemmConfig>> configs;
    if (wanted.listed)
      configs = kernels::tuning_list(paths[i]);
    for (const kernels::EstimatedPlan &each : generated[i])
      if (each.us <= hopeless * best &&
          std::find(configs.begin(), configs.end(), each.config) == configs.end())
        configs.push_back(each.config);
    for (const Partial<kernels::GemmConfig> &config : configs)
      all.push_back({.path = paths[i], .gemm = config});
  }
  add_dispatched(paths, size, device, wanted.dispatched_of_any_path, all);
  // Different lists may mean the same.
  std::set<std::string> texts;
  std::erase_if(all, [&](const Partial<LinearConfig> &config) {
    return !texts.insert(kernels::linear_config_text(config, size)).second;
  });
  return all;
}

} // namespace

Result<LinearTuning> LinearTuning::make(const Device &device, const ProblemSize &size,
                                        const std::vector<GemmPath> &paths, const TunedConfigs &configs) {
  LinearTuning tuning(device.stream());
  const ProblemSize smaller = validated_size(size);
  kernels::host::Problem problem = kernels::host::random_problem(smaller.m, smaller.n, smaller.k, seed);
  NEREID_TRY(const std::shared_ptr<Workbench> checked, with_data(device, problem));
  checked->exact = std::move(problem.exact);
  NEREID_TRY(const std::shared_ptr<Workbench> ranked,
             device.kind() == DeviceKind::Simulator
                 ? without_data(device, size)
                 : with_data(device, kernels::host::random_operands(size.m, size.n, size.k, seed)));
  TuneRequest &request = tuning.request_;
  request.kernel = kernels::linear_name;
  request.key = kernels::linear_key(size);
  for (const Partial<LinearConfig> &config : configs_of(paths, size, device, configs))
    request.candidates.push_back(make_candidate(config, size, checked, ranked));
  request.validate = [checked] { return validate(*checked); };
  tuning.instructions_ = budget_of(size);
  return tuning;
}

TuneOptions LinearTuning::options() const {
  TuneOptions options;
  options.instructions = instructions_;
  return options;
}

} // namespace nereid::tools
