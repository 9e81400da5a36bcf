// After Triton's tutorial 1: z = x + y. A program adds one block of the vectors.
#include "host.h"

using namespace nereid;

struct AddConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(AddConfig, block, waves)
};

void add(const AddConfig &c, Ptr<const f32> x, Ptr<const f32> y, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_bounds = i < n; // the last block may be longer than what is left
  store(z + i, load(x + i, in_bounds) + load(y + i, in_bounds), in_bounds);
}

Result<int> run(const Device &device) {
  const int n = 98'432;
  const std::vector<float> a = ports::uniform(n, 1), b = ports::uniform(n, 2);
  NEREID_TRY(const Buffer<float> x, device.upload(a));
  NEREID_TRY(const Buffer<float> y, device.upload(b));
  NEREID_TRY(const Buffer<float> z, device.allocate<float>(n));

  const AddConfig config;
  Kernel kernel("add", add);
  NEREID_CHECK(kernel(device.stream(), {cdiv(n, config.block)}, config, x, y, z, n));

  NEREID_TRY(const std::vector<float> sum, z.to_host());
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += sum[i] != a[i] + b[i]; // one addition has one right result
  return wrong;
}

int main() {
  const Device device = Device::best();
  return ports::report("01_vector_add: 98432 elements", device, run(device));
}
