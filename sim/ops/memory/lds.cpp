// DS: LDS reads, writes and atomics, and the lane permutations of the LDS unit.

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "sim/decode/operations.h"
#include "sim/ops/memory/lane_memory.h"

namespace nereid::sim {

namespace {

constexpr NamedElement reads[] = {
    {"u8", {.bytes = 1}},
    {"i8", {.bytes = 1, .sign_extend = true}},
    {"u16", {.bytes = 2}},
    {"i16", {.bytes = 2, .sign_extend = true}},
    {"b32", {.bytes = 4}},
    {"b64", {.bytes = 8, .words = 2}},
    {"b96", {.bytes = 12, .words = 3}},
    {"b128", {.bytes = 16, .words = 4}},
    {"u8_d16", {.bytes = 1, .half = true}},
    {"u8_d16_hi", {.bytes = 1, .half = true, .high = true}},
    {"i8_d16", {.bytes = 1, .sign_extend = true, .half = true}},
    {"i8_d16_hi", {.bytes = 1, .sign_extend = true, .half = true, .high = true}},
    {"u16_d16", {.bytes = 2, .half = true}},
    {"u16_d16_hi", {.bytes = 2, .half = true, .high = true}},
};
constexpr NamedElement writes[] = {
    {"b8", {.bytes = 1}},
    {"b16", {.bytes = 2}},
    {"b32", {.bytes = 4}},
    {"b64", {.bytes = 8, .words = 2}},
    {"b96", {.bytes = 12, .words = 3}},
    {"b128", {.bytes = 16, .words = 4}},
    {"b8_d16_hi", {.bytes = 1, .half = true, .high = true}},
    {"b16_d16_hi", {.bytes = 2, .half = true, .high = true}},
};

using Kind = MemoryAccess::Kind;

/// The active lanes' accesses at their address register plus `offset`, modulo 2^32: LLVM puts a constant into
/// the offset where the register is negative. Loads and stores may have any
/// alignment: the runtime turns the unaligned access mode on.
struct LdsAccess : MemoryAccess {
  LdsAccess(const Wave &wave, const Instruction &instruction, Kind what, unsigned size, uint32_t offset) {
    space = Space::Lds;
    kind = what;
    bytes = static_cast<uint8_t>(size);
    lanes = wave.exec();
    const uint32_t *base = wave.vgpr[instruction.address_register].word;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      address[lane] = base[lane] + offset;
  }
  LdsAccess(const Wave &wave, const Instruction &instruction, Kind what, unsigned size)
      : LdsAccess(wave, instruction, what, size, static_cast<uint32_t>(instruction.immediate)) {}
};

const char *name_of(Kind kind) {
  return kind == Kind::Load ? "LDS read" : kind == Kind::Store ? "LDS write" : "LDS atomic";
}

/// Finds the lanes' bytes and shows them to the checker. False after a fault.
bool admit(Wave &wave, const Instruction &instruction, const MemoryAccess &access, unsigned alignment,
           LanePointers &out) {
  return locate(wave, access, alignment, name_of(access.kind), out) && shown(wave, instruction, access);
}

void read(Wave &wave, const Instruction &instruction) {
  const ElementForm &form = instruction.operation->memory.element;
  const LdsAccess access(wave, instruction, Kind::Load, form.bytes);
  LanePointers from;
  if (admit(wave, instruction, access, 1, from))
    load_lanes(wave, instruction.destination, form, access.lanes, from);
}

void write(Wave &wave, const Instruction &instruction) {
  const ElementForm &form = instruction.operation->memory.element;
  const LdsAccess access(wave, instruction, Kind::Store, form.bytes);
  LanePointers to;
  if (admit(wave, instruction, access, 1, to))
    store_lanes(wave, instruction.data, form, access.lanes, to);
}

/// Two elements of `Words` words at offsets counted in elements, or in 64 elements; the elements are aligned.
template <unsigned Words, unsigned Step> struct TwoElements {
  static constexpr ElementForm form{.bytes = 4 * Words, .words = Words};
  LdsAccess first, second;
  LanePointers at[2];

  TwoElements(const Wave &wave, const Instruction &instruction, Kind kind)
      : first(wave, instruction, kind, form.bytes, uint32_t{instruction.offset0} * Step * form.bytes),
        second(wave, instruction, kind, form.bytes, uint32_t{instruction.offset1} * Step * form.bytes) {}

  bool admit(Wave &wave, const Instruction &instruction) {
    const char *what = name_of(first.kind);
    return locate(wave, first, form.bytes, what, at[0]) && locate(wave, second, form.bytes, what, at[1]) &&
           shown(wave, instruction, first) && shown(wave, instruction, second);
  }
};

template <unsigned Words, unsigned Step> void read_two(Wave &wave, const Instruction &instruction) {
  TwoElements<Words, Step> two(wave, instruction, Kind::Load);
  if (!two.admit(wave, instruction))
    return;
  load_lanes(wave, instruction.destination, two.form, two.first.lanes, two.at[0]);
  load_lanes(wave, instruction.destination + Words, two.form, two.first.lanes, two.at[1]);
}

template <unsigned Words, unsigned Step> void write_two(Wave &wave, const Instruction &instruction) {
  TwoElements<Words, Step> two(wave, instruction, Kind::Store);
  if (!two.admit(wave, instruction))
    return;
  store_lanes(wave, instruction.data, two.form, two.first.lanes, two.at[0]);
  store_lanes(wave, instruction.data2, two.form, two.first.lanes, two.at[1]);
}

/// LDS atomics: the new value from the old one and two operands.
struct LdsAtomic {
  const char *name; ///< with {} where _rtn goes
  uint8_t bytes;
  uint64_t (*apply)(uint64_t old, uint64_t data, uint64_t data2);
  bool always_returns = false; ///< there is only the _rtn form
  bool exchanges = false;      ///< nothing is computed
};

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

template <class T, auto F> uint64_t integer(uint64_t old, uint64_t data, uint64_t) {
  return static_cast<std::make_unsigned_t<T>>(F(static_cast<T>(old), static_cast<T>(data)));
}
template <class T, auto F> uint64_t real(uint64_t old, uint64_t data, uint64_t) {
  using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return std::bit_cast<Bits>(
      F(std::bit_cast<T>(static_cast<Bits>(old)), std::bit_cast<T>(static_cast<Bits>(data))));
}
template <class T> uint64_t compare_store(uint64_t old, uint64_t expected, uint64_t value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
    return std::bit_cast<T>(static_cast<Bits>(old)) == std::bit_cast<T>(static_cast<Bits>(expected)) ? value
                                                                                                     : old;
  }
  return old == expected ? value : old;
}
uint64_t masked_or(uint64_t old, uint64_t mask, uint64_t value) { return (old & ~mask) | value; }
uint64_t wrap(uint64_t old, uint64_t data, uint64_t data2) {
  return static_cast<u32>(old >= data ? old - data : old + data2);
}
template <bool Bfloat> uint64_t add_pair(uint64_t old, uint64_t data, uint64_t) {
  uint64_t result = 0;
  for (unsigned shift : {0u, 16u}) {
    u32 a = old >> shift & 0xFFFF, b = data >> shift & 0xFFFF;
    u32 sum = Bfloat ? float_to_bfloat(bfloat_to_float(a) + bfloat_to_float(b))
                     : float_to_half(half_to_float(a) + half_to_float(b));
    result |= u64{sum} << shift;
  }
  return result;
}

template <class T> T increment(T old, T limit) { return old >= limit ? 0 : old + 1; }
template <class T> T decrement(T old, T limit) { return old == 0 || old > limit ? limit : old - 1; }

constexpr LdsAtomic atomics[] = {
    {"add{}_u32", 4, integer<u32, [](u32 a, u32 b) { return a + b; }>},
    {"sub{}_u32", 4, integer<u32, [](u32 a, u32 b) { return a - b; }>},
    {"rsub{}_u32", 4, integer<u32, [](u32 a, u32 b) { return b - a; }>},
    {"inc{}_u32", 4, integer<u32, increment<u32>>},
    {"dec{}_u32", 4, integer<u32, decrement<u32>>},
    {"min{}_i32", 4, integer<i32, [](i32 a, i32 b) { return std::min(a, b); }>},
    {"max{}_i32", 4, integer<i32, [](i32 a, i32 b) { return std::max(a, b); }>},
    {"min{}_u32", 4, integer<u32, [](u32 a, u32 b) { return std::min(a, b); }>},
    {"max{}_u32", 4, integer<u32, [](u32 a, u32 b) { return std::max(a, b); }>},
    {"and{}_b32", 4, integer<u32, [](u32 a, u32 b) { return a & b; }>},
    {"or{}_b32", 4, integer<u32, [](u32 a, u32 b) { return a | b; }>},
    {"xor{}_b32", 4, integer<u32, [](u32 a, u32 b) { return a ^ b; }>},
    {"wrxchg{}_b32", 4, integer<u32, [](u32, u32 b) { return b; }>, true, true},
    {"mskor{}_b32", 4, masked_or},
    {"cmpst{}_b32", 4, compare_store<u32>},
    {"cmpst{}_f32", 4, compare_store<float>},
    {"wrap{}_b32", 4, wrap, true},
    {"add{}_f32", 4, real<float, [](float a, float b) { return a + b; }>},
    {"min{}_f32", 4, real<float, [](float a, float b) { return std::fmin(a, b); }>},
    {"max{}_f32", 4, real<float, [](float a, float b) { return std::fmax(a, b); }>},
    {"pk_add{}_f16", 4, add_pair<false>},
    {"pk_add{}_bf16", 4, add_pair<true>},
    {"add{}_u64", 8, integer<u64, [](u64 a, u64 b) { return a + b; }>},
    {"sub{}_u64", 8, integer<u64, [](u64 a, u64 b) { return a - b; }>},
    {"rsub{}_u64", 8, integer<u64, [](u64 a, u64 b) { return b - a; }>},
    {"inc{}_u64", 8, integer<u64, increment<u64>>},
    {"dec{}_u64", 8, integer<u64, decrement<u64>>},
    {"min{}_i64", 8, integer<i64, [](i64 a, i64 b) { return std::min(a, b); }>},
    {"max{}_i64", 8, integer<i64, [](i64 a, i64 b) { return std::max(a, b); }>},
    {"min{}_u64", 8, integer<u64, [](u64 a, u64 b) { return std::min(a, b); }>},
    {"max{}_u64", 8, integer<u64, [](u64 a, u64 b) { return std::max(a, b); }>},
    {"and{}_b64", 8, integer<u64, [](u64 a, u64 b) { return a & b; }>},
    {"or{}_b64", 8, integer<u64, [](u64 a, u64 b) { return a | b; }>},
    {"xor{}_b64", 8, integer<u64, [](u64 a, u64 b) { return a ^ b; }>},
    {"wrxchg{}_b64", 8, integer<u64, [](u64, u64 b) { return b; }>, true, true},
    {"mskor{}_b64", 8, masked_or},
    {"cmpst{}_b64", 8, compare_store<u64>},
    {"cmpst{}_f64", 8, compare_store<double>},
    {"add{}_f64", 8, real<double, [](double a, double b) { return a + b; }>},
    {"min{}_f64", 8, real<double, [](double a, double b) { return std::fmin(a, b); }>},
    {"max{}_f64", 8, real<double, [](double a, double b) { return std::fmax(a, b); }>},
};

template <bool Returns> void atomic(Wave &wave, const Instruction &instruction) {
  const LdsAtomic &operation = atomics[instruction.operation->detail];
  const unsigned bytes = operation.bytes;
  const LdsAccess access(wave, instruction, Kind::Atomic, bytes);
  LanePointers places;
  if (!admit(wave, instruction, access, bytes, places))
    return;
  exchange_lanes(wave, instruction.destination, Returns, bytes, access.lanes, places,
                 [&](unsigned lane, std::byte *place) {
                   uint64_t old = 0;
                   std::memcpy(&old, place, bytes);
                   uint64_t changed = operation.apply(old, lane_value(wave, instruction.data, lane, bytes),
                                                      lane_value(wave, instruction.data2, lane, bytes));
                   std::memcpy(place, &changed, bytes);
                   return old;
                 });
}

/// Stores the words of active lanes.
void store_lanes(Wave &wave, const Instruction &instruction, const Lanes &result) {
  uint32_t *to = wave.vgpr[instruction.destination].word;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (wave.exec_mask.word[lane])
      to[lane] = result.word[lane];
}

/// Pull: each lane names the lane it reads, as a byte address; inactive lanes read as 0.
void permute_backward(Wave &wave, const Instruction &instruction) {
  const uint32_t *address = wave.vgpr[instruction.address_register].word;
  const uint32_t *data = wave.vgpr[instruction.data].word;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    unsigned from = (address[lane] + static_cast<uint32_t>(instruction.immediate)) / 4 % lane_count;
    result.word[lane] = data[from] & wave.exec_mask.word[from];
  }
  store_lanes(wave, instruction, result);
}

