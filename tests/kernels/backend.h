#pragma once

#include <string>
#include <vector>

#include "jit/device/device.h"
#include "kernels/host/problem.h"
#include "kernels/host/quantize.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/splitk_reduce.h"

/// How the kernel tests run kernels: interpreted, and compiled on the simulator.
namespace nereid::kernels::test {

enum class Backend {
  Interpreted,
  Compiled,
  Checked ///< compiled, on a simulator with all checks
};

/// Those that give results to compare, for test parameters.
inline constexpr Backend backends[] = {Backend::Interpreted, Backend::Compiled};

std::string name_of(Backend backend);
LaunchOptions options_of(Backend backend);

/// The device that all tests of a program share, so that its kernels are compiled once: the simulator, or
/// NEREID_TEST_DEVICE=hip, on which nothing is interpreted.
const Device &test_device();
/// Of tests of launches that end half done: test_device() where that is a simulator, else a simulator, for no
/// other device has a LaunchBudget.
const Device &budgeted_device();
/// The one that a backend runs on.
const Device &device_of(Backend backend);

/// What mxfp4_quant wrote into poisoned memory: 0xa5 in codes and plain scales, 127 in shuffled scales.
struct QuantOutput {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;
};
Result<QuantOutput> run_quant(Backend backend, const std::vector<uint16_t> &values, int64_t m, int64_t k,
                              const Partial<QuantConfig> &config);

/// What the quantiser must write.
QuantOutput expected_quant(const std::vector<uint16_t> &values, int64_t m, int64_t k, bool shuffled);

/// C of mxfp4_linear, poisoned with NaN before; scales lie at the very end of their allocation.
Result<std::vector<uint16_t>> run_linear(Backend backend, const host::Problem &problem, GemmPath path,
                                         const Partial<GemmConfig> &config);

/// NEREID_LONG_TESTS=1: the full product of shapes and configs.
bool long_tests();

} // namespace nereid::kernels::test
