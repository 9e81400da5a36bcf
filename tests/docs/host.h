// What the fragments about the host side use: kernels and their arguments.
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct ScaleConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(ScaleConfig, block, waves)
};
void scale(const ScaleConfig &, Ptr<const f32>, Ptr<f32>, Int) {}

using AddConfig = ScaleConfig;
void add(const AddConfig &, Ptr<const f32>, Ptr<const f32>, Ptr<f32>, Int) {}

Status compare(const std::vector<float> &result, const std::vector<float> &expected);

struct Tensor {
  void *data_ptr();
};

struct Context {
  Device device;
  Buffer<float> x, y, z;
  std::vector<float> result, expected;
  Tensor tensor;
  void *their_hip_stream;
  int n, index, grid_x, grid_y, grid_z;
};
#define NAMES                                                                                                \
  auto &[device, x, y, z, result, expected, tensor, their_hip_stream, n, index, grid_x, grid_y, grid_z] =    \
      context;                                                                                               \
  const Stream stream = device.new_stream().value();                                                         \
  const AddConfig config;                                                                                    \
  const Grid grid{cdiv(n, config.block)};                                                                    \
  Kernel kernel("add", add);
