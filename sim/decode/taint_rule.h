#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/state/effects.h"
#include "sim/state/instruction.h"

namespace nereid::sim {

class Program;

/// How taint propagates through one instruction: what the row of its operation states, resolved for its
/// registers and modifiers.
struct TaintRule : Taint {
  bool same_sources = false; ///< the first two sources are the same register
  bool all_lanes = false;    ///< inactive lanes count too
  bool keeps_lanes = false;  ///< some active lanes of the result may stay as they are
  bool loads = false;        ///< registers or LDS from memory
  bool is_atomic = false;
  bool writes_exec = false;
  bool reads_scc = false;
  bool writes_scc = false;
  uint32_t replaced = ~uint32_t{0}; ///< bits of the result registers that do not keep their value
  uint32_t results = ~uint32_t{0};  ///< those of them that depend on the sources

  /// Vector registers: all that are read, as data or as control, and those that are written.
  std::vector<RegisterRange> reads;
  std::vector<RegisterRange> writes;
  /// Of the reads, those that no source operand names: the rest of tuples, implicit ones.
  std::vector<RegisterRange> unnamed;
  /// Memory: what holds addresses, and what is stored.
  std::vector<RegisterRange> addresses;
  std::vector<RegisterRange> data;
  uint32_t stored = ~uint32_t{0}; ///< bits of the data registers that are
  /// Scalar registers, a bit each.
  std::array<uint64_t, 2> scalar_data{};
  std::array<uint64_t, 2> scalar_reads{};
  std::array<uint64_t, 2> scalar_writes{};
  /// The instruction as it is executed on a shadow plane: constants are 0, there are no signs and no
  /// modifiers of the result.
  Instruction on_plane;
};

/// The rules of a program's instructions, by index.
struct TaintRules {
  explicit TaintRules(const Program &program);

  std::vector<TaintRule> rules;
  unsigned last_vector = 0; ///< the highest vector register that may be used
};

} // namespace nereid::sim
