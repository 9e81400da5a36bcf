// Softmax over the rows of a matrix: a program owns one row, which lies in its registers.
#include <cmath>
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct SoftmaxConfig {
  int block = 1024; // a power of two that holds a row
  int waves = 4;
  NEREID_CONFIG(SoftmaxConfig, block, waves)
};

void softmax(const SoftmaxConfig &c, Ptr<const f32> x, Ptr<f32> y, Int columns) {
  Tile<i32> column = arange(0, c.block);
  Tile<i1> in_bounds = column < columns;
  Tile<i32> at = program_id(0) * columns + column;
  Tile<f32> value = load(x + at, in_bounds, -INFINITY);
  Tile<f32> weight = exp(value - max(value, axis(0)));
  store(y + at, weight / sum(weight, axis(0)), in_bounds);
}

int main() {
  const int rows = 37;
  const int columns = 781;
  std::vector<float> input(rows * columns);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = 3.0F * std::sin(0.37F * static_cast<float>(i));
  Device device = Device::best();
  Buffer<float> x = device.upload(input).value();
  Buffer<float> y = device.allocate<float>(input.size()).value();

  Kernel<softmax> kernel;
  Result<LaunchInfo> launched = kernel(device.stream(), {rows}, SoftmaxConfig{}, x, y, columns);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  std::vector<float> output = y.to_host().value();
  double largest_error = 0;
  for (int row = 0; row < rows; ++row) {
    double total = 0;
    for (int i = 0; i < columns; ++i)
      total += std::exp(static_cast<double>(input[row * columns + i]));
    for (int i = 0; i < columns; ++i) {
      const double exact = std::exp(static_cast<double>(input[row * columns + i])) / total;
      largest_error = std::fmax(largest_error, std::fabs(output[row * columns + i] - exact) / exact);
    }
  }
  const bool right = largest_error < 1e-5;
  std::printf("softmax: %d x %d on %s, %s\n", rows, columns, device.name().c_str(),
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}
