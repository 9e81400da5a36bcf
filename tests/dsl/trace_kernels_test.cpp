#include <gtest/gtest.h>

#include "dsl/dsl.h"
#include "dsl/ir/printer.h"

namespace nereid {
namespace {

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

TEST(TraceKernels, VectorAdd) {
  Result<ir::Function> f = trace("add", add, AddConfig{});
  ASSERT_TRUE(f.ok()) << f.error().text();
  EXPECT_EQ(ir::print(*f).substr(0, 20), "kernel @add(%0: ptr<");
}

} // namespace
} // namespace nereid
