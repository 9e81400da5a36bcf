// Devices by name, and what buffers copy and refuse.
#include "nereid/nereid.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(Device, BestIsAlwaysTheSame) { EXPECT_EQ(Device::best(), Device::best()); }

TEST(Device, HipSaysWhyItIsNotThere) {
  auto gpu = Device::hip(1000000);
  ASSERT_FALSE(gpu);
  EXPECT_FALSE(gpu.error().message.empty());
  EXPECT_TRUE(gpu.error().owner == Owner::Environment || gpu.error().owner == Owner::User);
}

TEST(Device, AllKindsAreListed) {
  const auto all = devices();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "hip");
  EXPECT_EQ(all[1].name, "sim");
  EXPECT_TRUE(all[1].available);
  EXPECT_FALSE(all[0].detail.empty());
  EXPECT_EQ(Device::best().kind() == DeviceKind::Hip, all[0].available);
}

TEST(Device, IsFoundByName) {
  EXPECT_EQ(Device::named("sim")->kind(), DeviceKind::Simulator);
  EXPECT_EQ(*Device::named("auto"), Device::best());
  auto unknown = Device::named("cuda");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().owner, Owner::User);
}

TEST(Buffer, CopiesBothWays) {
  const Device device = Device::simulator();
  auto buffer = device.allocate<int>(10);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->size(), 10u);
  EXPECT_EQ(buffer->bytes(), 40u);
  EXPECT_EQ(buffer->address() % 256, 0u);
  ASSERT_TRUE(buffer->fill(0x01020304));
  ASSERT_TRUE(buffer->copy_from_host(std::vector<int>{7, 8}, 3));
  EXPECT_EQ(buffer->to_host().value(), (std::vector<int>{0x01020304, 0x01020304, 0x01020304, 7, 8, 0x01020304,
                                                         0x01020304, 0x01020304, 0x01020304, 0x01020304}));
  ASSERT_TRUE(buffer->fill(-1));
  std::vector<int> two(2);
  ASSERT_TRUE(buffer->copy_to_host(two, 8));
  EXPECT_EQ(two, (std::vector<int>{-1, -1}));
}

TEST(Buffer, RefusesCopiesThatDoNotFit) {
  const Device device = Device::simulator();
  auto buffer = device.allocate<int>(10).value();
  // In bytes the last two wrap to 0 and to 8.
  for (size_t first : {size_t{9}, size_t{10}, SIZE_MAX / 4, SIZE_MAX / 4 + 1, SIZE_MAX / 4 + 3}) {
    const std::string expected = "a copy of 2 elements from element " + std::to_string(first) +
                                 " on exceeds a buffer of 10 elements of 4 bytes";
    const Status in = buffer.copy_from_host(std::vector<int>{7, 8}, first);
    ASSERT_FALSE(in);
    EXPECT_EQ(in.error().owner, Owner::User);
    EXPECT_EQ(in.error().message, expected);
    std::vector<int> two(2);
    const Status out = buffer.copy_to_host(two, first);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message, expected);
  }
  // A count of bytes that wraps to 8.
  const std::vector<int> two(2);
  const Status many = buffer.copy_from_host(std::span<const int>(two.data(), SIZE_MAX / 4 + 3));
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("a copy of 4611686018427387906 elements"), std::string::npos);
  EXPECT_TRUE(buffer.copy_from_host(std::vector<int>{}, 10));
}

TEST(Buffer, TooLargeIsAnError) {
  const Device device = Device::simulator({.memory = 1 << 20});
  EXPECT_TRUE(device.allocate(1 << 19));
  const auto refusal = [](const auto &buffer) {
    EXPECT_FALSE(buffer);
    EXPECT_TRUE(buffer || buffer.error().owner == Owner::User);
    return buffer ? "" : buffer.error().message;
  };
  EXPECT_NE(refusal(device.allocate(1 << 21)).find("2097152 bytes asked"), std::string::npos);
  EXPECT_NE(refusal(device.allocate(SIZE_MAX)).find("18446744073709551615 bytes asked"), std::string::npos);
  EXPECT_EQ(refusal(device.allocate<int>(SIZE_MAX / 2)),
            "a buffer of 9223372036854775807 elements of 4 bytes "
            "is larger than an address space of 2^64 bytes");
  // In bytes this wraps to 4.
  EXPECT_EQ(
      refusal(device.allocate<int>(SIZE_MAX / 4 + 2)),
      "a buffer of 4611686018427387905 elements of 4 bytes is larger than an address space of 2^64 bytes");
}

TEST(DevicePointer, MovesByElementsAndStopsAtTheEndOfAddresses) {
  const DevicePointer<int> p{4096};
  EXPECT_EQ((p + 3).address, 4108u);
  EXPECT_EQ((p + -3).address, 4084u);
  EXPECT_EQ((p + INT64_MAX).address, jit::no_address);
  EXPECT_EQ((p + INT64_MIN).address, jit::no_address);
  EXPECT_EQ((p + -1025).address, jit::no_address);
  const Device device = Device::simulator();
  const Buffer<int> buffer = device.allocate<int>(10).value();
  EXPECT_EQ(buffer.at(3).address, buffer.address() + 12);
  // In bytes this wraps to 4.
  EXPECT_EQ(buffer.at(SIZE_MAX / 4 + 2).address, jit::no_address);
}

TEST(Buffer, LengthsAreCheckedByName) {
  const Device device = Device::simulator();
  auto buffer = device.allocate<int>(10).value();
  EXPECT_TRUE(require_elements("a", buffer, 10));
  const Status shorter = require_elements("a", buffer, 11);
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().owner, Owner::User);
  EXPECT_NE(shorter.error().message.find("'a'"), std::string::npos);
  const Status null = require_elements("b", Buffer<int>(), 1);
  ASSERT_FALSE(null);
  EXPECT_NE(null.error().message.find("null"), std::string::npos);
}

TEST(Event, MeasuresTime) {
  const Stream stream = Device::simulator().stream();
  auto start = stream.record(), end = stream.record();
  ASSERT_TRUE(start && end);
  EXPECT_GE(start->milliseconds_until(*end).value(), 0.0);
}

} // namespace
} // namespace nereid
