#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <nereid/nereid.h>

/// What the ports share on the host: inputs, and the comparison with a reference in double precision.
namespace ports {

/// `count` values, uniform from -1 to below 1; one seed always gives the same.
template <class T = float> std::vector<T> uniform(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  while (values.size() < count)
    values.push_back(T(static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F));
  return values;
}

/// How many values are further than tolerance * (1 + |exact|) from the exact ones; a NaN always is.
template <class T>
int count_wrong(const std::vector<T> &values, const std::vector<double> &exact, double tolerance) {
  int wrong = values.size() == exact.size() ? 0 : 1;
  for (size_t i = 0; i < values.size() && i < exact.size(); ++i)
    wrong += !(std::fabs(double{static_cast<float>(values[i])} - exact[i]) <=
               tolerance * (1 + std::fabs(exact[i])));
  return wrong;
}

/// Prints what came of a port; its exit code.
inline int report(const char *name, const nereid::Device &device, const nereid::Result<int> &wrong) {
  if (!wrong) {
    std::fprintf(stderr, "%s\n", wrong.error().text().c_str());
    return 1;
  }
  std::printf("%s on %s, %d wrong\n", name, device.name().c_str(), *wrong);
  return *wrong == 0 ? 0 : 1;
}

} // namespace ports
