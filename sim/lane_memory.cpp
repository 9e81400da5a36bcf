#include "sim/lane_memory.h"

#include <bit>
#include <cstring>
#include <emmintrin.h>

#include <fmt/format.h>

#include "sim/simd.h"

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
  if (access.lanes == all_lanes)
    for (uint64_t address : access.address)
      low |= address;
  else
    each_lane(access.lanes, [&](unsigned lane) { low |= access.address[lane]; });
  if (!(low & (alignment - 1))) [[likely]]
    return true;
  int lane = misaligned_lane(access, alignment);
  wave.raise(FaultKind::Misaligned, lane,
             fmt::format("{} of {} bytes at {:#x}, which is no multiple of {}", what, access.bytes,
                         access.address[static_cast<unsigned>(lane)], alignment));
  return false;
}

/// Device memory [start, start + size) and its host bytes.
struct Region {
  uint64_t start, size;
  std::byte *host;
  uint64_t stride; ///< between the private memories of two lanes; 0 when lanes share the memory
};

/// All lanes at once. The result's top bit is set when one is outside.
inline __attribute__((always_inline)) uint64_t place_all(const MemoryAccess &access, const Region &region,
                                                         LanePointers &out) {
  const uint64_t start = region.start, last = region.size - access.bytes, stride = region.stride;
  const uint64_t host = reinterpret_cast<uint64_t>(region.host);
  uint64_t outside = 0;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const uint64_t offset = access.address[lane] - start;
    // The top bit is set when the offset is negative or beyond the last one.
    outside |= offset | (last - offset);
    out.at[lane] = reinterpret_cast<std::byte *>(host + offset + lane * stride);
  }
  return outside;
}
uint64_t place_all_portable(const MemoryAccess &access, const Region &region, LanePointers &out) {
  return place_all(access, region, out);
}
NEREID_SIM_AVX2 uint64_t place_all_avx2(const MemoryAccess &access, const Region &region, LanePointers &out) {
  return place_all(access, region, out);
}

/// Finds the bytes of lanes that all lie in a region, or returns false.
bool within(const MemoryAccess &access, const Region &region, LanePointers &out) {
  if (access.bytes > region.size)
    return false;
  uint64_t outside = 0;
  if (access.lanes == all_lanes)
    outside = uses_avx2() ? place_all_avx2(access, region, out) : place_all_portable(access, region, out);
  else
    each_lane(access.lanes, [&](unsigned lane) {
      const uint64_t offset = access.address[lane] - region.start;
      outside |= offset | (region.size - access.bytes - offset);
      out.at[lane] = region.host + offset + lane * region.stride;
    });
  return !(outside >> 63);
}

bool locate_global(Wave &wave, const MemoryAccess &access, const char *what, LanePointers &out) {
  if (!access.lanes)
    return true;
  const unsigned lowest = static_cast<unsigned>(std::countr_zero(access.lanes));
  // Usually all lanes hit the block of the lowest one, which becomes the recent one.
  if (!access.partial && wave.global(access.address[lowest], access.bytes) &&
      within(access, {wave.recent->address(), wave.recent->size(), wave.recent->data(), 0}, out)) [[likely]]
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
  const uint64_t size = lds ? wave.group->lds.size() : wave.scratch_size;
  if (within(access, {0, size, lds ? wave.group->lds.data() : wave.scratch, lds ? 0 : size}, out)) [[likely]]
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

template <unsigned Words>
void load_words(Wave &wave, unsigned first, const Access &access, uint64_t lanes, const LanePointers &from) {
  constexpr std::integral_constant<unsigned, Words> words;
  for (unsigned lane = 0; lane < lane_count; lane += 4) {
    const uint64_t four = lanes >> lane & 15;
    if (four != 15) {
      each_lane(four << lane, [&](unsigned l) { put_loaded(wave, first, l, access, from.at[l]); });
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
void store_words(const Wave &wave, unsigned first, const Access &access, uint64_t lanes,
                 const LanePointers &to) {
  constexpr std::integral_constant<unsigned, Words> words;
  for (unsigned lane = 0; lane < lane_count; lane += 4) {
    const uint64_t four = lanes >> lane & 15;
    if (four != 15) {
      each_lane(four << lane, [&](unsigned l) { take_stored(wave, first, l, access, to.at[l]); });
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

} // namespace

bool locate(Wave &wave, const MemoryAccess &access, unsigned alignment, const char *what, LanePointers &out) {
  if (!aligned(wave, access, alignment, what))
    return false;
  return access.space == MemoryAccess::Space::Global ? locate_global(wave, access, what, out)
                                                     : locate_local(wave, access, what, out);
}

void load_lanes(Wave &wave, unsigned first, const Access &access, uint64_t lanes, const LanePointers &from) {
  switch (access.bytes) {
  case 4:
    return load_words<1>(wave, first, access, lanes, from);
  case 8:
    return load_words<2>(wave, first, access, lanes, from);
  case 12:
    return load_words<3>(wave, first, access, lanes, from);
  case 16:
    return load_words<4>(wave, first, access, lanes, from);
  default:
    each_lane(lanes, [&](unsigned lane) { put_loaded(wave, first, lane, access, from.at[lane]); });
  }
}

void store_lanes(const Wave &wave, unsigned first, const Access &access, uint64_t lanes,
                 const LanePointers &to) {
  switch (access.bytes) {
  case 4:
    return store_words<1>(wave, first, access, lanes, to);
  case 8:
    return store_words<2>(wave, first, access, lanes, to);
  case 12:
    return store_words<3>(wave, first, access, lanes, to);
  case 16:
    return store_words<4>(wave, first, access, lanes, to);
  default:
    each_lane(lanes, [&](unsigned lane) { take_stored(wave, first, lane, access, to.at[lane]); });
  }
}

void lds_destination(const Wave &wave, const Instruction &instruction, const Access &access, uint64_t lanes,
                     MemoryAccess &out) {
  out.space = MemoryAccess::Space::Lds;
  out.kind = MemoryAccess::Kind::Store;
  out.bytes = access.bytes < 4 ? 4 : access.bytes;
  out.to_lds = true;
  out.lanes = lanes;
  const unsigned step = access.bytes > 4 ? 16 : 4;
  const uint64_t base =
      (wave.sgpr[scalar::m0] & 0x3FFFF) + static_cast<uint64_t>(int64_t{instruction.immediate});
  for (unsigned lane = 0; lane < lane_count; ++lane)
    out.address[lane] = base + uint64_t{lane} * step;
}

void copy_to_lds(const Access &access, uint64_t lanes, const LanePointers &from, const LanePointers &to) {
  each_lane(lanes, [&](unsigned lane) {
    if (access.bytes == 16)
      std::memcpy(to.at[lane], from.at[lane], 16);
    else if (access.bytes >= 4)
      std::memcpy(to.at[lane], from.at[lane], access.bytes);
    else {
      uint32_t value = extended(access, from.at[lane]);
      std::memcpy(to.at[lane], &value, 4);
    }
  });
}

} // namespace nereid::sim