/// Push: each active lane names the lane it writes; the highest one wins, lanes without a writer get 0.
void permute_forward(Wave &wave, const Instruction &instruction) {
  const uint32_t *address = wave.vgpr[instruction.address_register].word;
  const uint32_t *data = wave.vgpr[instruction.data].word;
  Lanes result{};
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (wave.exec_mask.word[lane])
      result.word[(address[lane] + static_cast<uint32_t>(instruction.immediate)) / 4 % lane_count] =
          data[lane];
  store_lanes(wave, instruction, result);
}

/// The lane that ds_swizzle makes `lane` read.
unsigned swizzled_lane(uint32_t offset, unsigned lane) {
  const unsigned place = lane & 31, half = lane & 32;
  if (offset >= 0xE000) {
    // The butterfly order of an FFT: the bits of the place reversed, the lanes of mask 4:0 staying in their
    // groups.
    const unsigned keep = offset & 31;
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit)
      reversed |= (place >> bit & 1) << (4 - bit);
    return half | reversed >> std::popcount(keep) | (place & keep);
  }
  if (offset >= 0xC000) { // rotate in groups of 32 by bits 9:5, direction in bit 10, lanes of mask 4:0 stay
    const unsigned rotate = offset >> 5 & 31, keep = offset & 31;
    const unsigned moved = offset >> 10 & 1 ? place - rotate : place + rotate;
    return half | (place & keep) | (moved & 31 & ~keep);
  }
  if (offset & 0x8000)
    return (lane & ~3u) | (offset >> 2 * (lane & 3) & 3);
  return half | (((place & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}

void swizzle(Wave &wave, const Instruction &instruction) {
  const uint32_t *data = wave.vgpr[instruction.address_register].word;
  Lanes result;
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    unsigned from = swizzled_lane(static_cast<uint32_t>(instruction.immediate), lane);
    result.word[lane] = data[from] & wave.exec_mask.word[from];
  }
  store_lanes(wave, instruction, result);
}

/// Transposing reads: 16 lanes read a string of elements of `Bits` bits; lane t gets elements t, 16 + t, 32 +
/// t, ...
template <unsigned Bits> void read_transposed(Wave &wave, const Instruction &instruction) {
  constexpr unsigned lane_bits = Bits == 6 ? 96 : 64, elements = lane_bits / Bits, words = lane_bits / 32;
  if (wave.exec() != ~uint64_t{0})
    return wave.raise(FaultKind::Hazard, -1, "a transposing LDS read needs all lanes active");
  const LdsAccess access(wave, instruction, Kind::Load, lane_bits / 8);
  LanePointers from;
  if (!admit(wave, instruction, access, Bits == 6 ? 16 : 8, from))
    return;
  std::byte bytes[lane_count][16];
  for (unsigned lane = 0; lane < lane_count; ++lane)
    std::memcpy(bytes[lane], from.at[lane], lane_bits / 8);
  auto element = [&](unsigned group, unsigned index) {
    unsigned lane = 16 * group + index / elements, bit = index % elements * Bits;
    uint32_t window;
    std::memcpy(&window, bytes[lane] + bit / 8, 4);
    return window >> bit % 8 & ((1u << Bits) - 1);
  };
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    uint32_t result[words + 1] = {};
    for (unsigned n = 0; n < elements; ++n) {
      uint64_t value = uint64_t{element(lane / 16, 16 * n + lane % 16)} << n * Bits % 32;
      result[n * Bits / 32] |= static_cast<uint32_t>(value);
      result[n * Bits / 32 + 1] |= static_cast<uint32_t>(value >> 32);
    }
    for (unsigned k = 0; k < words; ++k)
      wave.vgpr[instruction.destination + k].word[lane] = result[k];
  }
}

