// Typed buffers: every data and number format there and back, descriptors' formats, halves, ranges.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

constexpr const char *data_names[] = {"8",        "16",          "8_8",        "32",         "16_16",
                                      "10_11_11", "11_11_10",    "10_10_10_2", "2_10_10_10", "8_8_8_8",
                                      "32_32",    "16_16_16_16", "32_32_32",   "32_32_32_32"};
/// Widths from the lowest bits up; names read from the highest.
constexpr unsigned widths[][4] = {{8},
                                  {16},
                                  {8, 8},
                                  {32},
                                  {16, 16},
                                  {11, 11, 10},
                                  {10, 11, 11},
                                  {2, 10, 10, 10},
                                  {10, 10, 10, 2},
                                  {8, 8, 8, 8},
                                  {32, 32},
                                  {16, 16, 16, 16},
                                  {32, 32, 32},
                                  {32, 32, 32, 32}};
constexpr const char *number_names[] = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT"};

double small_float(uint32_t code, unsigned mantissa_bits) { // unsigned, five exponent bits
  const int exponent = static_cast<int>(code >> mantissa_bits);
  const double mantissa =
      std::ldexp(static_cast<double>(code & ((1u << mantissa_bits) - 1)), -static_cast<int>(mantissa_bits));
  if (exponent == 31)
    return mantissa != 0 ? NAN : INFINITY;
  return exponent ? std::ldexp(1 + mantissa, exponent - 15) : std::ldexp(mantissa, -14);
}

uint32_t word_of(double value) { return bits_of(static_cast<float>(value)); }

/// What a load makes of a component.
uint32_t loaded(uint32_t code, unsigned width, unsigned number) {
  const int64_t sign = static_cast<int64_t>(uint64_t{code} << (64 - width)) >> (64 - width);
  const double most = std::ldexp(1.0, static_cast<int>(width)) - 1,
               max_signed = std::ldexp(1.0, static_cast<int>(width) - 1) - 1;
  switch (number) {
  case 0:
    return word_of(code / most);
  case 1:
    return word_of(std::max(static_cast<double>(sign) / max_signed, -1.0));
  case 2:
    return word_of(code);
  case 3:
    return word_of(static_cast<double>(sign));
  case 4:
    return code;
  case 5:
    return static_cast<uint32_t>(sign);
  default:
    return width == 32   ? code
           : width == 16 ? word_of(half_value(code))
           : width == 11 ? word_of(small_float(code, 6))
                         : word_of(small_float(code, 5));
  }
}

bool is_float_format(unsigned data) { return data == 1 || (data >= 3 && data <= 6) || data >= 10; }

