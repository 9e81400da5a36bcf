#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/launch/launch_state.h"
#include "sim/ops/matrix/matrix.h"
#include "sim/state/effects.h"
#include "sim/state/instruction.h"

namespace nereid::sim {

class Program;

/// How marks on data (undefined bits, e8m0 NaN) get from an instruction's sources to its results.
struct Flow {
  enum class Kind : uint8_t {
    None,             ///< reads and writes no data that could be marked
    VectorArithmetic, ///< a marked bit in a lane's sources marks the lane's whole result
    VectorMove,       ///< the instruction moves bits: it is executed on the planes
    VectorLogic,      ///< bit by bit, by a truth table
    ScalarArithmetic,
    ScalarMove,
    ScalarLogic,
    BitTest, ///< s_bitcmp: one bit goes to SCC
    Matrix,  ///< by rows and columns
    VectorMemory,
    ScalarMemory,
    Branch, ///< on a bit or on an address
  };
  /// What else a vector result of several elements depends on than the sources of its lane.
  enum class Elements : uint8_t {
    Whole,        ///< all of it on all sources
    Halves,       ///< each half on the same half of the sources
    Words,        ///< each word on the same word of the sources
    Upward,       ///< the low word on low words: what is above does not carry down
    SourceByHalf, ///< the low half on the first source, the high half on the second
  };

  Kind kind = Kind::None;
  Elements elements = Elements::Whole;
  uint8_t control = 0;        ///< bit k: source k steers (a shift amount, a selector), it is no data
  uint8_t table = 0;          ///< VectorLogic, ScalarLogic: bit 4a + 2b + c is the result
  bool shifts_first = false;  ///< v_lshl_or: the first source is shifted by the second before the table
  bool same_sources = false;  ///< the first two sources are the same register
  bool all_lanes = false;     ///< inactive lanes count too
  bool keeps_lanes = false;   ///< some active lanes of the result may stay as they are
  bool is_choice = false;     ///< v_cndmask: bits in which both choices agree do not depend on the selector
  bool perm_selector = false; ///< v_perm
  bool implicit_mask = false; ///< reads VCC by lanes without naming it (v_div_fmas)
  bool converts = false;      ///< a typed load or store
  bool loads = false;         ///< registers or LDS from memory
  bool is_atomic = false;
  bool product = false; ///< v_cvt_scalef32 from a small format: multiplies by its last source
  bool writes_exec = false;
  bool reads_scc = false;
  bool writes_scc = false;
  bool is_sparse = false;           ///< v_smfmac
  bool is_wide = false;             ///< scalar operands of 64 bits
  uint32_t replaced = ~uint32_t{0}; ///< bits of the result registers that do not keep their value
  uint32_t results = ~uint32_t{0};  ///< those of them that depend on the sources
  std::array<uint32_t, 3> used{~uint32_t{0}, ~uint32_t{0}, ~uint32_t{0}}; ///< bits of a source that count

  /// Vector registers: all that are read as data or to steer, and those that are written.
  std::vector<RegisterRange> reads;
  std::vector<RegisterRange> writes;
  /// Of the reads, those that no source operand names: the rest of tuples, implicit ones.
  std::vector<RegisterRange> more;
  /// Memory: what holds addresses, and what is stored.
  std::vector<RegisterRange> addresses;
  std::vector<RegisterRange> data;
  uint32_t stored = ~uint32_t{0}; ///< bits of the data registers that are
  std::array<uint64_t, 2> scalar_data{};
  std::array<uint64_t, 2> scalar_reads{};
  std::array<uint64_t, 2> scalar_writes{};
  /// The instruction as it is executed on a plane: constants are 0, there are no signs and no modifiers of
  /// the result.
  Instruction on_plane;
  MatrixShape shape{};
};

/// The flows of a program's instructions, by index.
struct FlowTable {
  explicit FlowTable(const Program &program);

  std::vector<Flow> flows;
  unsigned last_vector = 0; ///< the highest vector register that is named
};

/// The flows of a launch's program; the first call makes them.
const FlowTable &flows_of(LaunchState &state);

} // namespace nereid::sim