/// Exchanges two elements of `Words` words, at offsets as of read2 and write2.
template <unsigned Words, unsigned Step> void exchange_two(Wave &wave, const Instruction &instruction) {
  TwoElements<Words, Step> two(wave, instruction, Kind::Atomic);
  if (!two.admit(wave, instruction))
    return;
  each_lane(two.first.lanes, [&](unsigned lane) {
    std::byte old[2][4 * Words];
    for (unsigned k = 0; k < 2; ++k)
      std::memcpy(old[k], two.at[k].at[lane], 4 * Words);
    take_stored(wave, instruction.data, lane, two.form, two.at[0].at[lane]);
    take_stored(wave, instruction.data2, lane, two.form, two.at[1].at[lane]);
    put_loaded(wave, instruction.destination, lane, two.form, old[0]);
    put_loaded(wave, instruction.destination + Words, lane, two.form, old[1]);
  });
}

/// Of two words each is replaced by the 31 low bits of its operand where the operand's top bit is set.
void exchange_conditionally(Wave &wave, const Instruction &instruction) {
  const LdsAccess access(wave, instruction, Kind::Atomic, 8);
  LanePointers places;
  if (!admit(wave, instruction, access, 8, places))
    return;
  exchange_lanes(wave, instruction.destination, true, 8, access.lanes, places,
                 [&](unsigned lane, std::byte *place) {
                   uint64_t old;
                   std::memcpy(&old, place, 8);
                   for (unsigned k = 0; k < 2; ++k) {
                     uint32_t data = wave.vgpr[instruction.data + k].word[lane], kept = data & 0x7FFFFFFF;
                     if (data >> 31)
                       std::memcpy(place + 4 * k, &kept, 4);
                   }
                   return old;
                 });
}

