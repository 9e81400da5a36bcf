#pragma once

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {

/// A test of every kind of device: of the simulator in test_jit, of HIP in test_hip, as NEREID_TEST_DEVICE
/// says.
class EachDevice : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    device_ = Device::named(GetParam()).value();
    stream_ = device_->new_stream().value();
  }
  const Device &device() const { return *device_; }
  const Stream &stream() const { return *stream_; }

private:
  std::optional<Device> device_;
  std::optional<Stream> stream_;
};

#define NEREID_ON_EACH_DEVICE(Suite)                                                                         \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, testing::Values(NEREID_TEST_DEVICE),                              \
                           [](const auto &test) { return std::string(test.param); })

/// The message of a status that has to be an error of the user.
#define EXPECT_USER_ERROR(status, expected)                                                                  \
  do {                                                                                                       \
    const auto &nereid_status = (status);                                                                    \
    ASSERT_FALSE(nereid_status.ok());                                                                        \
    EXPECT_EQ(nereid_status.error().owner, Owner::User) << nereid_status.error().text();                     \
    EXPECT_NE(nereid_status.error().message.find(expected), std::string::npos)                               \
        << nereid_status.error().text();                                                                     \
    EXPECT_FALSE(nereid_status.error().remedy.empty()) << nereid_status.error().text();                      \
  } while (false)

} // namespace nereid::test
