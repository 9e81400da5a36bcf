// Every control of DPP and every selection of SDWA.

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

struct Case {
  std::string text; ///< % is the result register, which holds v1 before; v0 is the source
  std::function<uint32_t(unsigned lane)> expected;
};

uint32_t source(unsigned lane) { return 0x80C07F01u * (2 * lane + 1) ^ lane << 13; }
uint32_t second(unsigned lane) { return 0x91A2B3C4u + 0x01010101u * lane; }

void expect_all(const std::vector<Case> &cases) {
  std::vector<uint32_t> inputs(128);
  for (unsigned lane = 0; lane < 64; ++lane) {
    inputs[lane] = source(lane);
    inputs[64 + lane] = second(lane);
  }
  constexpr size_t part = 80;
  for (size_t at = 0; at < cases.size(); at += part) {
    const size_t count = std::min(part, cases.size() - at);
    std::string body;
    for (size_t k = 0; k < count; ++k) {
      const std::string result = fmt::format("v{}", 16 + k);
      std::string text = cases[at + k].text;
      text.replace(text.find('%'), 1, result);
      body += fmt::format("v_mov_b32 {}, v1\ns_nop 1\n{}\n", result, text);
    }
    const auto results = run_lanes(body, inputs, 16, static_cast<unsigned>(count));
    for (size_t k = 0; k < count; ++k)
      for (unsigned lane = 0; lane < 64; ++lane)
        ASSERT_EQ(results[k * 64 + lane], cases[at + k].expected(lane))
            << fmt::format("{} lane {}", cases[at + k].text, lane);
  }
}

TEST(Selection, EveryDppControl) {
  std::vector<Case> cases;
  /// `from` gives the lane that is read, -1 for none: then the result stays, or 0 is read with bound_ctrl.
  const auto add = [&](const std::string &control, std::function<int(int)> from) {
    for (const bool bound : {false, true})
      cases.push_back({fmt::format("v_mov_b32_dpp %, v0 {} row_mask:0xf bank_mask:0xf{}", control,
                                   bound ? " bound_ctrl:1" : ""),
                       [=](unsigned lane) {
                         const int read = from(static_cast<int>(lane));
                         return read >= 0 ? source(static_cast<unsigned>(read)) : bound ? 0 : second(lane);
                       }});
  };
  for (int control = 0; control < 256; ++control)
    cases.push_back({fmt::format("v_mov_b32_dpp %, v0 quad_perm:[{},{},{},{}] row_mask:0xf bank_mask:0xf",
                                 control & 3, control >> 2 & 3, control >> 4 & 3, control >> 6),
                     [=](unsigned lane) {
                       return source((lane & ~3u) | (static_cast<unsigned>(control) >> 2 * (lane & 3) & 3));
                     }});
  for (int n = 1; n < 16; ++n) {
    add(fmt::format("row_shl:{}", n), [=](int l) { return l % 16 + n < 16 ? l + n : -1; });
    add(fmt::format("row_shr:{}", n), [=](int l) { return l % 16 >= n ? l - n : -1; });
    add(fmt::format("row_ror:{}", n), [=](int l) { return l / 16 * 16 + (l + 16 - n) % 16; });
  }
  for (int n = 0; n < 16; ++n)
    add(fmt::format("row_newbcast:{}", n), [=](int l) { return l / 16 * 16 + n; });
  add("wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; });
  add("wave_rol:1", [](int l) { return (l + 1) % 64; });
  add("wave_shr:1", [](int l) { return l - 1; });
  add("wave_ror:1", [](int l) { return (l + 63) % 64; });
  add("row_mirror", [](int l) { return l ^ 15; });
  add("row_half_mirror", [](int l) { return l ^ 7; });
  add("row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; });
  add("row_bcast:31", [](int l) { return l < 32 ? -1 : 31; });
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned bank : {1u, 6u, 15u})
      cases.push_back(
          {fmt::format("v_mov_b32_dpp %, v0 quad_perm:[1,0,3,2] row_mask:{:#x} bank_mask:{:#x}", row, bank),
           [=](unsigned lane) {
             const bool enabled = row >> lane / 16 & bank >> lane / 4 % 4 & 1;
             return enabled ? source(lane ^ 1) : second(lane);
           }});
  expect_all(cases);
}

constexpr const char *selections[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};

uint32_t selected(uint32_t word, unsigned select, bool sign) {
  const unsigned width = select < 4 ? 8 : select < 6 ? 16 : 32;
  const unsigned shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
  if (width == 32)
    return word;
  const uint32_t part = word >> shift & ((1u << width) - 1);
  return sign && part >> (width - 1) ? part | ~0u << width : part;
}

/// The result register after `value` went to a part of it: the rest is 0, copies of the sign, or as before.
uint32_t placed(uint32_t value, unsigned select, unsigned unused, uint32_t old) {
  if (select == 6)
    return value;
  const unsigned width = select < 4 ? 8 : 16, shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
  const uint32_t part = ((1u << width) - 1) << shift, moved = value << shift & part;
  if (unused == 2)
    return moved | (old & ~part);
  const bool negative = value >> (width - 1) & 1;
  return unused == 1 && negative ? moved | (~0u << shift & ~part) : moved;
}

TEST(Selection, EverySdwaSelection) {
  constexpr const char *unused_names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  std::vector<Case> cases;
  for (unsigned to = 0; to < 7; ++to)
    for (unsigned unused = 0; unused < 3; ++unused)
      for (unsigned from = 0; from < 7; ++from)
        for (const bool sign : {false, true})
          cases.push_back(
              {fmt::format("v_mov_b32_sdwa %, {} dst_sel:{} dst_unused:{} src0_sel:{}",
                           sign ? "sext(v0)" : "v0", selections[to], unused_names[unused], selections[from]),
               [=](unsigned lane) {
                 return placed(selected(source(lane), from, sign), to, unused, second(lane));
               }});
  for (unsigned a = 0; a < 7; ++a)
    for (unsigned b = 0; b < 7; ++b)
      for (const bool sign : {false, true})
        cases.push_back({fmt::format("v_add_u32_sdwa %, v0, {} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
                                     "src0_sel:{} src1_sel:{}",
                                     sign ? "sext(v1)" : "v1", selections[a], selections[b]),
                         [=](unsigned lane) {
                           const uint32_t sum =
                               selected(source(lane), a, false) + selected(second(lane), b, sign);
                           return placed(sum, 5, 2, second(lane));
                         }});
  expect_all(cases);
}

} // namespace
} // namespace nereid::sim::test