class TypedBuffer : public testing::Test {
protected:
  /// Runs one wave with s[8:11] a descriptor of the input (stride `bytes`), v0 the lane, s[12:15] one of the
  /// output; v[20:23] are stored to the output as dwords when `collect`.
  std::vector<uint32_t> run(const std::string &body, unsigned bytes, uint32_t word3 = 0x27000,
                            bool collect = true) {
    std::vector<uint8_t> data(64 * bytes);
    for (size_t k = 0; k < data.size(); ++k)
      data[k] = static_cast<uint8_t>(k * 37 + k / 16 * 11 + 5);
    input = data;
    Memory memory;
    uint64_t from = *memory.allocate(data.size()), to = *memory.allocate(1024);
    EXPECT_TRUE(memory.write(from, data.data(), data.size()).ok());
    EXPECT_TRUE(memory.fill(to, std::byte{0xEE}, 1024).ok());
    TestRun program(fmt::format("s_load_dwordx4 s[4:7], s[0:1], 0\nv_and_b32 v0, 0x3ff, v0\n"
                                "s_waitcnt lgkmcnt(0)\ns_mov_b32 s8, s4\ns_or_b32 s9, s5, {0:#x}\n"
                                "s_mov_b32 s10, 64\ns_mov_b32 s11, {1:#x}\ns_mov_b32 s12, s6\n"
                                "s_or_b32 s13, s7, {0:#x}\ns_mov_b32 s14, 60\ns_mov_b32 s15, {1:#x}\n{2}\n"
                                "s_waitcnt vmcnt(0)\n{3}",
                                bytes << 16, word3, body,
                                collect ? "v_lshlrev_b32 v1, 4, v0\nglobal_store_dwordx4 v1, v[20:23], s[6:7]"
                                        : "s_nop 0"));
    program.argument(from).argument(to);
    program.launch.block = {64, 1, 1};
    Report report = program(memory);
    EXPECT_FALSE(report.fault) << report.fault->error().text();
    std::vector<uint32_t> result(256);
    EXPECT_TRUE(memory.read(to, result.data(), 1024).ok());
    return result;
  }
  uint32_t component(unsigned data, unsigned lane, unsigned k) const {
    unsigned bit = 0, bytes = 0;
    for (unsigned c = 0; c < 4; ++c)
      bytes += widths[data][c];
    for (unsigned c = 0; c < k; ++c)
      bit += widths[data][c];
    uint32_t code = 0;
    for (unsigned b = 0; b < widths[data][k]; ++b, ++bit)
      code |= uint32_t(input[lane * bytes / 8 + bit / 8] >> bit % 8 & 1) << b;
    return code;
  }
  static unsigned bytes_of(unsigned data) {
    return (widths[data][0] + widths[data][1] + widths[data][2] + widths[data][3]) / 8;
  }
  std::vector<uint8_t> input;
};

std::string format_text(unsigned data, unsigned number) {
  return fmt::format("format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]", data_names[data], number_names[number]);
}

TEST_F(TypedBuffer, LoadsConvertEveryFormat) {
  for (unsigned data = 0; data < std::size(widths); ++data)
    for (unsigned number : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) {
      if (number == 7 && !is_float_format(data))
        continue;
      const auto result =
          run("tbuffer_load_format_xyzw v[20:23], v0, s[8:11], 0 " + format_text(data, number) + " idxen",
              bytes_of(data));
      const uint32_t one = number == 4 || number == 5 ? 1 : bits_of(1.0f);
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned k = 0; k < 4; ++k) {
          const uint32_t expected = widths[data][k]
                                        ? loaded(component(data, lane, k), widths[data][k], number)
                                        : (k == 3 ? one : 0);
          const uint32_t actual = result[4 * lane + k];
          const bool nan =
              number != 4 && number != 5 && std::isnan(as_float(expected)) && std::isnan(as_float(actual));
          ASSERT_TRUE(nan || actual == expected)
              << fmt::format("{} lane {} component {}: {:#x}, expected {:#x}", format_text(data, number),
                             lane, k, actual, expected);
        }
    }
}

TEST_F(TypedBuffer, WhatALoadGaveAStoreGivesBack) {
  for (unsigned data = 0; data < std::size(widths); ++data)
    for (unsigned number : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) {
      // 32-bit integers do not survive a float; negative unsigned codes and NaNs have several forms.
      const bool lossy = widths[data][0] == 32 && number < 4;
      if (lossy || (number == 7 && !is_float_format(data)))
        continue;
      const unsigned bytes = bytes_of(data);
      const auto result =
          run(fmt::format("tbuffer_load_format_xyzw v[20:23], v0, s[8:11], 0 {0} idxen\n"
                          "s_waitcnt vmcnt(0)\ntbuffer_store_format_xyzw v[20:23], v0, s[12:15], "
                          "0 {0} idxen",
                          format_text(data, number)),
              bytes, 0x27000, false);
      const auto *stored = reinterpret_cast<const uint8_t *>(result.data());
      const std::vector<uint8_t> original = input;
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned k = 0; k < 4 && widths[data][k]; ++k) {
          const uint32_t before = component(data, lane, k);
          input.assign(stored, stored + std::min<size_t>(64 * bytes, 1024));
          const uint32_t after = component(data, lane, k);
          input = original;
          if (lane >= 60) { // beyond the records of the output
            EXPECT_EQ(stored[lane * bytes], 0xEE);
            continue;
          }
          ASSERT_TRUE(before == after ||
                      loaded(before, widths[data][k], number) == loaded(after, widths[data][k], number) ||
                      std::isnan(as_float(loaded(before, widths[data][k], number))))
              << fmt::format("{} lane {} component {}: {:#x} became {:#x}", format_text(data, number), lane,
                             k, before, after);
        }
    }
}

