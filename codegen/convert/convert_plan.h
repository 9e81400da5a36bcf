#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "codegen/layout/linear_layout.h"
#include "codegen/target/gfx950.h"

/// How a value gets from one layout to another. A plan is a list of steps; each takes the registers of all
/// lanes and gives new ones. Emitting a step needs no knowledge of the layouts.
namespace nereid::codegen {

/// new[r] = old[source[r]], in every lane.
struct RenameStep {
  std::vector<uint32_t> source;
};

/// new[r] = old[r ^ reg_xor] where the number of ones in (lane & lane_mask) and (wave & wave_mask) together
/// is odd, else old[r]. Without a lane mask the condition is uniform in a wave.
struct SelectStep {
  uint32_t lane_mask = 0;
  uint32_t wave_mask = 0;
  uint32_t reg_xor = 0;
};

/// new[r] of lane l is old[r] of lane `source_lane(r, l, wave)`. Groups of 2^pack_bits neighbouring registers
/// share their source lane: 32-bit words can carry them.
struct ShuffleStep {
  std::vector<uint32_t> lane_bases; ///< what each bit of the lane adds (xor) to the source lane
  std::vector<uint32_t> wave_bases;
  std::vector<uint32_t> register_bases;
  unsigned pack_bits = 0;

  uint32_t source_lane(uint32_t reg, uint32_t lane, uint32_t wave) const;
};

/// Swaps register bit `reg_bit` and lane bit `lane_bit`: where the two bits differ, new[r] of lane l is
/// old[r ^ 2^reg_bit] of lane l ^ 2^lane_bit. v_permlane16_swap (bit 4) or v_permlane32_swap (bit 5) with the
/// register whose bit is 0 as destination and its partner as source; below, within a row, one DPP instruction
/// for each of the two. Packing as in ShuffleStep.
struct SwapStep {
  unsigned reg_bit = 0;
  unsigned lane_bit = 5;
  unsigned pack_bits = 0;
};

/// One LDS instruction of each lane. Its first element has the offset (all in elements)
/// (xor_offset ^ the lane's and wave's bases) + add_offset + the wave's repeats; `registers` follow each
/// other.
struct LdsAccess {
  std::vector<uint32_t> registers;
  uint32_t xor_offset = 0;
  uint32_t add_offset = 0;
  unsigned pass = 0;
};

/// All writes or all reads of an exchange through LDS.
struct LdsSide {
  /// wave digit (wave >> wave_bases.size()) / divisor % count adds stride elements.
  struct WaveRepeat {
    uint32_t divisor;
    uint32_t count;
    uint32_t stride;
  };

  unsigned access_bytes = 0; ///< 1, 2, 4, 8 or 16
  std::vector<uint32_t> lane_bases;
  std::vector<uint32_t> wave_bases;
  std::vector<WaveRepeat> wave_repeats;
  std::vector<LdsAccess> accesses; ///< ordered by pass
  unsigned cycles = 0;             ///< of the LDS for one access of a wave, bank conflicts included

  /// Element offset of an access.
  uint32_t offset(const LdsAccess &access, uint32_t lane, uint32_t wave) const;
  /// The offset bits that lane and wave bases reach. Only these of an access's xor_offset need an xor; the
  /// rest can be added, as an immediate.
  uint32_t thread_bits() const;
};

/// For each pass: writes, barrier, reads (and a barrier before the next pass writes). new[r] is what `read`
/// names; `registers` of them.
struct LdsStep {
  unsigned element_bytes = 0;
  uint32_t elements = 0; ///< of the region in LDS
  uint32_t registers = 0;
  unsigned passes = 1;
  /// Some wave reads what another wrote. Else every wave reads only what it wrote itself and no barrier is
  /// needed, only the order of one wave's accesses.
  bool crosses_waves = true;
  /// Bits of the lane and wave number whose positions write only what the positions with 0 there write too.
  uint32_t redundant_lanes = 0;
  uint32_t redundant_waves = 0;
  LdsSide write, read;

  uint32_t bytes() const { return elements * element_bytes; }
};

using ConversionStep = std::variant<RenameStep, SelectStep, ShuffleStep, SwapStep, LdsStep>;

/// How far a conversion moves data.
enum class ConversionKind {
  None,      ///< nothing to do
  Registers, ///< one RenameStep
  Lanes,     ///< selects, shuffles and swaps inside waves
  Lds,       ///< one LdsStep and perhaps renames
};

/// "none", "registers", "lanes", "lds".
const char *kind_name(ConversionKind kind);

struct ConversionPlan {
  ConversionKind kind = ConversionKind::None;
  std::vector<ConversionStep> steps;
  unsigned cost = 0; ///< estimated clocks of a wave, for comparing plans

  /// The LDS bytes that the plan needs.
  uint32_t lds_bytes() const;
  /// One line a step.
  std::string text() const;
};

struct ConversionOptions {
  uint32_t lds_limit = gfx950::lds_bytes; ///< a larger exchange is done in passes
  bool allow_lanes = true;                ///< consider Lanes at all
  bool allow_lds = true;                  ///< prefer LDS where it is cheaper than Lanes
};

/// The cheapest known plan from `from` to `to`. Both have the same shape, lane bits and wave count; `from`
/// must hold every element, either may broadcast; the nearest holder is taken (same lane, then same wave).
/// Elements of less than 8 bits are moved as bytes. Error (Nereid's) when `from` lacks elements or when the
/// limit cannot be met by passes.
Result<ConversionPlan> plan_conversion(const LinearLayout &from, const LinearLayout &to,
                                       unsigned element_bits, const ConversionOptions &options = {});

} // namespace nereid::codegen
