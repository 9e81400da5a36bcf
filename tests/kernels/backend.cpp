#include "tests/kernels/backend.h"

#include <cstdlib>
#include <cstring>

#include "kernels/choices.h"
#include "kernels/host/shuffle.h"

namespace nereid::kernels::test {

std::string name_of(Backend backend) {
  switch (backend) {
  case Backend::Interpreted:
    return "interpreted";
  case Backend::Compiled:
    return "compiled";
  case Backend::Checked:
    return "checked";
  }
  return "";
}

LaunchOptions options_of(Backend backend) { return {.interpret = backend == Backend::Interpreted}; }

const Device &test_device() {
  static const Device device = [] {
    setenv("NEREID_CACHE_DIR", NEREID_TEST_CACHE, /*overwrite=*/0);
    return Device::simulator();
  }();
  return device;
}

const Device &device_of(Backend backend) {
  static const Device checked = [] {
    (void)test_device();
    return Device::simulator({.checks = "all"});
  }();
  return backend == Backend::Checked ? checked : test_device();
}

Result<QuantOutput> run_quant(Backend backend, const std::vector<uint16_t> &values, int64_t m, int64_t k,
                              const ConfigValues &config) {
  const ProblemSize size{m, 0, k};
  Result<ConfigValues> whole = complete_quant(config, size);
  if (!whole)
    return whole.error();
  const bool shuffled = whole->get_or("shuffled", 0) == 1;
  const Device &device = device_of(backend);
  Result<Buffer<uint16_t>> x = device.upload(values);
  Result<Buffer<uint8_t>> codes = device.allocate<uint8_t>(m * k / 2);
  Result<Buffer<uint8_t>> scales =
      device.allocate<uint8_t>(shuffled ? host::shuffled_scale_bytes(m, k) : m * (k / 32));
  if (!x || !codes || !scales)
    return environment_error("out of device memory");
  if (Status status = codes->fill(0xa5); !status)
    return status.error();
  if (Status status = scales->fill(shuffled ? 127 : 0xa5); !status)
    return status.error();
  const Stream stream = device.stream();
  Result<LaunchRecord> record =
      launch_quant({stream, options_of(backend)}, *whole, size, *x, *codes, *scales);
  if (!record)
    return record.error();
  if (Status status = stream.synchronize(); !status)
    return status.error();
  return QuantOutput{codes->to_host().value(), scales->to_host().value()};
}

QuantOutput expected_quant(const std::vector<uint16_t> &values, int64_t m, int64_t k, bool shuffled) {
  host::MxMatrix matrix = host::quantize_even(values, m, k);
  if (shuffled)
    matrix.scales = host::shuffle_scales(matrix.scales, m, k, 127).value();
  return {std::move(matrix.codes), std::move(matrix.scales)};
}

Result<std::vector<uint16_t>> run_linear(Backend backend, const host::Problem &problem, GemmPath path,
                                         const ConfigValues &config) {
  const Device &device = device_of(backend);
  Result<Buffer<uint16_t>> a = device.upload(problem.a);
  Result<Buffer<uint8_t>> b = device.upload(problem.b);
  Result<Buffer<uint8_t>> b_scales = device.upload(problem.b_scales);
  Result<Buffer<uint16_t>> c = device.allocate<uint16_t>(problem.m * problem.n);
  if (!a || !b || !b_scales || !c)
    return environment_error("out of device memory");
  if (Status status = c->fill(0xffff); !status)
    return status.error();
  Mxfp4Linear linear(device, options_of(backend));
  const Stream stream = device.stream();
  Result<LinearReport> report =
      linear(stream, {*a, *b, *b_scales, *c}, {problem.m, problem.n, problem.k}, path, config);
  if (!report)
    return report.error();
  if (Status status = stream.synchronize(); !status)
    return status.error();
  return c->to_host();
}

bool long_tests() {
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

} // namespace nereid::kernels::test
