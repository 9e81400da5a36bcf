// Compiled by tests, not linked: with no macro it is right, with one of them the launch must be refused with
// a message that says what is wrong with it.
#include "dsl/dsl.h"
#include "jit/kernel.h"

using namespace nereid;

struct Config {
  int block = 64;
  int waves = 1;
  NEREID_CONFIG(Config, block, waves)
};

void kernel_function(const Config &, Ptr<const f32>, Ptr<f32>, Int) {}

void launch(const Stream &stream, const Config &config, const Buffer<float> &x, const Buffer<float> &y,
            int n) {
  const Kernel<kernel_function> kernel;
#if defined(REFUSE_BRACED_GRID_AND_TOO_FEW)
  (void)kernel(stream, {cdiv(n, config.block)}, config, x, y);
#elif defined(REFUSE_BRACED_GRID_AND_TOO_MANY)
  (void)kernel(stream, {cdiv(n, config.block)}, config, x, y, n, n);
#elif defined(REFUSE_GRID_AND_TOO_FEW)
  (void)kernel(stream, Grid{cdiv(n, config.block)}, config, x, y);
#else
  (void)kernel(stream, {cdiv(n, config.block)}, config, x, y, n);
  (void)kernel(stream, config, x, y, n);
  (void)kernel(stream, {.block = 32}, x, y, n);
#endif
}
