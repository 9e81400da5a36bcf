// Finds the host bytes of the lanes of a memory instruction, checks them, and moves data between them and
// registers.

#include "sim/ops/memory/lane_memory.h"

#include <bit>
#include <cstring>
#include <immintrin.h>

#include <fmt/format.h>

#include "sim/state/simd.h"

namespace nereid::sim {

namespace {

constexpr uint64_t all_lanes = ~uint64_t{0};

/// Bytes that a lane touches: all, or the words that a descriptor's range check leaves.
unsigned bytes_of(const MemoryAccess &access, unsigned lane) {
  return access.partial ? 4u * static_cast<unsigned>(std::popcount(access.dwords[lane])) : access.bytes;
}

/// The lowest of `lanes` whose address is no multiple of `alignment`, or -1.
int misaligned_lane(const MemoryAccess &access, unsigned alignment) {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    int lane = std::countr_zero(lanes);
    if (access.address[static_cast<unsigned>(lane)] % alignment)
      return lane;
  }
  return -1;
}

bool aligned(Wave &wave, const MemoryAccess &access, unsigned alignment, const char *what) {
  if (alignment == 1)
    return true;
  uint64_t low = 0;
  each_lane(access.lanes, [&](unsigned lane) { low |= access.address[lane]; });
  if (!(low & (alignment - 1))) [[likely]]
    return true;
  int lane = misaligned_lane(access, alignment);
  wave.raise(FaultKind::Misaligned, lane,
             fmt::format("{} of {} bytes at {:#x}, which is no multiple of {}", what, access.bytes,
                         access.address[static_cast<unsigned>(lane)], alignment));
  if (access.space == MemoryAccess::Space::Global)
    wave.fault->memory = access.address[static_cast<unsigned>(lane)];
  return false;
}

/// Device memory [start, start + size) and its host bytes.
struct Region {
  uint64_t start, size;
  std::byte *host;
  uint64_t stride; ///< between the private memories of two lanes; 0 when lanes share the memory
};

/// What all lanes' addresses have in common.
struct Common {
  uint64_t outside; ///< the top bit is set when a lane is outside
  uint64_t low;     ///< the bits that are set in any address
};

/// All lanes at once.
template <bool Shared>
inline __attribute__((always_inline)) Common locate_lanes(const MemoryAccess &access, const Region &region,
                                                          LanePointers &out) {
  const uint64_t start = region.start, last = region.size - access.bytes, stride = region.stride;
  const uint64_t host = reinterpret_cast<uint64_t>(region.host);
  uint64_t outside = 0, low = 0;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const uint64_t address = access.address[lane], offset = address - start;
    low |= address;
    // The top bit is set when the offset is negative or beyond the last one.
    outside |= offset | (last - offset);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): integers vectorise
    out.at[lane] = reinterpret_cast<std::byte *>(host + offset + (Shared ? 0 : lane * stride));
  }
  return {outside, low};
}
inline __attribute__((always_inline)) Common locate_all(const MemoryAccess &access, const Region &region,
                                                        LanePointers &out) {
  return region.stride ? locate_lanes<false>(access, region, out) : locate_lanes<true>(access, region, out);
}
Common locate_all_portable(const MemoryAccess &access, const Region &region, LanePointers &out) {
  return locate_all(access, region, out);
}
NEREID_SIM_AVX2 Common locate_all_avx2(const MemoryAccess &access, const Region &region, LanePointers &out) {
  return locate_all(access, region, out);
}

/// Finds the bytes of an access of all lanes to a region, or returns false: a lane is outside or misaligned.
bool locate_in(const MemoryAccess &access, const Region &region, unsigned alignment, LanePointers &out) {
  if (access.bytes > region.size)
    return false;
  const Common common =
      uses_avx2() ? locate_all_avx2(access, region, out) : locate_all_portable(access, region, out);
  return !(common.outside >> 63) && !(common.low & (alignment - 1));
}

/// Finds the bytes of lanes that all lie in a region, or returns false.
bool within(const MemoryAccess &access, const Region &region, LanePointers &out) {
  if (access.bytes > region.size)
    return false;
  uint64_t outside = 0;
  each_lane(access.lanes, [&](unsigned lane) {
    const uint64_t offset = access.address[lane] - region.start;
    outside |= offset | (region.size - access.bytes - offset);
    out.at[lane] = region.host + offset + lane * region.stride;
  });
  return !(outside >> 63);
}

