// C = A times B transposed with the library's mxfp4_linear: bf16 A is quantised on the way, B is MXFP4 in
// shuffled order. The library chooses the kernels for the shape.
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

#include "kernels/host/problem.h"
#include "kernels/mxfp4_linear.h"

using namespace nereid;

int main() {
  const kernels::ProblemSize size{.m = 24, .n = 208, .k = 480};
  kernels::host::Problem problem = kernels::host::random_problem(size.m, size.n, size.k, /*seed=*/1);
  Device device = Device::best();
  Buffer<uint16_t> a = device.upload(problem.a).value();
  Buffer<uint8_t> b = device.upload(problem.b).value();
  Buffer<uint8_t> b_scales = device.upload(problem.b_scales).value();
  Buffer<uint16_t> c = device.allocate<uint16_t>(size.m * size.n).value();

  kernels::Mxfp4Linear linear(device);
  Result<kernels::LinearReport> report = linear(device.stream(), {a, b, b_scales, c}, size);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 1;
  }
  const kernels::host::Comparison comparison = kernels::host::compare(c.to_host().value(), problem.exact);
  std::printf("fused_gemm: %s by path %s on %s, %s\n", size.text().c_str(),
              std::string(kernels::name_of(report->path)).c_str(), device.name().c_str(),
              comparison.passed() ? "right" : "WRONG");
  return comparison.passed() ? 0 : 1;
}
