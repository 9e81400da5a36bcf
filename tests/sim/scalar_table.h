#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid::sim::test {

struct ScalarResult {
  uint64_t value;
  bool scc;
};

/// The instruction works on s[24:25] = a, s[26:27] = b and writes s20 or s[20:21].
struct ScalarCase {
  std::string text;
  std::function<ScalarResult(uint64_t a, uint64_t b)> expected;
  bool wide = false;
};

/// Runs the cases on all pairs of a list of values. SCC and s[20:21] are 0 before each.
void expect_scalars(const std::vector<ScalarCase> &cases);

inline uint32_t low(uint64_t v) { return static_cast<uint32_t>(v); }
inline int64_t sign(uint64_t v) { return static_cast<int32_t>(v); }
inline ScalarResult nonzero(uint32_t v) { return {v, v != 0}; }
inline ScalarResult nonzero64(uint64_t v) { return {v, v != 0}; }

} // namespace nereid::sim::test
