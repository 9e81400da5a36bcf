// Runs the library's kernels on each backend, into poisoned memory.
#include "tests/kernels/backend.h"

#include <cstdlib>
#include <cstring>

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

/// The interpreter does not see the memory of a GPU.
LaunchOptions options_of(Backend backend) {
  return {.interpret = backend == Backend::Interpreted && test_device().kind() == DeviceKind::Simulator};
}

const Device &test_device() {
  static const Device device = [] {
    setenv("NEREID_CACHE_DIR", NEREID_TEST_CACHE, /*overwrite=*/0);
    const char *name = std::getenv("NEREID_TEST_DEVICE");
    return Device::named(name ? name : "sim").value();
  }();
  return device;
}

const Device &budgeted_device() {
  static const Device device =
      test_device().kind() == DeviceKind::Simulator ? test_device() : Device::simulator();
  return device;
}

const Device &device_of(Backend backend) {
  static const Device checked = [] {
    (void)test_device();
    return Device::simulator({.checks = "undefined,race_lds,race_global,wait,hazard,nan_scale"});
  }();
  return backend == Backend::Checked ? checked : test_device();
}

Result<QuantOutput> run_quant(Backend backend, const std::vector<uint16_t> &values, int64_t m, int64_t k,
                              const Partial<QuantConfig> &given) {
  const ProblemSize size{m, 0, k};
  NEREID_TRY(const QuantConfig config, quant_kernel.complete(given, size));
  const Device &device = device_of(backend);
  NEREID_TRY(const Buffer<uint16_t> x, device.upload(values));
  NEREID_TRY(Buffer<uint8_t> codes, device.allocate<uint8_t>(m * k / 2));
  NEREID_TRY(Buffer<uint8_t> scales,
             device.allocate<uint8_t>(config.shuffled ? host::shuffled_scale_bytes(m, k) : m * (k / 32)));
  NEREID_CHECK(codes.fill(0xa5));
  NEREID_CHECK(scales.fill(config.shuffled ? 127 : 0xa5));
  const Stream stream = device.stream();
  NEREID_CHECK(quant_kernel.launch({stream, options_of(backend)}, config, size, {x, codes, scales}));
  NEREID_CHECK(stream.synchronize());
  return QuantOutput{codes.to_host().value(), scales.to_host().value()};
}

QuantOutput expected_quant(const std::vector<uint16_t> &values, int64_t m, int64_t k, bool shuffled) {
  host::MxMatrix matrix = host::quantize_even(values, m, k);
  if (shuffled)
    matrix.scales = host::shuffle_scales(matrix.scales, m, k, 127).value();
  return {std::move(matrix.codes), std::move(matrix.scales)};
}

Result<std::vector<uint16_t>> run_linear(Backend backend, const host::Problem &problem, GemmPath path,
                                         const Partial<GemmConfig> &config) {
  const Device &device = device_of(backend);
  NEREID_TRY(const Buffer<uint16_t> a, device.upload(problem.a));
  NEREID_TRY(const Buffer<uint8_t> b, device.upload(problem.b));
  NEREID_TRY(const Buffer<uint8_t> b_scales, device.upload(problem.b_scales));
  NEREID_TRY(Buffer<uint16_t> c, device.allocate<uint16_t>(problem.m * problem.n));
  NEREID_CHECK(c.fill(0xffff));
  Mxfp4Linear linear(device, options_of(backend));
  const Stream stream = device.stream();
  NEREID_CHECK(linear(stream, {a, b, b_scales, c}, {problem.m, problem.n, problem.k}, path, config));
  NEREID_CHECK(stream.synchronize());
  return c.to_host();
}

bool long_tests() {
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

} // namespace nereid::kernels::test
