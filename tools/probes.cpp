#include "tools/probes.h"

#include <cmath>

#include <fmt/format.h>

#include "kernels/host/formats.h"
#include "kernels/host/problem.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"

namespace nereid::tools {
namespace {

namespace host = kernels::host;

/// C in bf16 of a problem, by one path.
Result<std::vector<uint16_t>> product(const Device &device, kernels::Mxfp4Linear &linear,
                                      const host::Problem &problem, kernels::GemmPath path) {
  Result<Buffer<uint16_t>> a = device.upload(problem.a);
  Result<Buffer<uint8_t>> b = device.upload(problem.b);
  Result<Buffer<uint8_t>> b_scales = device.upload(problem.b_scales);
  Result<Buffer<uint16_t>> c = device.allocate<uint16_t>(problem.m * problem.n);
  if (!a || !c)
    return !a ? a.error() : c.error();
  if (!b || !b_scales)
    return !b ? b.error() : b_scales.error();
  if (Status status = c->fill(0xffff); !status)
    return status.error();
  const Stream stream = device.stream();
  Result<kernels::LinearReport> report =
      linear(stream, {*a, *b, *b_scales, *c}, {problem.m, problem.n, problem.k}, path);
  if (!report)
    return report.error();
  if (Status status = stream.synchronize(); !status)
    return status.error();
  return c->to_host();
}

/// One instruction's product of random operands: every element lands in its own place or the result is wrong.
ProbeResult probe_layout(const Device &device, kernels::Mxfp4Linear &linear) {
  ProbeResult probe{.name = "mfma layout"};
  const host::Problem problem = host::random_problem(16, 32, 128, 1);
  const Result<std::vector<uint16_t>> c = product(device, linear, problem, kernels::GemmPath::Fused);
  if (!c) {
    probe.detail = c.error().text();
    return probe;
  }
  int64_t different = 0;
  for (size_t i = 0; i < c->size(); ++i)
    different += (*c)[i] != host::bf16_from_double(problem.exact[i]) ? 1 : 0;
  probe.passed = different == 0;
  probe.detail = fmt::format("{} of {} elements differ from the exact product", different, c->size());
  return probe;
}

/// A small term between two large ones that cancel: what is left of it tells the order of the sum.
ProbeResult probe_sum_order(const Device &device, kernels::Mxfp4Linear &linear) {
  ProbeResult probe{.name = "sum order"};
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
  const Result<std::vector<uint16_t>> c = product(device, linear, problem, kernels::GemmPath::Fused);
  if (!c) {
    probe.detail = c.error().text();
    return probe;
  }
  // 128 roundings of sums as large as 2^27: no result may be further from 1 than that.
  const float sum = host::bf16_to_float((*c)[0]);
  probe.passed = std::fabs(sum - 1.0F) <= 128 * 0x1p4F;
  probe.detail = fmt::format("2^26 + 1 - 2^26 over three groups gives {}", sum);
  return probe;
}

/// The same product many times: a missing wait shows as a result that changes.
ProbeResult probe_waits(const Device &device, kernels::Mxfp4Linear &linear) {
  constexpr int repeats = 50;
  ProbeResult probe{.name = "waits"};
  const host::Problem problem = host::random_problem(64, 1024, 2048, 3);
  int different = 0;
  std::vector<uint16_t> first;
  for (int i = 0; i < repeats; ++i) {
    Result<std::vector<uint16_t>> c = product(device, linear, problem, kernels::GemmPath::TwoPass);
    if (!c) {
      probe.detail = c.error().text();
      return probe;
    }
    if (first.empty())
      first = std::move(*c);
    else
      different += *c != first ? 1 : 0;
  }
  probe.passed = different == 0 && host::compare(first, problem.exact).passed();
  probe.detail = fmt::format("{} of {} repeats differ", different, repeats);
  return probe;
}

} // namespace

std::vector<ProbeResult> run_probes(const Device &device) {
  kernels::Mxfp4Linear linear(device);
  return {probe_layout(device, linear), probe_sum_order(device, linear), probe_waits(device, linear)};
}

} // namespace nereid::tools