Region region_of(const Block &block) { return {block.address(), block.size(), block.data(), 0}; }

/// The LDS of the workgroup or the private memories of the lanes.
Region local_region(const Wave &wave, const MemoryAccess &access) {
  if (access.space == MemoryAccess::Space::Lds)
    return {0, wave.group->lds.size(), wave.group->lds.data(), 0};
  return {0, wave.scratch_size, wave.scratch, wave.scratch_size};
}

/// An access of all lanes to one region, as most are; false when it is none or has a fault.
bool locate_at_once(Wave &wave, const MemoryAccess &access, unsigned alignment, LanePointers &out) {
  if (access.lanes != all_lanes || access.partial)
    return false;
  if (access.space != MemoryAccess::Space::Global)
    return locate_in(access, local_region(wave, access), alignment, out);
  // The block of the first lane becomes the recent one.
  return wave.global(access.address[0], access.bytes) &&
         locate_in(access, region_of(*wave.recent), alignment, out);
}

bool locate_global(Wave &wave, const MemoryAccess &access, const char *what, LanePointers &out) {
  if (!access.lanes)
    return true;
  const unsigned lowest = static_cast<unsigned>(std::countr_zero(access.lanes));
  if (!access.partial && wave.global(access.address[lowest], access.bytes) &&
      within(access, region_of(*wave.recent), out)) [[likely]]
    return true;
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
    const unsigned bytes = bytes_of(access, lane);
    out.at[lane] = wave.global(access.address[lane], bytes);
    if (!out.at[lane]) {
      wave.raise_out_of_bounds(access.address[lane], bytes, static_cast<int>(lane), what);
      return false;
    }
  }
  return true;
}

/// The lowest lane outside of memory of `size` bytes that starts at 0, or -1.
int lane_beyond(const MemoryAccess &access, uint64_t size) {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    int lane = std::countr_zero(lanes);
    uint64_t address = access.address[static_cast<unsigned>(lane)];
    if (address > size || access.bytes > size - address)
      return lane;
  }
  return -1;
}

bool locate_local(Wave &wave, const MemoryAccess &access, const char *what, LanePointers &out) {
  const bool lds = access.space == MemoryAccess::Space::Lds;
  const Region region = local_region(wave, access);
  const uint64_t size = region.size;
  if (within(access, region, out)) [[likely]]
    return true;
  const int lane = lane_beyond(access, size);
  if (lane < 0)
    return true; // no lane takes part
  const uint64_t address = access.address[static_cast<unsigned>(lane)];
  wave.raise(FaultKind::OutOfBounds, lane,
             fmt::format("{} of {} bytes at {} address {:#x} is outside the {} bytes of the {}: {} beyond "
                         "the end",
                         what, access.bytes, lds ? "LDS" : "scratch", address, size,
                         lds ? "workgroup" : "lane", address + access.bytes - size));
  return false;
}

__m128i words_at(const std::byte *from, std::integral_constant<unsigned, 1>) {
  int word;
  std::memcpy(&word, from, 4);
  return _mm_cvtsi32_si128(word);
}
__m128i words_at(const std::byte *from, std::integral_constant<unsigned, 2>) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
}
__m128i words_at(const std::byte *from, std::integral_constant<unsigned, 3>) {
  return _mm_unpacklo_epi64(words_at(from, std::integral_constant<unsigned, 2>()),
                            words_at(from + 8, std::integral_constant<unsigned, 1>()));
}
__m128i words_at(const std::byte *from, std::integral_constant<unsigned, 4>) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}

void put_words(std::byte *to, __m128i words, std::integral_constant<unsigned, 2>) {
  _mm_storel_epi64(reinterpret_cast<__m128i *>(to), words);
}
void put_words(std::byte *to, __m128i words, std::integral_constant<unsigned, 3>) {
  _mm_storel_epi64(reinterpret_cast<__m128i *>(to), words);
  int last = _mm_cvtsi128_si32(_mm_srli_si128(words, 8));
  std::memcpy(to + 8, &last, 4);
}
void put_words(std::byte *to, __m128i words, std::integral_constant<unsigned, 4>) {
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), words);
}

