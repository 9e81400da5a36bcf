// Exceptions end at the C API: every allocation of a call fails in turn. This program's operator new is that
// of the library too.
#include <nereid/c_api.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

/// Allocations of this thread until one fails; negative: none does.
thread_local long allocations_left = -1;

void *allocate(size_t size) {
  if (allocations_left == 0)
    return nullptr;
  if (allocations_left > 0)
    --allocations_left;
  return std::malloc(size ? size : 1);
}

} // namespace

void *operator new(size_t size) {
  if (void *memory = allocate(size))
    return memory;
  throw std::bad_alloc();
}
void *operator new[](size_t size) { return operator new(size); }
// What asks for memory that it can do without does not fail: the call would succeed.
void *operator new(size_t size, const std::nothrow_t &) noexcept { return std::malloc(size ? size : 1); }
void *operator new[](size_t size, const std::nothrow_t &tag) noexcept { return operator new(size, tag); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace {

/// Repeats a call with its first, second, ... allocation failing until it succeeds; gives how often it
/// failed.
template <class Call> long failures_of(const Call &call) {
  for (long allowed = 0;; ++allowed) {
    allocations_left = allowed;
    const nereid_status status = call();
    allocations_left = -1;
    if (status == NEREID_OK)
      return allowed;
    EXPECT_EQ(status, NEREID_ENVIRONMENT_ERROR) << nereid_last_error()->message;
    EXPECT_STREQ(nereid_last_error()->message, "the host has not enough memory");
    if (allowed > 1000 || testing::Test::HasFailure())
      return -1;
  }
}

TEST(CApiExceptions, AFailedAllocationIsAnErrorOfTheEnvironment) {
  nereid_device *device = nullptr;
  EXPECT_GT(failures_of([&] { return nereid_device_open("sim", 0, &device); }), 0);
  nereid_buffer *buffer = nullptr;
  EXPECT_GT(failures_of([&] { return nereid_buffer_create(device, 64, &buffer); }), 0);
  nereid_stream *stream = nullptr;
  EXPECT_GT(failures_of([&] { return nereid_stream_create(device, &stream); }), 0);
  nereid_mxfp4_linear *linear = nullptr;
  EXPECT_GT(failures_of([&] { return nereid_mxfp4_linear_create(device, &linear); }), 0);
  // Nothing was lost on the way.
  EXPECT_EQ(nereid_buffer_fill(buffer, 1), NEREID_OK);
  nereid_mxfp4_linear_destroy(linear);
  nereid_stream_destroy(stream);
  nereid_buffer_destroy(buffer);
  nereid_device_close(device);
}

TEST(CApiExceptions, AlsoWhereTheCallFailsAnyhow) {
  nereid_device *device = nullptr;
  for (long allowed = 0; allowed < 20; ++allowed) {
    allocations_left = allowed;
    const nereid_status status =
        nereid_device_open("a device of a name that is too long for a short string", 0, &device);
    allocations_left = -1;
    EXPECT_TRUE(status == NEREID_ENVIRONMENT_ERROR || status == NEREID_USER_ERROR) << status;
    EXPECT_STRNE(nereid_last_error()->message, "");
  }
}

} // namespace
