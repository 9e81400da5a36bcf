#pragma once

#include <cstdint>

#include "codegen/analysis/objection.h"
#include "codegen/assign/layout_choice.h"
#include "codegen/assign/register_groups.h"
#include "codegen/assign/transposed_read.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

/// A row-major tile in one buffer of LDS: how the workgroup's async copies bring it there, 16 bytes a lane.
/// The byte at row-major position p stands at `swizzled(p)`, an involution that is linear over GF(2), so that
/// it applies to the bases of the layouts of copies and reads alike. The swizzle of a copy is in which
/// elements its lanes fetch; where they put them follows the lanes. What an operand's instruction wants along
/// rows is read 16 bytes at a time, what it wants along columns by transposing reads.
class LdsImage {
public:
  static constexpr unsigned copy_bytes = gfx950::lds_copy_bytes; ///< of a lane; a read moves as many

  /// `copies`: lanes along memory, then waves. `home`: where the tile's elements are to be.
  LdsImage(const ir::Type &type, LinearLayout copies, LinearLayout home);
  /// By transposing reads.
  LdsImage(const ir::Type &type, LinearLayout copies, TransposedRead read);

  const LinearLayout &copies() const { return copies_; }
  /// The layout by which lanes address their reads.
  const LinearLayout &reads() const { return reads_; }
  bool transposes() const { return transposed_elements_ != 0; }
  /// Reads that bring 16 bytes to a lane; each begins so many registers behind the one before it.
  unsigned reads_of_group() const { return transposes() ? copy_bytes / TransposedRead::bytes : 1; }
  unsigned elements_of_read() const { return copy_bytes / element_bytes_ / reads_of_group(); }
  unsigned bytes() const { return bytes_; }
  LinearLayout swizzled(const LinearLayout &layout) const;
  uint64_t swizzled(uint64_t flat) const;
  /// Bytes that a register adds to the position of its lane, in copies (not swizzled) and in reads. An odd
  /// factor of the rows lies outside of the swizzled block.
  uint32_t copy_offset(uint32_t reg) const { return offset(copies_, reg, false); }
  uint32_t read_offset(uint32_t reg) const { return offset(reads_, reg, true); }
  /// Gives both images of one tile the same swizzle, so that they can be the same bytes: that of transposing
  /// reads and, for the rows that it leaves alone, what keeps the other reads apart in the banks.
  static void unite(LdsImage &a, LdsImage &b);
  unsigned element_bytes() const { return element_bytes_; }

private:
  uint32_t offset(const LinearLayout &layout, uint32_t reg, bool swizzles) const;

  LdsImage(const ir::Type &type, LinearLayout copies, LinearLayout reads, unsigned transposed_elements);
  void swizzle_rows();
  void swizzle_transposed_rows();
  unsigned read_clocks() const;
  uint64_t parts() const { return row_elements_ * element_bytes_ / copy_bytes; }

  LinearLayout copies_, reads_;
  unsigned transposed_elements_;    ///< log2 of those of a transposing read, or 0
  std::vector<uint64_t> row_parts_; ///< by bit of a row's number: which 16-byte parts of a row it exchanges
  uint64_t row_elements_;
  unsigned element_bytes_;
  unsigned bytes_;
};

/// Whether a load's tile should come through LDS: it is to be transposed there, or several waves want the
/// same elements and one load of a wave gathers runs shorter than a cache line.
bool wants_lds(const FunctionIndex &index, const AxisAnalysis &axes, const LayoutChoice &layouts,
               const ir::Op &load);

/// Objections: the tile is no row-major matrix of 64 to 1024 bytes a row, its accesses are narrower than a
/// copy, it is smaller than one copy instruction of each wave.
Decision<LdsImage> choose_lds_image(const FunctionIndex &index, const AxisAnalysis &axes,
                                    const LayoutChoice &layouts, const ir::Op &load);

} // namespace nereid::codegen