/// Adds (takes away) the number of active lanes to the word at M0 + offset; all of them get the old value.
template <bool Append> void count_lanes(Wave &wave, const Instruction &instruction) {
  MemoryAccess access;
  LanePointers places;
  access.space = MemoryAccess::Space::Lds;
  access.kind = Kind::Atomic;
  access.bytes = 4;
  access.lanes = 1;
  access.address[0] = uint64_t{wave.sgpr[scalar::m0]} + static_cast<uint32_t>(instruction.immediate);
  if (!admit(wave, instruction, access, 4, places))
    return;
  uint32_t old;
  std::memcpy(&old, places.at[0], 4);
  const uint32_t lanes = static_cast<uint32_t>(std::popcount(wave.exec()));
  const uint32_t changed = Append ? old + lanes : old - lanes;
  std::memcpy(places.at[0], &changed, 4);
  Lanes result;
  std::fill_n(result.word, lane_count, old);
  store_lanes(wave, instruction, result);
}

/// A word a lane at M0 + offset + 4 * lane.
MemoryAccess by_lane(const Wave &wave, const Instruction &instruction, Kind kind) {
  MemoryAccess access;
  access.space = MemoryAccess::Space::Lds;
  access.kind = kind;
  access.bytes = 4;
  access.lanes = wave.exec();
  const uint64_t base = (wave.sgpr[scalar::m0] & 0xFFFF) + static_cast<uint32_t>(instruction.immediate);
  for (unsigned lane = 0; lane < lane_count; ++lane)
    access.address[lane] = base + 4 * uint64_t{lane};
  return access;
}
void read_by_lane(Wave &wave, const Instruction &instruction) {
  const MemoryAccess access = by_lane(wave, instruction, Kind::Load);
  LanePointers from;
  if (admit(wave, instruction, access, 1, from))
    load_lanes(wave, instruction.destination, word_element, access.lanes, from);
}
void write_by_lane(Wave &wave, const Instruction &instruction) {
  const MemoryAccess access = by_lane(wave, instruction, Kind::Store);
  LanePointers to;
  if (admit(wave, instruction, access, 1, to))
    store_lanes(wave, instruction.data, word_element, access.lanes, to);
}

