#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/problem_size.h"

/// What a launch of a kernel needs in addition to its size, for launches without a caller's operands: those
/// that a report simulates.
namespace nereid::kernels {

/// A number of a launch that neither the config C nor the size say, such as heads or experts: a member of the
/// operands O.
template <class C, class O> struct LaunchNumber {
  std::string_view name;
  void (*set)(O &operands, int64_t value);
  int64_t (*usual)(const C &config); ///< where nobody gives another
};

/// What an operand of indices holds.
struct OperandContents {
  std::string_view name;
  std::vector<std::byte> bytes;
};

/// Indices with which all programs of a launch have work; in other operands zeros serve.
struct LaunchIndices {
  std::string_view words; ///< for reports: "rows in equal shares to all experts"
  std::vector<OperandContents> operands;
};

/// The contents of an operand whose elements are `values`.
template <class T> OperandContents contents_of(std::string_view name, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {name, {bytes.begin(), bytes.end()}};
}

} // namespace nereid::kernels
