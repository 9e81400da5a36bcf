// What the fragments about the host side use: a kernel and its arguments.
#include <vector>

#include <nereid/nereid.h>

using namespace nereid;

struct ScaleConfig {
  int block = 1024;
  int waves = 4;
  NEREID_CONFIG(ScaleConfig, block, waves)
};
void scale(const ScaleConfig &, Ptr<const f32>, Ptr<f32>, Int) {}

struct Context {
  Device device;
  Buffer<float> x, y;
  int n;
};
#define NAMES                                                                                                \
  auto &[device, x, y, n] = context;                                                                         \
  const Stream stream = device.stream();                                                                     \
  ScaleConfig config;                                                                                        \
  Kernel kernel("scale", scale);                                                                             \
  const Grid grid{cdiv(n, config.block)};