Operation row(const std::string &name, Handler handler, MemoryForm form) {
  if (form.addressing == Addressing::None)
    form.addressing = Addressing::Lds;
  return memory_operation("ds_" + name, Category::Lds, handler, form);
}

using Form = MemoryForm::Kind;

void rows_elements(std::vector<Operation> &rows) {
  for (const auto &[suffix, element] : reads)
    rows.push_back(row("read_" + std::string(suffix), read, {.kind = Form::Load, .element = element}));
  for (const auto &[suffix, element] : writes)
    rows.push_back(row("write_" + std::string(suffix), write, {.kind = Form::Store, .element = element}));
  constexpr ElementForm eight{.bytes = 8, .words = 2}, twelve{.bytes = 12, .words = 3};
  rows.push_back(row("read_b64_tr_b16", read_transposed<16>, {.kind = Form::Load, .element = eight}));
  rows.push_back(row("read_b64_tr_b8", read_transposed<8>, {.kind = Form::Load, .element = eight}));
  rows.push_back(row("read_b64_tr_b4", read_transposed<4>, {.kind = Form::Load, .element = eight}));
  rows.push_back(row("read_b96_tr_b6", read_transposed<6>, {.kind = Form::Load, .element = twelve}));
}

/// The forms of two elements of `Words` words, with offsets that count `Step` elements.
template <unsigned Words, unsigned Step> void rows_pairs(std::vector<Operation> &rows) {
  const auto add = [&](const char *name, const char *suffix, Handler handler, Form kind) {
    const MemoryForm form{
        .kind = kind, .element = TwoElements<Words, Step>::form, .two_elements = true, .offset_scale = Step};
    rows.push_back(
        row(fmt::format("{}{}{}_b{}", name, Step == 1 ? "" : "st64", suffix, 32 * Words), handler, form));
  };
  add("read2", "", read_two<Words, Step>, Form::Load);
  add("write2", "", write_two<Words, Step>, Form::Store);
  add("wrxchg2", "_rtn", exchange_two<Words, Step>, Form::Atomic);
}

