// Addresses of buffer instructions for all lanes: at once where a descriptor is linear, else lane by lane
// with its range check.

#include "sim/ops/memory/buffer_address.h"

#include "sim/state/simd.h"

namespace nereid::sim {

/// Addresses that need no element index: an offset a lane.
struct BufferAddressing::Line {
  const uint32_t *offset; ///< a word a lane
  uint32_t immediate;
  uint64_t base; ///< of the buffer
  uint64_t scalar_offset;
  uint64_t last; ///< the last offset in range, from the base

  /// Finds all addresses. The result's top bit is set when one is out of range.
  __attribute__((always_inline)) uint64_t find(uint64_t *address) const {
    const uint32_t *words = offset;
    const uint32_t plus = immediate;
    const uint64_t first = base, more = scalar_offset, end = last;
    uint64_t outside = 0;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const uint64_t start = uint64_t{words[lane] + plus} + more;
      outside |= end - start;
      address[lane] = first + start;
    }
    return outside;
  }
};

namespace {

template <class Line> uint64_t find_portable(const Line &line, uint64_t *address) {
  return line.find(address);
}
template <class Line> NEREID_SIM_AVX2 uint64_t find_avx2(const Line &line, uint64_t *address) {
  return line.find(address);
}

} // namespace

void BufferAddressing::find(uint64_t active, bool by_dword, MemoryAccess &out) const {
  static constexpr uint32_t zeros[lane_count] = {};
  const bool is_line =
      !descriptor_.add_thread && !descriptor_.swizzled && (descriptor_.stride == 0 || !index_);
  if (is_line && out.bytes <= descriptor_.records) {
    const Line line{offset_ ? offset_ : zeros, static_cast<uint32_t>(instruction_.immediate), base(),
                    scalar_offset_, descriptor_.records - uint64_t{out.bytes}};
    uint64_t *address = out.address.data();
    const uint64_t outside = uses_avx2() ? find_avx2(line, address) : find_portable(line, address);
    if (!(outside >> 63)) {
      out.lanes = active;
      return;
    }
  }
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const BufferOffset start = (*this)(lane);
    out.address[lane] = base() + start.offset;
    out.lanes |= uint64_t{in_range(start, out.bytes)} << lane;
  }
  out.lanes &= active;
  if (by_dword && out.lanes != active)
    find_dwords(active & ~out.lanes, out);
}

/// Lanes of which some dwords are in range: always the first ones, as offsets do not wrap here.
void BufferAddressing::find_dwords(uint64_t cut, MemoryAccess &out) const {
  const unsigned dwords = out.bytes / 4u;
  out.dwords.fill(static_cast<uint8_t>((1u << dwords) - 1));
  for (; cut; cut &= cut - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctzll(cut));
    const BufferOffset start = (*this)(lane);
    unsigned left = 0;
    while (left < dwords && in_range(start, 4 * (left + 1)))
      ++left;
    if (!left)
      continue;
    out.dwords[lane] = static_cast<uint8_t>((1u << left) - 1);
    out.lanes |= uint64_t{1} << lane;
    out.partial = true;
  }
}

} // namespace nereid::sim
