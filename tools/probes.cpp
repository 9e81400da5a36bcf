// Products whose results show whether the chip does what the compiler takes for granted.
#include "tools/probes.h"

#include <fmt/format.h>

#include "kernels/host/formats.h"
#include "kernels/host/problem.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"
#include "tools/product.h"

namespace nereid::tools {
namespace {

namespace host = kernels::host;

ProbeResult failed(ProbeResult probe, const Error &error) {
  probe.detail = error.text();
  return probe;
}

/// One instruction's product of random operands: every element lands where it belongs or the result is wrong.
ProbeResult probe_layout(const Device &device, kernels::Mxfp4Linear &linear) {
  ProbeResult probe{.name = "mfma layout"};
  const host::Problem problem = host::random_problem(16, 32, 128, 1);
  const Result<Product> product = run_product(device, linear, problem, kernels::GemmPath::Fused);
  if (!product)
    return failed(std::move(probe), product.error());
  int64_t different = 0;
  for (size_t i = 0; i < product->c.size(); ++i)
    different += product->c[i] != host::bf16_from_double(problem.exact[i]) ? 1 : 0;
  probe.passed = different == 0;
  probe.detail = fmt::format("{} of {} elements differ from the exact product", different, product->c.size());
  return probe;
}

/// A small term between two large ones that cancel: what is left of it tells the order of the sum.
ProbeResult probe_sum_order(const Device &device, kernels::Mxfp4Linear &linear) {
  host::Problem problem = host::random_problem(16, 16, 128, 2);
  const uint16_t large = host::bf16_from_double(0x1p26);
  const uint16_t small = host::bf16_from_double(1.0);
  std::fill(problem.a.begin(), problem.a.end(), 0);
  problem.a[0] = large;
  problem.a[32] = small;
  problem.a[64] = large | 0x8000;
  host::MxMatrix ones(16, 128);
  std::fill(ones.codes.begin(), ones.codes.end(), 0x22);
  std::fill(ones.scales.begin(), ones.scales.end(), 127);
  problem.b = host::shuffle_b(ones.codes, 16, 128).value();
  problem.b_scales = host::shuffle_scales(ones.scales, 16, 128).value();
  const Result<Product> product = run_product(device, linear, problem, kernels::GemmPath::Fused);
  if (!product)
    return failed({.name = "sum order"}, product.error());
  return judge_sum_order(host::bf16_to_float(product->c[0]));
}

/// The same product many times: a missing wait shows as a result that changes.
ProbeResult probe_waits(const Device &device, kernels::Mxfp4Linear &linear) {
  constexpr int repeats = 50;
  const host::Problem problem = host::random_problem(64, 1024, 2048, 3);
  std::vector<std::vector<uint16_t>> results;
  for (int i = 0; i < repeats; ++i) {
    Result<Product> product = run_product(device, linear, problem, kernels::GemmPath::TwoPass);
    if (!product)
      return failed({.name = "waits"}, product.error());
    results.push_back(std::move(product->c));
  }
  return judge_waits(results, problem.exact);
}

} // namespace

std::vector<ProbeResult> run_probes(const Device &device) {
  kernels::Mxfp4Linear linear(device);
  return {probe_layout(device, linear), probe_sum_order(device, linear), probe_waits(device, linear)};
}

} // namespace nereid::tools
