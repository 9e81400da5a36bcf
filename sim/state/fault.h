#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::sim {

/// The kinds of fault a run can end with.
enum class FaultKind : uint8_t {
  OutOfBounds,
  Undefined,
  RaceLds,
  RaceGlobal,
  Wait,
  Misaligned,
  Hazard,
  Barrier,
  NanScale,
  Budget,
  Unsupported,
  Trap,
};

/// "out_of_bounds", "undefined", ...: the words of the launch file's answer.
const char *fault_kind_name(FaultKind kind);

/// A fault as an instruction or a checker raises it on its wave.
struct RaisedFault {
  FaultKind kind;
  int lane; ///< -1: the whole wave
  std::string text;
  std::optional<uint64_t> memory = {}; ///< the address that cannot be accessed
};

} // namespace nereid::sim
