// z = x + y, on a gfx950 GPU or, without one, on the simulator.
#include <cstdio>
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  store(z + i, load(x + i, in_range) + load(y + i, in_range), in_range);
}

int main() {
  const int n = 5000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5F * i;
    b[i] = 1000.0F - i;
  }
  Device device = Device::best();
  Buffer<float> x = device.upload(a).value();
  Buffer<float> y = device.upload(b).value();
  Buffer<float> z = device.allocate<float>(n).value();

  AddConfig config;
  Kernel<add> kernel;
  Grid grid{cdiv(n, config.block)};
  Result<LaunchInfo> launched = kernel(device.stream(), grid, config, x, y, z, n);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().text().c_str());
    return 1;
  }
  std::vector<float> sum = z.to_host().value();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += sum[i] != a[i] + b[i];
  std::printf("vector_add: %d elements on %s, %d wrong\n", n, device.name().c_str(), wrong);
  return wrong == 0 ? 0 : 1;
}