/// Four lanes of four words each become four registers of four lanes each, and back.
void transpose(__m128i (&v)[4]) {
  __m128i a = _mm_unpacklo_epi32(v[0], v[1]), b = _mm_unpackhi_epi32(v[0], v[1]);
  __m128i c = _mm_unpacklo_epi32(v[2], v[3]), d = _mm_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm_unpacklo_epi64(a, c);
  v[1] = _mm_unpackhi_epi64(a, c);
  v[2] = _mm_unpacklo_epi64(b, d);
  v[3] = _mm_unpackhi_epi64(b, d);
}

/// The same for two times four lanes.
NEREID_SIM_AVX2 inline void transpose_avx2(__m256i (&v)[4]) {
  const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
  const __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm256_unpacklo_epi64(a, c);
  v[1] = _mm256_unpackhi_epi64(a, c);
  v[2] = _mm256_unpacklo_epi64(b, d);
  v[3] = _mm256_unpackhi_epi64(b, d);
}

/// Four words of all lanes.
NEREID_SIM_AVX2 void load_fours_avx2(Lanes *registers, const LanePointers &from) {
  for (unsigned lane = 0; lane < lane_count; lane += 8) {
    __m256i v[4];
    for (unsigned k = 0; k < 4; ++k)
      v[k] = _mm256_loadu2_m128i(reinterpret_cast<const __m128i *>(from.at[lane + 4 + k]),
                                 reinterpret_cast<const __m128i *>(from.at[lane + k]));
    transpose_avx2(v);
    for (unsigned k = 0; k < 4; ++k)
      _mm256_store_si256(reinterpret_cast<__m256i *>(registers[k].word + lane), v[k]);
  }
}
NEREID_SIM_AVX2 void store_fours_avx2(const Lanes *registers, const LanePointers &to) {
  for (unsigned lane = 0; lane < lane_count; lane += 8) {
    __m256i v[4];
    for (unsigned k = 0; k < 4; ++k)
      v[k] = _mm256_load_si256(reinterpret_cast<const __m256i *>(registers[k].word + lane));
    transpose_avx2(v);
    for (unsigned k = 0; k < 4; ++k) // in the order of the lanes: the highest one wins
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to.at[lane + k]), _mm256_castsi256_si128(v[k]));
    for (unsigned k = 0; k < 4; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to.at[lane + 4 + k]), _mm256_extracti128_si256(v[k], 1));
  }
}

template <unsigned Words>
void load_words(Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                const LanePointers &from) {
  constexpr std::integral_constant<unsigned, Words> words;
  if (Words == 4 && lanes == all_lanes && uses_avx2())
    return load_fours_avx2(&wave.vgpr[first], from);
  for (unsigned lane = 0; lane < lane_count; lane += 4) {
    const uint64_t four = lanes >> lane & 15;
    if (four != 15) {
      each_lane(four << lane, [&](unsigned l) { put_loaded(wave, first, l, element, from.at[l]); });
      continue;
    }
    if constexpr (Words == 1) {
      for (unsigned k = 0; k < 4; ++k)
        std::memcpy(&wave.vgpr[first].word[lane + k], from.at[lane + k], 4);
    } else {
      __m128i v[4];
      for (unsigned k = 0; k < 4; ++k)
        v[k] = words_at(from.at[lane + k], words);
      transpose(v);
      for (unsigned k = 0; k < Words; ++k)
        _mm_store_si128(reinterpret_cast<__m128i *>(wave.vgpr[first + k].word + lane), v[k]);
    }
  }
}

template <unsigned Words>
void store_words(const Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                 const LanePointers &to) {
  constexpr std::integral_constant<unsigned, Words> words;
  if (Words == 4 && lanes == all_lanes && uses_avx2())
    return store_fours_avx2(&wave.vgpr[first], to);
  for (unsigned lane = 0; lane < lane_count; lane += 4) {
    const uint64_t four = lanes >> lane & 15;
    if (four != 15) {
      each_lane(four << lane, [&](unsigned l) { take_stored(wave, first, l, element, to.at[l]); });
      continue;
    }
    if constexpr (Words == 1) {
      for (unsigned k = 0; k < 4; ++k)
        std::memcpy(to.at[lane + k], &wave.vgpr[first].word[lane + k], 4);
    } else {
      __m128i v[4] = {};
      for (unsigned k = 0; k < Words; ++k)
        v[k] = _mm_load_si128(reinterpret_cast<const __m128i *>(wave.vgpr[first + k].word + lane));
      transpose(v);
      for (unsigned k = 0; k < 4; ++k)
        put_words(to.at[lane + k], v[k], words);
    }
  }
}

