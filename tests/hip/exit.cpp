// What static objects hold of a GPU when the process ends.
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/hip/hip_support.h"

namespace nereid::test {
namespace {

/// Destroyed after what is declared below it: ends the process with 3 where HIP was called although it may be
/// gone.
struct Watch {
  bool armed = false;
  ~Watch() {
    for (const char *function : {"hipModuleUnload", "hipFree", "hipStreamDestroy", "hipEventDestroy",
                                 "hipGraphDestroy", "hipMemPoolDestroy"})
      if (armed && nereid_hip_calls(function) != 0)
        _exit(3);
  }
};

struct Held {
  std::optional<Device> device;
  std::optional<Stream> stream;
  std::optional<Event> event;
  std::optional<Graph> graph;
  Buffer<float> buffer, pooled;
};

Watch watch;
Held held;

TEST(HipAtExit, IsLeftAloneByWhatIsDestroyedAfterIt) {
  const auto hold_and_exit = [] {
    watch.armed = true;
    held.device = passing_hip_device().value();
    held.stream = held.device->new_stream().value();
    held.buffer = held.device->upload(std::vector<float>(100, 1.0F)).value();
    held.pooled = held.stream->allocate<float>(100).value();
    const Kernel kernel("add", add);
    const AddConfig config{.block = 128};
    const auto launched = kernel(*held.stream, {1}, config, held.buffer, held.buffer, held.pooled, 100);
    held.graph = held.stream->capture([]() -> Status { return {}; }).value();
    held.event = held.stream->record().value();
    std::exit(launched && held.stream->synchronize() ? 0 : 2);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(hold_and_exit(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace nereid::test
