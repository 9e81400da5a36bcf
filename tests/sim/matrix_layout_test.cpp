// Every MFMA and SMFMAC by one-hot operands: each row of A has one element that is 1, at another k in every
// wave, so that each result is one element of B. All of A and B are visited.

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

using Registers = std::vector<uint32_t>; // [register * 64 + lane]

void put_bits(Registers &registers, unsigned first, unsigned lane, unsigned bit, unsigned width,
              uint64_t code) {
  for (unsigned k = 0; k < width; ++k)
    if (code >> k & 1)
      registers[(first + (bit + k) / 32) * 64 + lane] |= 1u << (bit + k) % 32;
}

/// A float of any small width by its definition; no infinities or NaNs are asked for.
double value_of(uint64_t code, unsigned exponent_bits, unsigned mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  double mantissa = static_cast<double>(code & ((uint64_t{1} << mantissa_bits) - 1));
  double magnitude = exponent ? std::ldexp(mantissa + std::ldexp(1.0, static_cast<int>(mantissa_bits)),
                                           exponent - bias - static_cast<int>(mantissa_bits))
                              : std::ldexp(mantissa, 1 - bias - static_cast<int>(mantissa_bits));
  return code >> (exponent_bits + mantissa_bits) & 1 ? -magnitude : magnitude;
}

struct Kind {
  const char *name;
  unsigned bits;
  unsigned exponent_bits, mantissa_bits; ///< 0: an integer

  double value(uint64_t code) const {
    return exponent_bits ? value_of(code, exponent_bits, mantissa_bits) : static_cast<int8_t>(code);
  }
  uint64_t one() const {
    return exponent_bits ? uint64_t((1 << (exponent_bits - 1)) - 1) << mantissa_bits : 1;
  }
  /// A random code of an ordinary number.
  uint64_t any(std::mt19937 &random) const {
    if (bits == 64)
      return uint64_t{0x3FF00000 | (random() & 0xFFFFF)} << 32 | random();
    for (;;) {
      uint64_t code = random() & (bits == 32 ? ~0u : (1u << bits) - 1);
      unsigned exponent = static_cast<unsigned>(code >> mantissa_bits) & ((1u << exponent_bits) - 1);
      bool special = bits >= 8 && exponent == (1u << exponent_bits) - 1;
      if (!exponent_bits || (!special && exponent))
        return code;
    }
  }
};
constexpr Kind f64{"f64", 64, 11, 52}, f32{"f32", 32, 8, 23}, f16{"f16", 16, 5, 10}, bf16{"bf16", 16, 8, 7},
    fp8{"fp8", 8, 4, 3}, bf8{"bf8", 8, 5, 2}, i8{"i8", 8, 0, 0};

struct Form {
  unsigned size, k, blocks;
  Kind a, b;
};

std::string name_of(const char *prefix, const Form &form, const char *result) {
  std::string blocks = form.blocks > 1 ? fmt::format("{}b_", form.blocks) : "";
  std::string types = form.a.bits == 8 && form.a.exponent_bits
                          ? fmt::format("{}_{}", form.a.name, form.b.name)
                          : std::string(form.a.name);
  return fmt::format("{}{}_{}x{}x{}_{}{}", prefix, result, form.size, form.size, form.k, blocks, types);
}
const char *result_of(const Form &form) {
  return form.a.bits == 64 ? "f64" : form.a.exponent_bits ? "f32" : "i32";
}

/// Lane and first register of element (i, j) of a block of D, by the layouts of the ISA description.
std::pair<unsigned, unsigned> place_of_result(const Form &form, unsigned block, unsigned i, unsigned j) {
  if (form.a.bits == 64)
    return form.size == 4 ? std::pair{16 * i + 4 * block + j, 0u} : std::pair{16 * (i % 4) + j, 2 * (i / 4)};
  switch (form.size) {
  case 4:
    return {4 * block + j, i};
  case 16:
    return {16 * (i / 4) + j, 4 * block + i % 4};
  default:
    return {32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4};
  }
}

