// Processes forked while other threads compile: their kernels compile, or they say why not; none waits for a
// lock that nobody holds any more.
#include <condition_variable>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

/// Where a kernel function waits while it is traced, which is a part of building it.
class Gate {
public:
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    arrived_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool arrived_ = false, open_ = false;
};

Gate gate;

void slow(const AddConfig &c, Ptr<f32> z) {
  gate.arrive_and_wait();
  store(z + arange(0, c.block), zeros<f32>({c.block}));
}

void fast(const AddConfig &c, Ptr<f32> z) { store(z + arange(0, c.block), full<f32>({c.block}, 7)); }

enum class ChildSaid { Right, ForkedWhileBuilding, SomethingElse };

ChildSaid launch_in_child() {
  const Device device = Device::simulator({.threads = 1});
  const auto z = device.allocate<float>(256);
  const auto run = Kernel("fast", fast)(device.stream(), {1}, AddConfig{.block = 256}, *z);
  if (run)
    return z->to_host().value() == std::vector<float>(256, 7.0F) ? ChildSaid::Right
                                                                 : ChildSaid::SomethingElse;
  const Error error = run.error();
  const bool expected = error.owner == Owner::Environment &&
                        error.message.find("forked while another thread compiled") != std::string::npos;
  return expected ? ChildSaid::ForkedWhileBuilding : ChildSaid::SomethingElse;
}

/// What a child of this process says of its launch; one that hangs is killed and said nothing.
ChildSaid fork_and_launch() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(static_cast<int>(launch_in_child()));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? static_cast<ChildSaid>(WEXITSTATUS(status)) : ChildSaid::SomethingElse;
}

TEST(Fork, AChildIsToldThatOthersCompiled) {
  ScopedEnvironment off("NEREID_CACHE_DIR", "off");
  EXPECT_EQ(fork_and_launch(), ChildSaid::Right);

  const Device device = Device::simulator({.threads = 1});
  const auto z = device.allocate<float>(256).value();
  std::thread other([&] {
    const auto run = Kernel("slow", slow)(device.stream(), {1}, AddConfig{.block = 256}, z);
    EXPECT_TRUE(run) << run.error().text();
  });
  gate.wait_for_arrival();
  EXPECT_EQ(fork_and_launch(), ChildSaid::ForkedWhileBuilding);
  const auto run = Kernel("fast", fast)(device.stream(), {1}, AddConfig{.block = 256}, z);
  EXPECT_TRUE(run) << "the parent goes on: " << run.error().text();
  gate.open();
  other.join();
  EXPECT_EQ(fork_and_launch(), ChildSaid::Right);
}

} // namespace
} // namespace nereid::test
