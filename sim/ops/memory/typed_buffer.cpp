// MTBUF, and the format forms of MUBUF: loads and stores of elements that are converted on the way. The
// format of an element comes from the instruction (MTBUF) or from the buffer descriptor.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/operations.h"
#include "sim/ops/memory/buffer_address.h"
#include "sim/ops/memory/lane_memory.h"

namespace nereid::sim {

namespace {

enum class Number : uint8_t { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Reserved, Float };

/// The components of a data format from the lowest bit up.
struct Layout {
  uint8_t count;
  uint8_t bits[4];
  unsigned bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u; }
  /// The first bit of component k.
  unsigned offset(unsigned k) const {
    unsigned at = 0;
    for (unsigned before = 0; before < 4; ++before)
      at += before < k ? bits[before] : 0;
    return at;
  }
};
constexpr Layout layouts[] = {
    {0, {}},
    {1, {8}},
    {1, {16}},
    {2, {8, 8}},
    {1, {32}},
    {2, {16, 16}},
    {3, {11, 11, 10}}, // 10_11_11: names start at the highest bit
    {3, {10, 11, 11}}, // 11_11_10
    {4, {2, 10, 10, 10}},
    {4, {10, 10, 10, 2}},
    {4, {8, 8, 8, 8}},
    {2, {32, 32}},
    {4, {16, 16, 16, 16}},
    {3, {32, 32, 32}},
    {4, {32, 32, 32, 32}},
    {0, {}},
};

/// Unsigned floats of 10 and 11 bits, as formats whose sign bit stays 0.
constexpr SmallFormat float_10{5, 5, 15, true, true}, float_11{5, 6, 15, true, true};

bool is_integer(Number number) { return number == Number::Uint || number == Number::Sint; }

double power_of_two(unsigned exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

/// What a component of `width` bits means, as the register word of a 32-bit load.
uint32_t unpacked(uint32_t code, unsigned width, Number number) {
  const int32_t sign = static_cast<int32_t>(code << (32 - width)) >> (32 - width);
  double value = 0;
  switch (number) {
  case Number::Uint:
    return code;
  case Number::Sint:
    return static_cast<uint32_t>(sign);
  case Number::Unorm:
    value = code / (power_of_two(width) - 1);
    break;
  case Number::Snorm:
    value = std::max(sign / (power_of_two(width - 1) - 1), -1.0);
    break;
  case Number::Uscaled:
    value = code;
    break;
  case Number::Sscaled:
    value = sign;
    break;
  default:
    if (width == 32)
      return code;
    value = width == 16   ? half_to_float(code)
            : width == 11 ? small_to_float(float_11, code)
            : width == 10 ? small_to_float(float_10, code)
                          : 0;
  }
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// Rounded to nearest even and kept in range; NaN is 0.
double whole(double value, double low, double high) {
  return value == value ? std::nearbyint(std::clamp(value, low, high)) : 0;
}

/// The component of `width` bits that stands for the register word of a 32-bit store.
uint32_t packed(uint32_t word, unsigned width, Number number) {
  const float value = std::bit_cast<float>(word);
  const double most = power_of_two(width) - 1, most_signed = power_of_two(width - 1) - 1;
  const uint32_t mask = static_cast<uint32_t>(most);
  const auto signed_code = [&](double code) {
    return static_cast<uint32_t>(static_cast<int64_t>(code)) & mask;
  };
  switch (number) {
  case Number::Uint:
    return std::min(word, mask);
  case Number::Sint:
    return signed_code(std::clamp<double>(static_cast<int32_t>(word), -most_signed - 1, most_signed));
  case Number::Unorm:
    return static_cast<uint32_t>(whole(double{value} * most, 0, most));
  case Number::Snorm:
    return signed_code(whole(double{value} * most_signed, -most_signed, most_signed));
  case Number::Uscaled:
    return static_cast<uint32_t>(whole(value, 0, most));
  case Number::Sscaled:
    return signed_code(whole(value, -most_signed - 1, most_signed));
  default:
    if (width == 32)
      return word;
    if (width == 16)
      return float_to_half(value);
    if (width < 10)
      return 0;
    const SmallFormat &format = width == 11 ? float_11 : float_10;
    return value == value ? float_to_small(format, std::max(value, 0.0f), false) & mask : mask;
  }
}

/// The bits of one component of an element.
uint32_t component(const std::byte *element, const Layout &layout, unsigned k) {
  const unsigned at = layout.offset(k);
  uint64_t window = 0;
  std::memcpy(&window, element + at / 32 * 4, 4);
  return static_cast<uint32_t>(window >> at % 32 & ((uint64_t{1} << layout.bits[k]) - 1));
}
void put_component(std::byte *element, const Layout &layout, unsigned k, uint32_t code) {
  const unsigned at = layout.offset(k);
  uint32_t word;
  std::memcpy(&word, element + at / 32 * 4, 4);
  word |= code << at % 32;
  std::memcpy(element + at / 32 * 4, &word, 4);
}

/// The forms of an instruction: how many components it moves, and whether registers hold halves.
struct Form {
  std::string_view suffix;
  uint8_t components;
  bool half;
  bool high;
};
constexpr Form forms[] = {
    {"x", 1, false, false},      {"xy", 2, false, false},      {"xyz", 3, false, false},
    {"xyzw", 4, false, false},   {"d16_x", 1, true, false},    {"d16_xy", 2, true, false},
    {"d16_xyz", 3, true, false}, {"d16_xyzw", 4, true, false}, {"d16_hi_x", 1, true, true},
};

/// An element's format and, for loads, which component goes where: 0 and 1 are constants, 4 to 7 components.
struct ElementFormat {
  Layout layout;
  Number number;
  uint8_t select[4];

  ElementFormat(const Wave &wave, const Instruction &instruction) {
    const bool typed = instruction.operation->detail & 256;
    const uint32_t word = wave.sgpr[(instruction.scalar_base + 3) & 127];
    const unsigned format = typed ? instruction.format : (word >> 15 & 15) | (word >> 12 & 7) << 4;
    layout = layouts[format & 15];
    number = static_cast<Number>(format >> 4 & 7);
    for (unsigned k = 0; k < 4; ++k)
      select[k] = static_cast<uint8_t>(typed ? 4 + k : word >> 3 * k & 7);
  }
  uint32_t one() const { return is_integer(number) ? 1 : std::bit_cast<uint32_t>(1.0f); }
};

const Form &form_of(const Instruction &instruction) { return forms[instruction.operation->detail & 255]; }

/// The elements of the lanes in range, checked; false after a fault.
bool find_elements(Wave &wave, const Instruction &instruction, unsigned bytes, const char *what,
                   MemoryAccess &access, LanePointers &places) {
  access.bytes = static_cast<uint8_t>(bytes);
  access.to_lds = instruction.to_lds;
  if (bytes == 0) // without a format nothing is read or written
    return true;
  BufferAddressing(wave, instruction).find(wave.exec(), false, access);
  return locate(wave, access, std::min(bytes, 4u), what, places) && shown(wave, instruction, access);
}

void put_half(uint32_t &word, unsigned half, uint32_t value) {
  const unsigned shift = 16 * half;
  word = (word & ~(0xFFFFu << shift)) | (value & 0xFFFF) << shift;
}

/// Registers of a load; lanes out of range get zeros.
void put_components(Wave &wave, const Instruction &instruction, unsigned lane, const ElementFormat &format,
                    const uint32_t (&values)[4]) {
  const Form &form = form_of(instruction);
  for (unsigned k = 0; k < form.components; ++k) {
    if (!form.half) {
      wave.vgpr[instruction.data + k].word[lane] = values[k];
      continue;
    }
    uint32_t half = is_integer(format.number) ? values[k] : float_to_half(std::bit_cast<float>(values[k]));
    put_half(wave.vgpr[instruction.data + k / 2].word[lane], form.high ? 1 : k % 2, half);
  }
}

/// What a load makes of an element.
void unpack(const ElementFormat &format, const std::byte *from, uint32_t (&values)[4]) {
  std::byte element[16] = {};
  std::memcpy(element, from, format.layout.bytes());
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned select = format.select[k];
    if (select >= 4 && select - 4u < format.layout.count)
      values[k] = unpacked(component(element, format.layout, select - 4u), format.layout.bits[select - 4u],
                           format.number);
    else if (select == 1 || select == 7) // a missing w is 1
      values[k] = format.one();
  }
}

void load(Wave &wave, const Instruction &instruction) {
  const ElementFormat format(wave, instruction);
  const uint64_t active = wave.exec();
  MemoryAccess access, destination;
  LanePointers from, to;
  if (!find_elements(wave, instruction, format.layout.bytes(), "typed buffer load", access, from))
    return;
  if (instruction.to_lds) {
    lds_destination(wave, instruction, word_element, active, destination);
    if (!locate(wave, destination, 4, "typed buffer load to LDS", to) ||
        !shown(wave, instruction, destination))
      return;
  }
  each_lane(active, [&](unsigned lane) {
    uint32_t values[4] = {};
    if (access.touches(lane))
      unpack(format, from.at[lane], values);
    if (instruction.to_lds)
      std::memcpy(to.at[lane], &values[0], 4);
    else
      put_components(wave, instruction, lane, format, values);
  });
}

/// Components of the format that the instruction does not have are stored as 0.
void store(Wave &wave, const Instruction &instruction) {
  const ElementFormat format(wave, instruction);
  const Form &form = form_of(instruction);
  const unsigned bytes = format.layout.bytes();
  MemoryAccess access;
  LanePointers to;
  access.kind = MemoryAccess::Kind::Store;
  if (!find_elements(wave, instruction, bytes, "typed buffer store", access, to))
    return;
  each_lane(access.lanes, [&](unsigned lane) {
    std::byte element[16] = {};
    for (unsigned k = 0; k < std::min(form.components, format.layout.count); ++k) {
      uint32_t word = wave.vgpr[instruction.data + (form.half ? k / 2 : k)].word[lane];
      if (form.half) {
        const uint32_t half = form.high || k % 2 ? word >> 16 : word & 0xFFFF;
        word = format.number == Number::Uint   ? half
               : format.number == Number::Sint ? static_cast<uint32_t>(static_cast<int16_t>(half))
                                               : std::bit_cast<uint32_t>(half_to_float(half));
      }
      put_component(element, format.layout, k, packed(word, format.layout.bits[k], format.number));
    }
    std::memcpy(to.at[lane], element, bytes);
  });
}

} // namespace

std::vector<Operation> typed_buffer_operations() {
  std::vector<Operation> rows;
  for (const bool typed : {false, true})
    for (size_t k = 0; k < std::size(forms); ++k) {
      if (typed && forms[k].high)
        continue;
      const auto add = [&](const char *direction, Category category, Handler handler, MemoryForm::Kind kind) {
        rows.push_back(memory_operation(
            fmt::format("{}buffer_{}_format_{}", typed ? "t" : "", direction, forms[k].suffix), category,
            handler,
            {.kind = kind,
             .addressing = Addressing::Buffer,
             .element = {.half = forms[k].half, .high = forms[k].high},
             .converts = true}));
        rows.back().detail = static_cast<uint32_t>(k) | (typed ? 256 : 0);
      };
      add("load", Category::VmemLoad, load, MemoryForm::Kind::Load);
      add("store", Category::VmemStore, store, MemoryForm::Kind::Store);
    }
  return rows;
}

} // namespace nereid::sim
