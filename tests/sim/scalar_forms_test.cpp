// Every form of the scalar bit operations, compares and EXEC operations.

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/scalar_table.h"

namespace nereid::sim::test {
namespace {

unsigned count(uint64_t value) {
  unsigned bits = 0;
  for (; value; value &= value - 1)
    ++bits;
  return bits;
}
/// The lowest set bit, or the number of zeros above the highest one; all ones when there is none.
uint64_t lowest(uint64_t value) {
  for (unsigned k = 0; k < 64; ++k)
    if (value >> k & 1)
      return k;
  return 0xFFFFFFFF;
}
uint64_t zeros_above(uint64_t value, unsigned bits) {
  for (unsigned k = 0; k < bits; ++k)
    if (value >> (bits - 1 - k) & 1)
      return k;
  return 0xFFFFFFFF;
}

TEST(Scalar, EveryBitOperationOfBothWidths) {
  std::vector<ScalarCase> cases;
  for (const unsigned bits : {32u, 64u}) {
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : 0xFFFFFFFF;
    const bool wide = bits == 64;
    const std::string d = wide ? "s[20:21]" : "s20", x = wide ? "s[24:25]" : "s24",
                      y = wide ? "s[26:27]" : "s26";
    using Binary = uint64_t (*)(uint64_t, uint64_t);
    const std::pair<const char *, Binary> binary[] = {
        {"and", [](uint64_t a, uint64_t b) { return a & b; }},
        {"or", [](uint64_t a, uint64_t b) { return a | b; }},
        {"xor", [](uint64_t a, uint64_t b) { return a ^ b; }},
        {"andn2", [](uint64_t a, uint64_t b) { return a & ~b; }},
        {"orn2", [](uint64_t a, uint64_t b) { return a | ~b; }},
        {"nand", [](uint64_t a, uint64_t b) { return ~(a & b); }},
        {"nor", [](uint64_t a, uint64_t b) { return ~(a | b); }},
        {"xnor", [](uint64_t a, uint64_t b) { return ~(a ^ b); }},
    };
    for (const auto &[name, f] : binary)
      cases.push_back({fmt::format("s_{}_b{} {}, {}, {}", name, bits, d, x, y),
                       [=, f = f](uint64_t a, uint64_t b) {
                         const uint64_t r = f(a, b) & mask;
                         return ScalarResult{r, r != 0};
                       },
                       wide});
    const auto shift = [&](const char *name, uint64_t (*f)(uint64_t, unsigned, unsigned)) {
      cases.push_back({fmt::format("s_{} {}, {}, s26", name, d, x),
                       [=](uint64_t a, uint64_t b) {
                         const uint64_t r = f(a & mask, b & (bits - 1), bits) & mask;
                         return ScalarResult{r, r != 0};
                       },
                       wide});
    };
    shift(wide ? "lshl_b64" : "lshl_b32", [](uint64_t a, unsigned n, unsigned) { return a << n; });
    shift(wide ? "lshr_b64" : "lshr_b32", [](uint64_t a, unsigned n, unsigned) { return a >> n; });
    shift(wide ? "ashr_i64" : "ashr_i32", [](uint64_t a, unsigned n, unsigned w) {
      return static_cast<uint64_t>(static_cast<int64_t>(a << (64 - w)) >> (64 - w) >> n);
    });
    const auto field = [&](bool sign) {
      cases.push_back({fmt::format("s_bfe_{}{} {}, {}, s26", sign ? "i" : "u", bits, d, x),
                       [=](uint64_t a, uint64_t b) {
                         const unsigned offset = b & (bits - 1),
                                        width = std::min<unsigned>(b >> 16 & 127, bits - offset);
                         uint64_t r = width == 0 ? 0 : (a & mask) >> offset << (64 - width);
                         if (width)
                           r = sign ? static_cast<uint64_t>(static_cast<int64_t>(r) >> (64 - width))
                                    : r >> (64 - width);
                         return ScalarResult{r & mask, (r & mask) != 0};
                       },
                       wide});
    };
    field(false);
    field(true);
    const auto unary = [&](const std::string &text, std::function<uint64_t(uint64_t)> f, bool sets,
                           bool result_wide) {
      cases.push_back({text,
                       [=](uint64_t a, uint64_t) {
                         const uint64_t r = f(a & mask) & (result_wide ? mask : 0xFFFFFFFF);
                         return ScalarResult{r, sets && r != 0};
                       },
                       result_wide});
    };
    unary(fmt::format("s_not_b{} {}, {}", bits, d, x), [](uint64_t a) { return ~a; }, true, wide);
    unary(fmt::format("s_mov_b{} {}, {}", bits, d, x), [](uint64_t a) { return a; }, false, wide);
    unary(
        fmt::format("s_brev_b{} {}, {}", bits, d, x),
        [=](uint64_t a) {
          uint64_t r = 0;
          for (unsigned k = 0; k < bits; ++k)
            r |= (a >> k & 1) << (bits - 1 - k);
          return r;
        },
        false, wide);
    unary(
        fmt::format("s_wqm_b{} {}, {}", bits, d, x),
        [](uint64_t a) {
          uint64_t r = 0;
          for (unsigned k = 0; k < 64; k += 4)
            r |= a >> k & 15 ? uint64_t{15} << k : 0;
          return r;
        },
        true, wide);
    unary(
        fmt::format("s_quadmask_b{} {}, {}", bits, d, x),
        [](uint64_t a) {
          uint64_t r = 0;
          for (unsigned k = 0; k < 64; k += 4)
            r |= uint64_t{(a >> k & 15) != 0} << k / 4;
          return r;
        },
        true, wide);
    unary(fmt::format("s_bcnt1_i32_b{} s20, {}", bits, x), [](uint64_t a) { return count(a); }, true, false);
    unary(
        fmt::format("s_bcnt0_i32_b{} s20, {}", bits, x), [=](uint64_t a) { return bits - count(a); }, true,
        false);
    unary(fmt::format("s_ff1_i32_b{} s20, {}", bits, x), lowest, false, false);
    unary(
        fmt::format("s_ff0_i32_b{} s20, {}", bits, x), [=](uint64_t a) { return lowest(~a & mask); }, false,
        false);
    unary(
        fmt::format("s_flbit_i32_b{} s20, {}", bits, x), [=](uint64_t a) { return zeros_above(a, bits); },
        false, false);
    unary(
        fmt::format("s_flbit_i32{} s20, {}", wide ? "_i64" : "", x),
        [=](uint64_t a) { return zeros_above(a >> (bits - 1) & 1 ? ~a & mask : a, bits); }, false, false);
    for (const bool one : {false, true}) {
      cases.push_back(
          {fmt::format("s_bitcmp{}_b{} {}, s26", one ? 1 : 0, bits, x), [=](uint64_t a, uint64_t b) {
             return ScalarResult{0, (a >> (b & (bits - 1)) & 1) == (one ? 1u : 0u)};
           }});
      cases.push_back(
          {fmt::format("s_mov_b64 s[20:21], s[24:25]\ns_bitset{}_b{} {}, s26", one ? 1 : 0, bits, d),
           [=](uint64_t a, uint64_t b) {
             const uint64_t bit = uint64_t{1} << (b & (bits - 1));
             return ScalarResult{one ? a | bit : a & ~bit, false};
           },
           true});
    }
    cases.push_back({fmt::format("s_bfm_b{} {}, s24, s26", bits, d),
                     [=](uint64_t a, uint64_t b) {
                       return ScalarResult{
                           (((uint64_t{1} << (a & (bits - 1))) - 1) << (b & (bits - 1))) & mask, false};
                     },
                     wide});
    cases.push_back({fmt::format("s_cmp_lt_u32 s24, s26\ns_cmov_b{} {}, {}", bits, d, x),
                     [=](uint64_t a, uint64_t b) {
                       return ScalarResult{low(a) < low(b) ? a & mask : 0, low(a) < low(b)};
                     },
                     wide});
  }
  expect_scalars(cases);
}

TEST(Scalar, EveryCompare) {
  std::vector<ScalarCase> cases;
  struct Relation {
    const char *name;
    bool (*holds)(int64_t a, int64_t b);
  };
  const Relation relations[] = {
      {"eq", [](int64_t a, int64_t b) { return a == b; }},
      {"lg", [](int64_t a, int64_t b) { return a != b; }},
      {"gt", [](int64_t a, int64_t b) { return a > b; }},
      {"ge", [](int64_t a, int64_t b) { return a >= b; }},
      {"lt", [](int64_t a, int64_t b) { return a < b; }},
      {"le", [](int64_t a, int64_t b) { return a <= b; }},
  };
  for (const auto &[name, holds] : relations) {
    cases.push_back({fmt::format("s_cmp_{}_i32 s24, s26", name), [=, holds = holds](uint64_t a, uint64_t b) {
                       return ScalarResult{0, holds(sign(a), sign(b))};
                     }});
    cases.push_back({fmt::format("s_cmp_{}_u32 s24, s26", name), [=, holds = holds](uint64_t a, uint64_t b) {
                       return ScalarResult{0, holds(low(a), low(b))};
                     }});
    for (const int constant : {5, -1, 31}) {
      cases.push_back(
          {fmt::format("s_cmpk_{}_i32 s24, {}", name, constant),
           [=, holds = holds](uint64_t a, uint64_t) { return ScalarResult{0, holds(sign(a), constant)}; }});
      cases.push_back({fmt::format("s_cmpk_{}_u32 s24, {}", name, constant & 0xFFFF),
                       [=, holds = holds](uint64_t a, uint64_t) {
                         return ScalarResult{0, holds(low(a), constant & 0xFFFF)};
                       }});
    }
  }
  cases.push_back(
      {"s_cmp_lg_u64 s[24:25], s[26:27]", [](uint64_t a, uint64_t b) { return ScalarResult{0, a != b}; }});
  expect_scalars(cases);
}

TEST(Scalar, EveryArithmeticAndExecForm) {
  std::vector<ScalarCase> cases = {
      {"s_min_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{std::min(low(a), low(b)), low(a) < low(b)}; }},
      {"s_max_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         return ScalarResult{low(sign(a) > sign(b) ? a : b), sign(a) >= sign(b)};
       }},
      {"s_absdiff_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         const uint32_t difference = low(a) - low(b);
         return nonzero(difference >> 31 ? 0 - difference : difference);
       }},
      {"s_cselect_b32 s20, s24, s26", [](uint64_t, uint64_t b) { return ScalarResult{low(b), false}; }},
      {"s_pack_ll_b32_b16 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{(a & 0xFFFF) | low(b) << 16, false}; }},
      {"s_pack_hh_b32_b16 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{low(a) >> 16 | (low(b) & 0xFFFF0000), false}; }},
      {"s_sext_i32_i16 s20, s24",
       [](uint64_t a, uint64_t) {
         return ScalarResult{low(static_cast<uint64_t>(static_cast<int16_t>(a))), false};
       }},
      {"s_bitreplicate_b64_b32 s[20:21], s24",
       [](uint64_t a, uint64_t) {
         uint64_t r = 0;
         for (unsigned k = 0; k < 64; ++k)
           r |= (a >> k / 2 & 1) << k;
         return ScalarResult{r, false};
       },
       true},
      {"s_cmp_lt_u32 s24, s26\ns_cmovk_i32 s20, -7",
       [](uint64_t a, uint64_t b) {
         return ScalarResult{low(a) < low(b) ? 0xFFFFFFF9u : 0, low(a) < low(b)};
       }},
      {"s_getpc_b64 s[20:21]\ns_and_b32 s20, s20, 3\ns_mov_b32 s21, 0",
       [](uint64_t, uint64_t) { return ScalarResult{0, false}; }, true},
  };
  for (unsigned shift = 1; shift <= 4; ++shift)
    cases.push_back({fmt::format("s_lshl{}_add_u32 s20, s24, s26", shift), [=](uint64_t a, uint64_t b) {
                       const uint64_t sum = (uint64_t{low(a)} << shift) + low(b);
                       return ScalarResult{low(sum), sum >> 32 != 0};
                     }});
  using Masks = uint64_t (*)(uint64_t s, uint64_t exec);
  const std::pair<const char *, Masks> forms[] = {
      {"and_saveexec", [](uint64_t s, uint64_t e) { return s & e; }},
      {"or_saveexec", [](uint64_t s, uint64_t e) { return s | e; }},
      {"xor_saveexec", [](uint64_t s, uint64_t e) { return s ^ e; }},
      {"andn2_saveexec", [](uint64_t s, uint64_t e) { return s & ~e; }},
      {"orn2_saveexec", [](uint64_t s, uint64_t e) { return s | ~e; }},
      {"nand_saveexec", [](uint64_t s, uint64_t e) { return ~(s & e); }},
      {"nor_saveexec", [](uint64_t s, uint64_t e) { return ~(s | e); }},
      {"xnor_saveexec", [](uint64_t s, uint64_t e) { return ~(s ^ e); }},
      {"andn1_saveexec", [](uint64_t s, uint64_t e) { return ~s & e; }},
      {"orn1_saveexec", [](uint64_t s, uint64_t e) { return ~s | e; }},
      {"andn1_wrexec", [](uint64_t s, uint64_t e) { return ~s & e; }},
      {"andn2_wrexec", [](uint64_t s, uint64_t e) { return s & ~e; }},
  };
  for (const auto &[name, f] : forms)
    cases.push_back(
        {fmt::format("s_mov_b64 exec, s[26:27]\ns_{}_b64 s[40:41], s[24:25]\ns_mov_b64 s[20:21], exec\n"
                     "s_mov_b64 exec, 1",
                     name),
         [=, f = f](uint64_t a, uint64_t b) { return nonzero64(f(a, b)); }, true});
  expect_scalars(cases);
}

} // namespace
} // namespace nereid::sim::test