TEST_F(TypedBuffer, StoresSaturateAndRound) {
  const auto stored = [&](const char *values, unsigned data, unsigned number) {
    auto result = run(fmt::format("{}\ntbuffer_store_format_xyzw v[20:23], v0, s[12:15], 0 {} idxen", values,
                                  format_text(data, number)),
                      bytes_of(data), 0x27000, false);
    return result[0];
  };
  constexpr const char *floats = "v_mov_b32 v20, 0x3f000000\nv_mov_b32 v21, 2.0\nv_mov_b32 v22, -1.0\n"
                                 "v_mov_b32 v23, 0x7fc00000";
  EXPECT_EQ(stored(floats, 9, 0), 0x0000FF80u); // 127.5 to even
  EXPECT_EQ(stored(floats, 9, 1), 0x00817F40u); // 63.5 to even
  EXPECT_EQ(stored(floats, 9, 2), 0x00000200u);
  EXPECT_EQ(stored(floats, 5, 7), 0x00000000u | 14u << 6 | 16u << 17); // 0.5, 2.0, negative
  constexpr const char *integers = "v_mov_b32 v20, 300\nv_mov_b32 v21, -1\nv_mov_b32 v22, 5\n"
                                   "v_mov_b32 v23, 0x80000000";
  EXPECT_EQ(stored(integers, 9, 4), 0xFF05FFFFu);
  EXPECT_EQ(stored(integers, 9, 5), 0x8005FF7Fu);
}

TEST_F(TypedBuffer, HalvesAndDescriptorFormats) {
  auto halves = run("v_mov_b32 v21, -1\ntbuffer_load_format_d16_xyz v[20:21], v0, s[8:11], 0 " +
                        format_text(9, 4) + " idxen",
                    4);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(halves[4 * lane], component(9, lane, 0) | component(9, lane, 1) << 16);
    EXPECT_EQ(halves[4 * lane + 1] & 0xFFFF, component(9, lane, 2));
  }
  // The descriptor: 8_8_8_8 UNORM, selecting W, 1, X, 0.
  auto selected = run("buffer_load_format_xyzw v[20:23], v0, s[8:11], 0 idxen", 4,
                      7u | 1u << 3 | 4u << 6 | 0u << 9 | 0u << 12 | 10u << 15);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(selected[4 * lane], loaded(component(9, lane, 3), 8, 0));
    EXPECT_EQ(selected[4 * lane + 1], bits_of(1.0f));
    EXPECT_EQ(selected[4 * lane + 2], loaded(component(9, lane, 0), 8, 0));
    EXPECT_EQ(selected[4 * lane + 3], 0u);
  }
  auto high = run("v_mov_b32 v20, 0x1234\nbuffer_load_format_d16_hi_x v20, v0, s[8:11], 0 idxen", 4,
                  4u | 4u << 12 | 10u << 15);
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(high[4 * lane], component(9, lane, 0) << 16 | 0x1234);
  auto beyond = run("v_add_u32 v2, 32, v0\ntbuffer_load_format_xyzw v[20:23], v2, s[8:11], 0 " +
                        format_text(3, 4) + " idxen",
                    4);
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(beyond[4 * lane], lane < 32 ? component(3, lane + 32, 0) : 0);
}

} // namespace
} // namespace nereid::sim::test
