#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "nereid/nereid.h"

/// What saxpy works on (examples/external/saxpy.s).
namespace nereid::test {

inline constexpr int count = 1000;

inline std::vector<float> ramp(float first, float step) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = first + step * static_cast<float>(i);
  return values;
}

/// x = i/2, y = 100 - i before the launch.
struct SaxpyData {
  explicit SaxpyData(const Device &device)
      : x(device.upload(ramp(0, 0.5F)).value()), y(device.upload(ramp(100, -1)).value()) {}
  void expect(float a) const {
    const std::vector<float> result = y.to_host().value();
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(result[i], a * 0.5F * i + (100.0F - i)) << i;
  }
  Buffer<float> x, y;
  ModuleLaunchShape shape{.grid = {(count + 255) / 256}, .block = {256}};
};

} // namespace nereid::test