/// Loads and stores of less than a word that use whole registers.
template <class T>
void load_short(Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                const LanePointers &from) {
  uint32_t *to = wave.vgpr[first].word;
  const uint32_t flip = element.sign_extend ? 1u << (8 * sizeof(T) - 1) : 0;
  each_lane(lanes, [&](unsigned lane) {
    T value;
    std::memcpy(&value, from.at[lane], sizeof value);
    to[lane] = (value ^ flip) - flip;
  });
}
template <class T>
void store_short(const Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                 const LanePointers &to) {
  const uint32_t *from = wave.vgpr[first].word;
  const unsigned shift = element.high ? 16 : 0;
  each_lane(lanes, [&](unsigned lane) {
    const T value = static_cast<T>(from[lane] >> shift);
    std::memcpy(to.at[lane], &value, sizeof value);
  });
}

} // namespace

bool locate(Wave &wave, const MemoryAccess &access, unsigned alignment, const char *what, LanePointers &out) {
  if (locate_at_once(wave, access, alignment, out)) [[likely]]
    return true;
  if (!aligned(wave, access, alignment, what))
    return false;
  return access.space == MemoryAccess::Space::Global ? locate_global(wave, access, what, out)
                                                     : locate_local(wave, access, what, out);
}

void load_lanes(Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                const LanePointers &from) {
  if (element.half)
    return each_lane(lanes, [&](unsigned lane) { put_loaded(wave, first, lane, element, from.at[lane]); });
  switch (element.bytes) {
  case 1:
    return load_short<uint8_t>(wave, first, element, lanes, from);
  case 2:
    return load_short<uint16_t>(wave, first, element, lanes, from);
  case 4:
    return load_words<1>(wave, first, element, lanes, from);
  case 8:
    return load_words<2>(wave, first, element, lanes, from);
  case 12:
    return load_words<3>(wave, first, element, lanes, from);
  default:
    return load_words<4>(wave, first, element, lanes, from);
  }
}

void store_lanes(const Wave &wave, unsigned first, const ElementForm &element, uint64_t lanes,
                 const LanePointers &to) {
  switch (element.bytes) {
  case 1:
    return store_short<uint8_t>(wave, first, element, lanes, to);
  case 2:
    return store_short<uint16_t>(wave, first, element, lanes, to);
  case 4:
    return store_words<1>(wave, first, element, lanes, to);
  case 8:
    return store_words<2>(wave, first, element, lanes, to);
  case 12:
    return store_words<3>(wave, first, element, lanes, to);
  default:
    return store_words<4>(wave, first, element, lanes, to);
  }
}

void lds_destination(const Wave &wave, const Instruction &instruction, const ElementForm &element,
                     uint64_t lanes, MemoryAccess &out) {
  out.space = MemoryAccess::Space::Lds;
  out.kind = MemoryAccess::Kind::Store;
  out.bytes = element.bytes < 4 ? 4 : element.bytes;
  out.to_lds = true;
  out.lanes = lanes;
  const unsigned step = element.bytes > 4 ? 16 : 4;
  const uint64_t base =
      (wave.sgpr[scalar::m0] & 0x3FFFF) + static_cast<uint64_t>(int64_t{instruction.immediate});
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out.address[lane] = base + uint64_t{lane} * step;
}

void copy_to_lds(const ElementForm &element, uint64_t lanes, const LanePointers &from,
                 const LanePointers &to) {
  each_lane(lanes, [&](unsigned lane) {
    if (element.bytes == 16)
      std::memcpy(to.at[lane], from.at[lane], 16);
    else if (element.bytes >= 4)
      std::memcpy(to.at[lane], from.at[lane], element.bytes);
    else {
      uint32_t value = extended(element, from.at[lane]);
      std::memcpy(to.at[lane], &value, 4);
    }
  });
}

} // namespace nereid::sim
