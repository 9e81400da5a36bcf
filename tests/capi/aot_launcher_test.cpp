// A generated launcher over functions of this test in place of HIP's.
#include "vector_add.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

struct Launch {
  int count = 0;
  unsigned grid[3] = {}, block[3] = {}, dynamic_lds = 0;
  void *stream = nullptr;
  size_t size = 0;
  struct {
    const float *x, *y;
    float *z;
    int32_t n;
  } arguments = {};
} seen;
int code_of_launch = 0;

int record_launch(void *, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned dynamic_lds, void *stream, void **, void **extra) {
  ++seen.count;
  const unsigned grid[3] = {x, y, z}, block[3] = {block_x, block_y, block_z};
  std::memcpy(seen.grid, grid, sizeof grid);
  std::memcpy(seen.block, block, sizeof block);
  seen.dynamic_lds = dynamic_lds;
  seen.stream = stream;
  // HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE, _END.
  EXPECT_EQ(extra[0], reinterpret_cast<void *>(1));
  EXPECT_EQ(extra[2], reinterpret_cast<void *>(2));
  EXPECT_EQ(extra[4], reinterpret_cast<void *>(3));
  seen.size = *static_cast<size_t *>(extra[3]);
  EXPECT_EQ(seen.size, sizeof seen.arguments);
  std::memcpy(&seen.arguments, extra[1], sizeof seen.arguments);
  return code_of_launch;
}

class AotLauncher : public testing::Test {
protected:
  AotLauncher() {
    seen = {};
    code_of_launch = 0;
  }
  int launch(const float *x, int32_t n) {
    return vector_add_launch(&kernel, this, x, memory, memory, n, &error);
  }
  alignas(16) float memory[8] = {};
  nereid_aot_kernel kernel = {nullptr, nullptr, [](void *) { return 0; }, record_launch,
                              [](int) { return "text of HIP"; }};
  nereid_aot_error error = {};
};

TEST_F(AotLauncher, PassesGridBlockAndArguments) {
  ASSERT_EQ(launch(memory, 5000), NEREID_AOT_OK);
  EXPECT_EQ(seen.grid[0], 5u); // blocks of 1024
  EXPECT_EQ(seen.grid[1], 1u);
  EXPECT_EQ(seen.grid[2], 1u);
  EXPECT_EQ(seen.block[0], 256u);
  EXPECT_EQ(seen.block[1], 1u);
  EXPECT_EQ(seen.dynamic_lds, 0u);
  EXPECT_EQ(seen.stream, this);
  EXPECT_EQ(seen.arguments.x, memory);
  EXPECT_EQ(seen.arguments.n, 5000);
}

TEST_F(AotLauncher, RefusesWhatTheCodeCannotDo) {
  EXPECT_EQ(launch(memory + 1, 5000), NEREID_AOT_REFUSED);
  EXPECT_STREQ(error.message, "vector_add: x is not a multiple of 16");
  EXPECT_EQ(error.status, NEREID_AOT_REFUSED);
  EXPECT_EQ(launch(memory, 0), NEREID_AOT_REFUSED);
  EXPECT_STREQ(error.message, "vector_add: n is less than 1");
  EXPECT_EQ(launch(memory, -1), NEREID_AOT_REFUSED);
  EXPECT_EQ(vector_add_launch(&kernel, nullptr, memory + 1, memory, memory, 1, nullptr), NEREID_AOT_REFUSED);
  EXPECT_EQ(seen.count, 0);
}

TEST_F(AotLauncher, TellsWhatHipSaid) {
  code_of_launch = 700;
  EXPECT_EQ(launch(memory, 1), NEREID_AOT_HIP_FAILED);
  EXPECT_EQ(error.hip_code, 700);
  EXPECT_STREQ(error.message, "text of HIP");
}

TEST_F(AotLauncher, RefusesAKernelThatIsNotLoaded) {
  EXPECT_EQ(vector_add_load(nullptr, &error), NEREID_AOT_REFUSED);
  EXPECT_STREQ(error.message, "the kernel to load is NULL");
  const nereid_aot_kernel loaded = kernel;
  vector_add_unload(&kernel);
  EXPECT_EQ(launch(memory, 1), NEREID_AOT_REFUSED);
  EXPECT_STREQ(error.message, "the kernel is not loaded");
  vector_add_unload(&kernel);
  vector_add_unload(nullptr);
  EXPECT_EQ(vector_add_launch(nullptr, nullptr, memory, memory, memory, 1, &error), NEREID_AOT_REFUSED);
  kernel = loaded;
  EXPECT_EQ(launch(memory, 1), NEREID_AOT_OK);
  EXPECT_EQ(seen.count, 1);
}

TEST_F(AotLauncher, WithoutHipLoadsNothing) {
  nereid_aot_kernel loaded;
  std::memset(&loaded, 0xff, sizeof loaded); // as memory that nobody has written
  const int status = vector_add_load(&loaded, &error);
  if (status == NEREID_AOT_OK)
    GTEST_SKIP() << "there is a HIP here";
  EXPECT_TRUE(status == NEREID_AOT_NO_HIP || status == NEREID_AOT_HIP_FAILED) << status;
  EXPECT_STRNE(error.message, "");
  EXPECT_EQ(loaded.module, nullptr);
  vector_add_unload(&loaded);
}

} // namespace
