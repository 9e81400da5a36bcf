// A launch whose kernel is known allocates nothing, and what it hands to the device.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "jit/device/device_interface.h"
#include "tests/jit/sample_kernels.h"

namespace {
thread_local int allocations = 0;
}

// Not inlined: the compiler would take malloc and delete for a mismatch.
[[gnu::noinline]] void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new(size_t size, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace nereid::jit {
namespace {

/// Loads and launches nothing, so that what remains of a launch is Nereid's own part.
class IdleDevice final : public DeviceInterface {
public:
  DeviceKind kind() const override { return DeviceKind::Simulator; }
  std::string name() const override { return "idle"; }
  const DeviceProperties &properties() const override { return properties_; }
  Result<uint64_t> allocate(size_t) override { return uint64_t{4096}; }
  void free(uint64_t) override {}
  Result<uint64_t> allocate_in_order(StreamState *, size_t) override { return uint64_t{4096}; }
  void free_in_order(StreamState *, uint64_t) override {}
  Result<PoolUse> pool_use() override { return PoolUse(); }
  Status trim_pool(size_t) override { return {}; }
  Status check_memory(uint64_t, size_t) override { return {}; }
  Status write_async(StreamState *, uint64_t, const void *, size_t) override { return {}; }
  Status read_async(StreamState *, void *, uint64_t, size_t) override { return {}; }
  Status fill_async(StreamState *, uint64_t, FillPattern, size_t) override { return {}; }
  Status copy_async(StreamState *, uint64_t, DeviceInterface &, uint64_t, size_t) override { return {}; }
  Result<bool> can_access(const DeviceInterface &) override { return false; }
  Status enable_access(const DeviceInterface &) override { return {}; }
  Status write(uint64_t, const void *, size_t) override { return {}; }
  Status read(void *, uint64_t, size_t) override { return {}; }
  Status fill(uint64_t, uint8_t, size_t) override { return {}; }
  Result<HostMemory> host_memory() override { return HostMemory(); }
  Result<std::shared_ptr<StreamState>> new_stream() override { return std::make_shared<StreamState>(); }
  Result<std::shared_ptr<StreamState>> external_stream(void *) override { return new_stream(); }
  Status synchronize(StreamState *) override { return {}; }
  Status synchronize_all() override { return {}; }
  Result<std::shared_ptr<EventState>> record(StreamState *) override {
    return environment_error("no events");
  }
  Status wait(StreamState *, const EventState &) override { return {}; }
  Result<bool> is_capturing(StreamState *) override { return false; }
  Status begin_capture(StreamState &) override { return {}; }
  Result<std::shared_ptr<GraphState>> end_capture(StreamState &) override {
    return environment_error("no graphs");
  }
  Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &) override {
    return std::shared_ptr<const LoadedKernel>(std::make_shared<LoadedKernel>());
  }
  Result<LaunchOutcome> launch(StreamState *, const LaunchRequest &request) override {
    last_kernarg.assign(reinterpret_cast<const char *>(request.kernarg.data()), request.kernarg.size());
    return LaunchOutcome();
  }
  Result<std::shared_ptr<const LoadedModule>> load_module(std::span<const uint8_t>,
                                                          std::span<const KernelMetadata>) override {
    return environment_error("no modules");
  }
  Result<LaunchOutcome> launch_module(StreamState *, const ModuleLaunch &) override {
    return environment_error("no modules");
  }
  std::string last_kernarg = std::string(64, ' ');

private:
  DeviceProperties properties_;
};

void mixed(const test::AddConfig &, Ptr<f32> p, Int i, Long l, Float f) { store(p + i.to<i64>() + l, f); }

TEST(FastPath, AllocatesNothing) {
  auto idle = std::make_shared<IdleDevice>();
  const Device device(idle);
  const Stream stream = device.stream();
  const Kernel kernel("mixed", mixed);
  const DevicePointer<float> p{0x123400};
  for (int i : {2, 3}) {
    const int before = allocations;
    auto launched = kernel(stream, {7}, test::AddConfig{}, p, i, int64_t{5}, 1.0f);
    const int during = allocations - before;
    ASSERT_TRUE(launched) << launched.error().text();
    EXPECT_EQ(during == 0, i == 3) << during;
  }
}

TEST(Kernarg, HoldsArgumentsInOrderAtTheirAlignment) {
  auto idle = std::make_shared<IdleDevice>();
  const Kernel kernel("mixed", mixed);
  ASSERT_TRUE(kernel(Device(idle).stream(), {1}, test::AddConfig{}, DevicePointer<float>{0x1122334455667788},
                     -2, int64_t{0x0102030405060708}, 1.0f));
  EXPECT_EQ(idle->last_kernarg, std::string("\x88\x77\x66\x55\x44\x33\x22\x11"
                                            "\xfe\xff\xff\xff\0\0\0\0"
                                            "\x08\x07\x06\x05\x04\x03\x02\x01"
                                            "\0\0\x80\x3f",
                                            28));
}

} // namespace
} // namespace nereid::jit
