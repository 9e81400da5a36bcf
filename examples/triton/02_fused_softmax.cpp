// After Triton's tutorial 2: softmax over the rows of a matrix, read once and written once. The launch has as
// many programs as run at a time; each walks over rows.
#include <algorithm>

#include "host.h"

using namespace nereid;

struct SoftmaxConfig {
  int block = 1024; // at least a row's length
  int waves = 4;
  NEREID_CONFIG(SoftmaxConfig, block, waves)
};

void softmax(const SoftmaxConfig &c, Ptr<const f32> x, Int x_stride, Ptr<f32> y, Int y_stride, Int m, Int n) {
  Tile<i32> column = arange(0, c.block);
  Tile<i1> in_bounds = column < n;
  for (Int row : range(program_id(0), m, num_programs(0))) {
    Tile<f32> value = load(x + row * x_stride + column, in_bounds, -INFINITY);
    Tile<f32> numerator = exp(value - max(value, axis(0)));
    store(y + row * y_stride + column, numerator / sum(numerator, axis(0)), in_bounds);
  }
}

/// How many programs the device runs at a time: what its registers and LDS allow this kernel.
int resident_programs(const Device &device, const CompiledKernel &kernel) {
  const unsigned simds = 4; // of a compute unit
  const unsigned waves = simds * kernel.resources().occupancy;
  return static_cast<int>(device.properties().compute_units * waves / (kernel.block() / 64));
}

Result<int> run(const Device &device) {
  const int m = 1823, n = 781;
  const std::vector<float> input = ports::uniform(m * n, 1);
  NEREID_TRY(const Buffer<float> x, device.upload(input));
  NEREID_TRY(const Buffer<float> y, device.allocate<float>(m * n));

  const SoftmaxConfig config;
  Kernel kernel("softmax", softmax);
  NEREID_TRY(const auto compiled, kernel.compile(config, kernel.facts(x, n, y, n, m, n), device));
  const int programs = std::min(m, resident_programs(device, *compiled));
  NEREID_CHECK(kernel(device.stream(), {programs}, config, x, n, y, n, m, n));

  std::vector<double> exact;
  for (int row = 0; row < m; ++row) {
    double total = 0;
    for (int i = 0; i < n; ++i)
      total += std::exp(double{input[row * n + i]});
    for (int i = 0; i < n; ++i)
      exact.push_back(std::exp(double{input[row * n + i]}) / total);
  }
  NEREID_TRY(const std::vector<float> output, y.to_host());
  return ports::count_wrong(output, exact, 1e-6);
}

int main() {
  const Device device = Device::best();
  return ports::report("02_fused_softmax: 1823 x 781", device, run(device));
}
