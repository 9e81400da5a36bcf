// What the fragments of docs/kernels.md use.
#include <nereid/nereid.h>

#include "kernels/mxfp4_gemm.h"
#include "kernels/mxfp4_linear.h"
#include "kernels/registry.h"

using namespace nereid;
using namespace nereid::kernels;

struct Context {
  Device device;
  ProblemSize size;
  Buffer<uint16_t> a;
  Buffer<uint8_t> b, b_scales;
  Buffer<float> slices;
};
#define NAMES                                                                                                \
  auto &[device, size, a, b, b_scales, slices] = context;                                                    \
  const Stream stream = device.stream();
