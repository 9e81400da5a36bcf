#pragma once

#include "sim/state/memory_access.h"

namespace nereid::sim {

/// The fields of a descriptor that addressing needs.
struct BufferDescriptor {
  uint64_t base;
  uint32_t stride;
  uint32_t records;
  bool swizzled;
  unsigned index_stride; ///< of swizzled buffers: how many elements lie interleaved
  bool add_thread;

  BufferDescriptor(const Wave &wave, unsigned first)
      : base(wave.sgpr[first] | uint64_t{wave.sgpr[first + 1] & 0xFFFF} << 32),
        stride(wave.sgpr[first + 1] >> 16 & 0x3FFF), records(wave.sgpr[first + 2]),
        swizzled(wave.sgpr[first + 1] >> 31), index_stride(8u << (wave.sgpr[first + 3] >> 21 & 3)),
        add_thread(wave.sgpr[first + 3] >> 23 & 1) {
    if (base >> 47) // 48 bits, sign-extended
      base |= uint64_t{0xFFFF} << 48;
  }

  /// Where a byte of an element lies from the base. Swizzled, `index_stride` elements lie interleaved by
  /// dwords.
  uint64_t offset_of(uint64_t index, uint32_t offset) const {
    if (!swizzled) [[likely]]
      return index * stride + offset;
    const uint64_t rows = index / index_stride * stride + offset / 4 * 4;
    return rows * index_stride + index % index_stride * 4 + offset % 4;
  }
};

/// Where a lane's access starts, relative to the base, and whether its element index is in range.
struct BufferOffset {
  uint64_t offset;
  bool index_in_range;
};

/// The rule that matches the hardware: offset register and immediate wrap at 32 bits, then SOFFSET is added
/// and counts for the range check.
class BufferAddressing {
public:
  BufferAddressing(const Wave &wave, const Instruction &instruction)
      : instruction_(instruction), descriptor_(wave, instruction.scalar_base),
        scalar_offset_(static_cast<uint32_t>(wave.scalar_value(instruction.source[0], false))) {
    const uint32_t *registers = wave.vgpr[instruction.address_register].word;
    index_ = instruction.uses_index ? registers : nullptr;
    if (instruction.uses_offset)
      offset_ = instruction.uses_index ? wave.vgpr[instruction.address_register + 1].word : registers;
  }

  uint64_t base() const { return descriptor_.base; }

  BufferOffset operator()(unsigned lane) const {
    uint32_t offset = static_cast<uint32_t>(instruction_.immediate) + (offset_ ? offset_[lane] : 0);
    uint64_t index = index_ ? index_[lane] : 0;
    if (descriptor_.add_thread)
      index += lane;
    bool structured = descriptor_.stride != 0 && index_;
    return {descriptor_.offset_of(index, offset) + scalar_offset_,
            !structured || index < descriptor_.records};
  }

  /// Whether [offset, offset + bytes) is in range.
  bool in_range(const BufferOffset &start, unsigned bytes) const {
    if (descriptor_.stride != 0 && index_)
      return start.index_in_range;
    if (descriptor_.add_thread)
      return true;
    return start.offset + bytes <= descriptor_.records;
  }

  /// The addresses of the lanes of `active` that the range check leaves something of. With `by_dword` each
  /// dword of an access is dropped or kept by itself.
  void find(uint64_t active, bool by_dword, MemoryAccess &out) const;

private:
  struct Line;

  void find_dwords(uint64_t cut, MemoryAccess &out) const;

  const Instruction &instruction_;
  BufferDescriptor descriptor_;
  uint32_t scalar_offset_;
  const uint32_t *index_ = nullptr;
  const uint32_t *offset_ = nullptr;
};

} // namespace nereid::sim
