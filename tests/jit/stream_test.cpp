// Copies, memory and events in the order of streams; streams and memory of others; two devices.
#include "tests/jit/each_device.h"
#include "tests/jit/sample_kernels.h"

namespace nereid::test {
namespace {

class StreamOn : public EachDevice {};

TEST_P(StreamOn, CopiesAndFillsInItsOrder) {
  Buffer<uint16_t> a = device().allocate<uint16_t>(6).value(), b = device().allocate<uint16_t>(6).value();
  const std::vector<uint16_t> data{1, 2, 3};
  std::vector<uint16_t> result(6);
  ASSERT_TRUE(a.fill_async(stream(), 0x0102));
  ASSERT_TRUE(a.copy_from_host_async(stream(), data, 2));
  ASSERT_TRUE(a.fill_async(stream(), 7, 5, 1));
  ASSERT_TRUE(b.fill_async(stream(), 0xffff));
  ASSERT_TRUE(b.copy_from_async(stream(), a, 4, 1, 2));
  ASSERT_TRUE(b.copy_to_host_async(stream(), result));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(a.to_host().value(), (std::vector<uint16_t>{0x0102, 0x0102, 1, 2, 3, 7}));
  EXPECT_EQ(result, (std::vector<uint16_t>{0xffff, 1, 2, 3, 7, 0xffff}));
}

TEST_P(StreamOn, FillsValuesOfEverySize) {
  Buffer<uint8_t> bytes = device().allocate<uint8_t>(3).value();
  Buffer<float> words = device().allocate<float>(3).value();
  ASSERT_TRUE(bytes.fill_async(stream(), 0xa5));
  ASSERT_TRUE(words.fill_async(stream(), -1.5F));
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(bytes.to_host().value(), (std::vector<uint8_t>{0xa5, 0xa5, 0xa5}));
  EXPECT_EQ(words.to_host().value(), (std::vector<float>{-1.5F, -1.5F, -1.5F}));
}

TEST_P(StreamOn, RefusesCopiesThatDoNotFitAndBuffersOfOthers) {
  Buffer<int> buffer = device().allocate<int>(4).value(), larger = device().allocate<int>(8).value();
  const std::vector<int> data(3);
  std::vector<int> result(3);
  EXPECT_USER_ERROR(buffer.copy_from_host_async(stream(), data, 2), "exceeds a buffer of 4 elements");
  EXPECT_USER_ERROR(buffer.copy_to_host_async(stream(), result, 2), "exceeds a buffer of 4 elements");
  EXPECT_USER_ERROR(buffer.fill_async(stream(), 0, 4, 1), "exceeds a buffer of 4 elements");
  EXPECT_USER_ERROR(buffer.copy_from_async(stream(), larger, 5), "exceeds a buffer of 4 elements");
  EXPECT_USER_ERROR(larger.copy_from_async(stream(), buffer, 5), "exceeds a buffer of 4 elements");
  const Device other = Device::simulator();
  EXPECT_USER_ERROR(buffer.fill_async(other.stream(), 0), "another device than the stream");
  EXPECT_TRUE(buffer.copy_from_host_async(stream(), {}, 4));
}

TEST_P(StreamOn, GivesMemoryOfThePool) {
  const uint64_t before = device().pool_use().value().used;
  {
    Buffer<float> buffer = stream().allocate<float>(1000).value();
    EXPECT_EQ(buffer.size(), 1000U);
    ASSERT_TRUE(buffer.fill_async(stream(), 2.0F));
    ASSERT_TRUE(stream().synchronize());
    EXPECT_EQ(buffer.to_host().value(), std::vector<float>(1000, 2.0F));
    const PoolUse use = device().pool_use().value();
    EXPECT_GE(use.used, before + 4000);
    EXPECT_GE(use.reserved, use.used);
  }
  ASSERT_TRUE(stream().synchronize());
  EXPECT_EQ(device().pool_use().value().used, before);
  ASSERT_TRUE(device().trim_pool());
  EXPECT_USER_ERROR(stream().allocate<int>(SIZE_MAX / 4 + 2), "larger than an address space");
}

TEST_P(StreamOn, SaysHowMuchMemoryThereIsWhenItIsNotEnough) {
  const std::string amount = std::to_string(uint64_t{1} << 50) + " bytes asked, ";
  for (const Status &refused :
       {Status([&] { return device().allocate(uint64_t{1} << 50); }().error()),
        Status([&] { return stream().allocate<std::byte>(uint64_t{1} << 50); }().error())}) {
    EXPECT_USER_ERROR(refused, amount);
    EXPECT_NE(refused.error().message.find(" in use"), std::string::npos) << refused.error().text();
    EXPECT_EQ(refused.error().remedy, "Free buffers or use smaller ones");
  }
}

TEST_P(StreamOn, WaitsForEventsOfOtherStreams) {
  const Stream other = device().new_stream().value();
  Buffer<int> buffer = device().allocate<int>(4).value();
  ASSERT_TRUE(buffer.fill_async(stream(), 3));
  const Event filled = stream().record().value();
  ASSERT_TRUE(other.wait(filled));
  std::vector<int> result(4);
  ASSERT_TRUE(buffer.copy_to_host_async(other, result));
  const Event read = other.record().value();
  // Waits for both, in either order.
  EXPECT_GE(filled.milliseconds_until(read).value(), 0.0);
  EXPECT_LE(read.milliseconds_until(filled).value(), 0.0);
  EXPECT_EQ(result, (std::vector<int>{3, 3, 3, 3}));
}

TEST_P(StreamOn, WaitsForBothOfTwoEvents) {
  Buffer<int> buffer = device().allocate<int>(1000).value();
  ASSERT_TRUE(buffer.fill_async(stream(), 3));
  const Event here = stream().record().value();
  // Of a stream that may be done when the first is not.
  const Event there = device().new_stream()->record().value();
  EXPECT_TRUE(here.milliseconds_until(there));
}

TEST_P(StreamOn, RefusesEventsOfAnotherDevice) {
  const Device elsewhere = Device::simulator();
  const Event here = stream().record().value(), there = elsewhere.stream().record().value();
  EXPECT_USER_ERROR(here.milliseconds_until(there), "events of two devices");
  EXPECT_USER_ERROR(there.milliseconds_until(here), "events of two devices");
  EXPECT_USER_ERROR(stream().wait(there), "an event of another device");
}

TEST_P(StreamOn, LaunchesOnMemoryOfOthers) {
  const int n = 700;
  // Stands for memory of another library.
  Buffer<float> theirs = device().upload(std::vector<float>(n, 2.0F)).value();
  const void *address = reinterpret_cast<const void *>(theirs.address());
  {
    Buffer<float> x = device().external_buffer<float>(address, n).value();
    EXPECT_EQ(x.address(), theirs.address());
    EXPECT_EQ(x.size(), static_cast<size_t>(n));
    Buffer<float> z = device().allocate<float>(n).value();
    const Kernel kernel("add", add);
    const AddConfig config{.block = 512};
    ASSERT_TRUE(kernel(stream(), {programs(n, config)}, config, x, device_pointer<float>(address), z, n));
    ASSERT_TRUE(stream().synchronize());
    EXPECT_EQ(z.to_host().value(), std::vector<float>(n, 4.0F));
  }
  // It is still there.
  EXPECT_EQ(theirs.to_host().value(), std::vector<float>(n, 2.0F));
  EXPECT_USER_ERROR(device().external_buffer<float>(nullptr, 1), "null");
  EXPECT_TRUE(device().external_buffer<float>(nullptr, 0));
}

TEST_P(StreamOn, HasTheDeviceProperties) {
  const DeviceProperties properties = device().properties();
  EXPECT_EQ(properties.architecture.substr(0, 6), "gfx950");
  EXPECT_EQ(properties.compute_units, 256U);
  EXPECT_EQ(properties.wave_size, 64U);
  EXPECT_EQ(properties.lds_bytes, 160U * 1024);
  EXPECT_GT(properties.memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(properties.clock_mhz, 2400U);
}

NEREID_ON_EACH_DEVICE(StreamOn);

TEST(ExternalStream, IsTheSameForTheSameHandle) {
  const Device device = Device::simulator();
  int first = 0, second = 0;
  const Stream a = device.external_stream(&first).value(), b = device.external_stream(&first).value();
  const Stream other = device.external_stream(&second).value();
  EXPECT_EQ(a.state(), b.state());
  EXPECT_NE(a.state(), other.state());
  const Stream null = device.external_stream(nullptr).value(), usual = device.stream();
  EXPECT_EQ(null.state(), usual.state());
  ASSERT_TRUE(a.capture([&]() -> Status {
    EXPECT_TRUE(b.is_capturing().value());
    EXPECT_FALSE(other.is_capturing().value());
    return {};
  }));
}

TEST(ExternalMemory, OfTheSimulatorLiesInOneOfItsBuffers) {
  const Device device = Device::simulator();
  const Buffer<int> buffer = device.allocate<int>(10).value();
  const auto at = [&](int element) { return reinterpret_cast<const void *>(buffer.at(element).address); };
  EXPECT_TRUE(device.external_buffer<int>(at(3), 7));
  EXPECT_USER_ERROR(device.external_buffer<int>(at(3), 8), "32 bytes is not within a buffer");
  const int host = 0;
  EXPECT_USER_ERROR(device.external_buffer<int>(&host, 1), "is not within a buffer");
}

TEST(TwoDevices, CopyButSimulatorsHaveNoAccess) {
  const Device one = Device::simulator(), two = Device::simulator();
  const Buffer<int> from = one.upload(std::vector<int>{1, 2, 3}).value();
  Buffer<int> to = two.allocate<int>(3).value();
  ASSERT_TRUE(to.copy_from_async(two.stream(), from, 3));
  EXPECT_EQ(to.to_host().value(), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(one.can_access(one).value());
  EXPECT_FALSE(one.can_access(two).value());
  EXPECT_TRUE(one.enable_access(one));
  const Status refused = one.enable_access(two);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().owner, Owner::Environment);
}

} // namespace
} // namespace nereid::test