void rows_atomics(std::vector<Operation> &rows) {
  for (const LdsAtomic &access : atomics) {
    const auto add = [&](const char *suffix, Handler handler) {
      rows.push_back(row(fmt::format(fmt::runtime(access.name), suffix), handler,
                         {.kind = Form::Atomic,
                          .element = {.bytes = access.bytes, .words = static_cast<uint8_t>(access.bytes / 4)},
                          .exchanges = access.exchanges}));
      rows.back().detail = static_cast<uint32_t>(&access - atomics);
    };
    if (!access.always_returns)
      add("", atomic<false>);
    add("_rtn", atomic<true>);
  }
  rows.push_back(row("condxchg32_rtn_b64", exchange_conditionally,
                     {.kind = Form::Atomic, .element = {.bytes = 8, .words = 2}}));
}

/// What gets its address from M0.
void rows_by_m0(std::vector<Operation> &rows) {
  const auto form = [](Form kind, bool uniform) {
    return MemoryForm{.kind = kind,
                      .addressing = Addressing::LdsByM0,
                      .element = word_element,
                      .result_is_uniform = uniform};
  };
  rows.push_back(row("append", count_lanes<true>, form(Form::Atomic, true)));
  rows.push_back(row("consume", count_lanes<false>, form(Form::Atomic, true)));
  rows.push_back(row("read_addtid_b32", read_by_lane, form(Form::Load, false)));
  rows.back().hazard = HazardClass::ReadsM0;
  rows.push_back(row("write_addtid_b32", write_by_lane, form(Form::Store, false)));
  rows.back().hazard = HazardClass::ReadsM0;
}

/// Lane exchanges, which use the unit of LDS and none of its memory.
void rows_exchanges(std::vector<Operation> &rows) {
  const auto add = [&](const char *name, Handler handler, uint8_t control) {
    rows.push_back(row(name, handler, {}));
    rows.back().taint = taint::cross_lane();
    rows.back().taint.control = control;
  };
  add("bpermute_b32", permute_backward, Taint::address_controls);
  add("permute_b32", permute_forward, Taint::address_controls);
  add("swizzle_b32", swizzle, 0);
}

} // namespace

std::vector<Operation> lds_operations() {
  std::vector<Operation> rows;
  rows_elements(rows);
  rows_pairs<1, 1>(rows);
  rows_pairs<2, 1>(rows);
  rows_pairs<1, 64>(rows);
  rows_pairs<2, 64>(rows);
  rows_atomics(rows);
  rows_by_m0(rows);
  rows_exchanges(rows);
  rows.push_back(row("nop", [](Wave &, const Instruction &) {}, {}));
  rows.back().taint = taint::of_kind(Taint::Kind::None);
  rows.back().counter = WaitCounter::None;
  return rows;
}

} // namespace nereid::sim