double result_value(const Form &form, const Registers &d, std::pair<unsigned, unsigned> place) {
  auto [lane, index] = place;
  uint32_t word = d[index * 64 + lane];
  if (form.a.bits == 64) {
    uint64_t wide = word | uint64_t{d[(index + 1) * 64 + lane]} << 32;
    double value;
    std::memcpy(&value, &wide, 8);
    return value;
  }
  if (!form.a.exponent_bits)
    return static_cast<int32_t>(word);
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

std::string tuple(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

constexpr unsigned first_b = 8, first_index = 16, first_result = 32;

std::vector<Form> dense_forms() {
  std::vector<Form> forms;
  for (auto [size, k, blocks] :
       {std::array{32u, 1u, 2u}, {16u, 1u, 4u}, {4u, 1u, 16u}, {32u, 2u, 1u}, {16u, 4u, 1u}})
    forms.push_back({size, k, blocks, f32, f32});
  for (auto [size, k, blocks] : {std::array{32u, 4u, 2u},
                                 {16u, 4u, 4u},
                                 {4u, 4u, 16u},
                                 {32u, 8u, 1u},
                                 {16u, 16u, 1u},
                                 {16u, 32u, 1u},
                                 {32u, 16u, 1u}})
    for (Kind kind : {f16, bf16})
      forms.push_back({size, k, blocks, kind, kind});
  for (auto [size, k, blocks] : {std::array{32u, 4u, 2u},
                                 {16u, 4u, 4u},
                                 {4u, 4u, 16u},
                                 {32u, 16u, 1u},
                                 {16u, 32u, 1u},
                                 {16u, 64u, 1u},
                                 {32u, 32u, 1u}})
    forms.push_back({size, k, blocks, i8, i8});
  for (Kind a : {fp8, bf8})
    for (Kind b : {fp8, bf8}) {
      forms.push_back({16, 32, 1, a, b});
      forms.push_back({32, 16, 1, a, b});
    }
  forms.push_back({16, 4, 1, f64, f64});
  forms.push_back({4, 4, 4, f64, f64});
  return forms;
}

TEST(MatrixLayout, EveryDenseElementIsFoundAtItsResults) {
  std::mt19937 random(1);
  for (const Form &form : dense_forms()) {
    const std::string name = name_of("v_mfma_", form, result_of(form));
    const unsigned lanes = form.size * form.blocks, elements = form.k / (64 / lanes);
    const unsigned registers = std::max(1u, elements * form.a.bits / 32),
                   results = form.size * form.size * form.blocks / 64 * (form.a.bits == 64 ? 2 : 1);
    // Element k of row or column r of a block: a lane holds neighbours along k.
    const auto put = [&](Registers &to, unsigned first, unsigned block, unsigned r, unsigned k,
                         const Kind &kind, uint64_t code) {
      put_bits(to, first, r + form.size * block + lanes * (k / elements), k % elements * kind.bits, kind.bits,
               code);
    };
    Registers common(16 * 64);
    std::vector<uint64_t> b(form.blocks * form.k * form.size);
    for (unsigned block = 0; block < form.blocks; ++block)
      for (unsigned k = 0; k < form.k; ++k)
        for (unsigned j = 0; j < form.size; ++j) {
          uint64_t &code = b[(block * form.k + k) * form.size + j] = form.b.any(random);
          put(common, first_b, block, j, k, form.b, code);
        }
    std::vector<Registers> waves(form.k, common);
    for (unsigned wave = 0; wave < form.k; ++wave)
      for (unsigned block = 0; block < form.blocks; ++block)
        for (unsigned i = 0; i < form.size; ++i)
          put(waves[wave], 0, block, i, (i + block + wave) % form.k, form.a, form.a.one());
    const auto d = run_waves(fmt::format("{} {}, {}, {}, 0", name, tuple(first_result, results),
                                         tuple(0, registers), tuple(first_b, registers)),
                             waves, first_result, results);
    for (unsigned wave = 0; wave < form.k; ++wave)
      for (unsigned block = 0; block < form.blocks; ++block)
        for (unsigned i = 0; i < form.size; ++i)
          for (unsigned j = 0; j < form.size; ++j) {
            const unsigned k = (i + block + wave) % form.k;
            ASSERT_EQ(result_value(form, d[wave], place_of_result(form, block, i, j)),
                      form.b.value(b[(block * form.k + k) * form.size + j]))
                << fmt::format("{} block {} ({}, {}) k {}", name, block, i, j, k);
          }
  }
}

std::vector<Form> sparse_forms() {
  std::vector<Form> forms;
  for (Kind kind : {f16, bf16})
    for (auto [size, k] : {std::pair{16u, 32u}, {32u, 16u}, {16u, 64u}, {32u, 32u}})
      forms.push_back({size, k, 1, kind, kind});
  for (auto [size, k] : {std::pair{16u, 64u}, {32u, 32u}, {16u, 128u}, {32u, 64u}}) {
    forms.push_back({size, k, 1, i8, i8});
    for (Kind a : {fp8, bf8})
      for (Kind b : {fp8, bf8})
        forms.push_back({size, k, 1, a, b});
  }
  return forms;
}

/// Where value `which` of the four positions `quad` of a row of A lies: lane group, and pair within the lane.
/// As found on an MI350.
struct PairPlace {
  unsigned group, pair;
};
PairPlace place_of_pair(const Form &form, unsigned quad) {
  const unsigned groups = 64 / form.size, pairs = form.k / 4 / groups, quads = form.k / 4;
  if (form.a.bits == 16)
    return {quad / pairs, quad % pairs};
  if (pairs == 4) {
    const unsigned half = quads / 2;
    return {quad % half / 2, 2 * (quad / half) + quad % 2};
  }
  if (form.size == 16)
    return {2 * (quad / 16) + quad / 4 % 2, quad % 2 + 2 * (quad / 8 % 2) + 4 * (quad % 4 / 2)};
  return {quad / 8, quad % 2 + 2 * (quad / 4 % 2) + 4 * (quad / 2 % 2)};
}

TEST(MatrixLayout, EverySparseElementIsFoundAtItsResults) {
  std::mt19937 random(2);
  for (const Form &form : sparse_forms()) {
    const std::string name = name_of("v_smfmac_", form, result_of(form));
    const unsigned groups = 64 / form.size, pairs = form.k / 4 / groups, sets = 8 / pairs;
    const unsigned a_registers = 2 * pairs * form.a.bits / 32, results = form.size * form.size / 64;
    for (unsigned set = 0; set <= sets; ++set) { // the last round: CBSZ makes ABID meaningless
      Registers common((first_index + 1) * 64);
      std::vector<uint64_t> b(form.k * form.size);
      for (unsigned k = 0; k < form.k; ++k)
        for (unsigned j = 0; j < form.size; ++j) {
          uint64_t &code = b[k * form.size + j] = form.b.any(random);
          // Dealt in runs of eight along k.
          const unsigned run = k / 8, element = k % 8 + 8 * (run / groups);
          put_bits(common, first_b, j + form.size * (run % groups), element * form.b.bits, form.b.bits, code);
        }
      const unsigned read_set = set == sets ? 0 : set;
      std::vector<Registers> waves(form.k, common);
      for (unsigned wave = 0; wave < form.k; ++wave) {
        for (unsigned lane = 0; lane < 64; ++lane)
          waves[wave][first_index * 64 + lane] = random();
        for (unsigned i = 0; i < form.size; ++i) {
          const unsigned k = (i + wave) % form.k, which = wave / 4 % 2;
          const PairPlace place = place_of_pair(form, k / 4);
          const unsigned lane = i + form.size * place.group;
          put_bits(waves[wave], 0, lane, (2 * place.pair + which) * form.a.bits, form.a.bits, form.a.one());
          const unsigned shift = 4 * (place.pair + pairs * read_set) + 2 * which;
          uint32_t &index = waves[wave][first_index * 64 + lane];
          index = (index & ~(3u << shift)) | k % 4 << shift;
        }
      }
      const std::string modifiers = set == sets ? " cbsz:1 abid:1" : fmt::format(" abid:{}", set);
      std::string clear;
      for (unsigned r = 0; r < results; ++r)
        clear += fmt::format("v_mov_b32 v{}, 0\n", first_result + r);
      const auto d = run_waves(fmt::format("{}{} {}, {}, {}, v{}{}", clear, name,
                                           tuple(first_result, results), tuple(0, a_registers),
                                           tuple(first_b, 2 * a_registers), first_index, modifiers),
                               waves, first_result, results);
      for (unsigned wave = 0; wave < form.k; ++wave)
        for (unsigned i = 0; i < form.size; ++i)
          for (unsigned j = 0; j < form.size; ++j)
            ASSERT_EQ(result_value(form, d[wave], place_of_result(form, 0, i, j)),
                      form.b.value(b[(i + wave) % form.k * form.size + j]))
                << fmt::format("{}{} ({}, {}) wave {}", name, modifiers, i, j, wave);
    }
  }
}

TEST(MatrixLayout, SparseProductsAddToTheDestination) {
  // 1 * 1 at two positions of each row, on top of 5; the accumulator in AGPRs, the index in a VGPR.
  Registers in(17 * 64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    in[lane] = lane < 16 ? 0x3C003C00 : 0;
    for (unsigned r = 8; r < 12; ++r)
      in[r * 64 + lane] = 0x3C003C00;
    in[16 * 64 + lane] = 0x4;
  }
  const auto d =
      run_waves("v_mov_b32 v50, 0x40a00000\nv_accvgpr_write_b32 a0, v50\nv_accvgpr_write_b32 a1, v50\n"
                "v_accvgpr_write_b32 a2, v50\nv_accvgpr_write_b32 a3, v50\n"
                "v_smfmac_f32_16x16x32_f16 a[0:3], v[0:1], v[8:11], v16\nv_accvgpr_read_b32 v40, a2",
                {in}, 40, 1);
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(d[0][lane], 0x40E00000u); // 7.0
}

} // namespace
} // namespace nereid::sim::test
