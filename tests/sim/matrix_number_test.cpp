// MFMA on every kind of number, infinities, NaNs, denormals and the ends of each format included, against
// sums made one product at a time.

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/state/simd.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

using Registers = std::vector<uint32_t>; // [register * 64 + lane]

struct Kind {
  const char *name;
  unsigned bits, exponent_bits, mantissa_bits; ///< no exponent bits: an integer
  int bias;
  unsigned specials; ///< codes at the end of the magnitudes that are no finite numbers
  bool infinite;     ///< and the first of them is infinity

  unsigned magnitudes() const { return 1u << (bits - 1); }
  double value(uint64_t code) const {
    if (bits == 64)
      return std::bit_cast<double>(code);
    if (!exponent_bits)
      return static_cast<int8_t>(code);
    const auto magnitude = static_cast<unsigned>(code & (magnitudes() - 1));
    double result;
    if (const unsigned first = magnitudes() - specials; magnitude >= first)
      result = infinite && magnitude == first ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    else {
      const unsigned exponent = magnitude >> mantissa_bits, one = 1u << mantissa_bits;
      const unsigned units = magnitude % one + (exponent ? one : 0);
      result = std::ldexp(units,
                          static_cast<int>(std::max(exponent, 1u)) - bias - static_cast<int>(mantissa_bits));
    }
    return code >> (bits - 1) & 1 ? -result : result;
  }
};
constexpr Kind f64{"f64", 64, 11, 52, 1023, 0, true}, f32{"f32", 32, 8, 23, 127, 1u << 23, true},
    f16{"f16", 16, 5, 10, 15, 1u << 10, true}, bf16{"bf16", 16, 8, 7, 127, 1u << 7, true},
    i8{"i8", 8, 0, 7, 0, 0, false};
/// In the order of CBSZ and BLGP.
constexpr Kind small[] = {{"fp8", 8, 4, 3, 7, 1, false},
                          {"bf8", 8, 5, 2, 15, 4, true},
                          {"fp6", 6, 2, 3, 1, 0, false},
                          {"bf6", 6, 3, 2, 3, 0, false},
                          {"fp4", 4, 2, 1, 1, 0, false}};

/// Codes of a kind: mostly any finite one, often the ends of the range, seldom infinity and NaN.
class Codes {
public:
  Codes(const Kind &kind, std::mt19937 &random) : kind_(kind), random_(random) {}
  uint64_t operator()() {
    if (kind_.bits == 64)
      return wide();
    const unsigned finite = kind_.magnitudes() - kind_.specials, normal = 1u << kind_.mantissa_bits;
    const unsigned ends[] = {0, 1, normal - 1, normal % finite, finite - 1};
    unsigned magnitude = random_() % 6 ? random_() % finite : ends[random_() % 5];
    if (kind_.specials && random_() % 600 == 0)
      magnitude = finite + random_() % kind_.specials;
    return magnitude | (random_() & 1) << (kind_.bits - 1);
  }

private:
  uint64_t wide() {
    const uint64_t ends[] = {0, 1, uint64_t{1} << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000};
    if (random_() % 12 == 0)
      return ends[random_() % 5] | uint64_t{random_() & 1} << 63;
    return uint64_t{(random_() & 0x800FFFFF) | (1000 + random_() % 40) << 20} << 32 | random_();
  }
  const Kind &kind_;
  std::mt19937 &random_;
};

void put_bits(Registers &registers, unsigned first, unsigned lane, unsigned bit, unsigned width,
              uint64_t code) {
  for (unsigned k = 0; k < width; ++k)
    if (code >> k & 1)
      registers[(first + (bit + k) / 32) * 64 + lane] |= 1u << (bit + k) % 32;
}

struct Form {
  unsigned size, k, blocks;
  Kind a, b;
  bool scaled = false;

  bool wide() const { return a.bits == 64; }
  bool integer() const { return !a.exponent_bits; }
  unsigned result_registers() const { return size * size * blocks / 64 * (wide() ? 2 : 1); }
  unsigned operand_registers(const Kind &kind) const {
    return std::max(1u, size * blocks * k / 64 * kind.bits / 32);
  }
  /// Lane and element of row (or column) `row` at position `at` of k.
  std::pair<unsigned, unsigned> place(const Kind &kind, unsigned block, unsigned row, unsigned at) const {
    const unsigned groups = 64 / (size * blocks), elements = k / groups;
    if (scaled && kind.bits == 8) // dealt in chunks of 16
      return {row + size * (at / 16 % groups), at % 16 + 16 * (at / (16 * groups))};
    return {row + size * block + size * blocks * (at / elements), at % elements};
  }
  /// Lane and first register of a result.
  std::pair<unsigned, unsigned> result(unsigned block, unsigned i, unsigned j) const {
    if (wide())
      return size == 4 ? std::pair{16 * i + 4 * block + j, 0u} : std::pair{16 * (i % 4) + j, 2 * (i / 4)};
    if (size == 4)
      return {4 * block + j, i};
    return size == 16 ? std::pair{16 * (i / 4) + j, 4 * block + i % 4}
                      : std::pair{32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4};
  }
};

constexpr unsigned first_b = 8, scale_a = 16, scale_b = 17, first_c = 20, registers_in = 52;

std::string tuple(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

std::string text_of(const Form &form, unsigned format_a, unsigned format_b) {
  const std::string d = tuple(first_c, form.result_registers());
  const std::string operands = fmt::format("{}, {}, {}, {}", d, tuple(0, form.operand_registers(form.a)),
                                           tuple(first_b, form.operand_registers(form.b)), d);
  if (form.scaled)
    return fmt::format("v_mfma_scale_f32_{}x{}x{}_f8f6f4 {}, v{}, v{} op_sel_hi:[0,0,0] cbsz:{} blgp:{}",
                       form.size, form.size, form.k, operands, scale_a, scale_b, format_a, format_b);
  const char *result = form.wide() ? "f64" : form.integer() ? "i32" : "f32";
  const std::string types = form.a.bits == 8 && !form.integer()
                                ? fmt::format("{}_{}", form.a.name, form.b.name)
                                : std::string(form.a.name);
  return fmt::format("v_mfma_{}_{}x{}x{}_{}{} {}", result, form.size, form.size, form.k,
                     form.blocks > 1 ? fmt::format("{}b_", form.blocks) : "", types, operands);
}

/// One wave's operands by block, row and k, with the registers that hold them.
struct Case {
  const Form &form;
  Registers registers = Registers(registers_in * 64);
  std::vector<double> a, b;               ///< [block][row][k]
  std::vector<unsigned> a_scale, b_scale; ///< [row][k / 32]

  Case(const Form &f, std::mt19937 &random)
      : form(f), a(side(f.a, 0, random)), b(side(f.b, first_b, random)), a_scale(scales(scale_a, random)),
        b_scale(scales(scale_b, random)) {
    for (unsigned at = 64 * first_c; at < 64 * registers_in; ++at)
      registers[at] = random() % 4 ? random() % 0x1000000 + (random() & 0x80000000) + 0x3F000000
                                   : static_cast<uint32_t>(Codes(f32, random)());
  }

  double element(const std::vector<double> &side, unsigned block, unsigned row, unsigned at) const {
    return side[(block * form.size + row) * form.k + at];
  }
  uint64_t c(unsigned block, unsigned i, unsigned j) const {
    return bits_of(registers, first_c, block, i, j);
  }
  uint64_t bits_of(const Registers &from, unsigned first, unsigned block, unsigned i, unsigned j) const {
    const auto [lane, index] = form.result(block, i, j);
    const uint64_t low = from[(first + index) * 64 + lane];
    return form.wide() ? low | uint64_t{from[(first + index + 1) * 64 + lane]} << 32 : low;
  }

private:
  std::vector<double> side(const Kind &kind, unsigned first, std::mt19937 &random) {
    std::vector<double> values;
    Codes codes(kind, random);
    for (unsigned block = 0; block < form.blocks; ++block)
      for (unsigned row = 0; row < form.size; ++row)
        for (unsigned at = 0; at < form.k; ++at) {
          const uint64_t code = codes();
          const auto [lane, element] = form.place(kind, block, row, at);
          put_bits(registers, first, lane, element * kind.bits, kind.bits, code);
          values.push_back(kind.value(code));
        }
    return values;
  }
  std::vector<unsigned> scales(unsigned index, std::mt19937 &random) {
    std::vector<unsigned> result(form.size * std::max(1u, form.k / 32));
    const bool ordinary = random() % 2;
    for (unsigned lane = 0; lane < 64 && form.scaled; ++lane) {
      const unsigned kind = random() % 40;
      const unsigned scale = ordinary    ? 120 + random() % 14
                             : kind == 0 ? 255
                             : kind < 10 ? random() % 2 * 254
                                         : random() % 255;
      registers[index * 64 + lane] = 0x7F7F7F00 | scale;
      result[lane % form.size * (form.k / 32) + lane / form.size] = scale;
    }
    return result;
  }
};

/// The exact value of a scale; NaN for 255.
double scale_value(unsigned byte) {
  return byte == 255 ? std::numeric_limits<double>::quiet_NaN()
                     : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

uint64_t expected(const Case &in, unsigned block, unsigned i, unsigned j) {
  const Form &form = in.form;
  const uint64_t c = in.c(block, i, j);
  auto a = [&](unsigned at) { return in.element(in.a, block, i, at); };
  auto b = [&](unsigned at) { return in.element(in.b, block, j, at); };
  if (form.wide()) {
    double sum = std::bit_cast<double>(c);
    for (unsigned at = 0; at < form.k; ++at)
      sum = std::fma(a(at), b(at), sum);
    return std::bit_cast<uint64_t>(sum);
  }
  if (form.integer()) {
    uint32_t sum = static_cast<uint32_t>(c);
    for (unsigned at = 0; at < form.k; ++at)
      sum += static_cast<uint32_t>(static_cast<int>(a(at) * b(at)));
    return sum;
  }
  float sum = std::bit_cast<float>(static_cast<uint32_t>(c));
  if (form.a.bits == 32) {
    for (unsigned at = 0; at < form.k; ++at)
      sum = std::fma(static_cast<float>(a(at)), static_cast<float>(b(at)), sum);
    return std::bit_cast<uint32_t>(sum);
  }
  const unsigned step = form.scaled ? 32 : form.k;
  for (unsigned first = 0; first < form.k; first += step) {
    double products = 0;
    for (unsigned at = first; at < first + step; ++at)
      products += a(at) * b(at);
    if (form.scaled)
      products *= scale_value(in.a_scale[i * (form.k / 32) + first / 32]) *
                  scale_value(in.b_scale[j * (form.k / 32) + first / 32]);
    sum = static_cast<float>(sum + products);
  }
  return std::bit_cast<uint32_t>(sum);
}

bool is_nan(const Form &form, uint64_t bits) {
  if (form.integer())
    return false;
  return form.wide() ? std::isnan(std::bit_cast<double>(bits))
                     : std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}

class MatrixNumbers : public testing::TestWithParam<Simd> {
protected:
  void SetUp() override { use_simd(GetParam()); }
  void TearDown() override { use_simd(default_simd()); }

  /// Runs some waves of a form and compares every result to the bit; one NaN is as good as another.
  void check(const Form &form, unsigned format_a = 0, unsigned format_b = 0) {
    const std::string text = text_of(form, format_a, format_b);
    std::mt19937 random(17);
    std::vector<Case> cases;
    std::vector<Registers> inputs;
    for (unsigned wave = 0; wave < 6; ++wave) {
      cases.emplace_back(form, random);
      inputs.push_back(cases.back().registers);
    }
    const auto results = run_waves(text, inputs, first_c, form.result_registers());
    for (unsigned wave = 0; wave < cases.size(); ++wave)
      for (unsigned block = 0; block < form.blocks; ++block)
        for (unsigned i = 0; i < form.size; ++i)
          for (unsigned j = 0; j < form.size; ++j) {
            const uint64_t actual = cases[wave].bits_of(results[wave], 0, block, i, j);
            const uint64_t wanted = expected(cases[wave], block, i, j);
            numbers_ += !is_nan(form, wanted);
            nans_ += is_nan(form, wanted);
            if (is_nan(form, wanted))
              ASSERT_TRUE(is_nan(form, actual)) << text << fmt::format(" ({}, {})", i, j);
            else
              ASSERT_EQ(actual, wanted) << text << fmt::format(" block {} ({}, {})", block, i, j);
          }
  }
  unsigned numbers_ = 0, nans_ = 0;
};

TEST_P(MatrixNumbers, DenseForms) {
  for (const Kind &kind : {f16, bf16})
    for (const Form &form :
         {Form{32, 4, 2, kind, kind}, Form{16, 4, 4, kind, kind}, Form{4, 4, 16, kind, kind},
          Form{32, 8, 1, kind, kind}, Form{16, 16, 1, kind, kind}, Form{16, 32, 1, kind, kind},
          Form{32, 16, 1, kind, kind}})
      check(form);
  for (const Form &form : {Form{32, 1, 2, f32, f32}, Form{16, 1, 4, f32, f32}, Form{4, 1, 16, f32, f32},
                           Form{32, 2, 1, f32, f32}, Form{16, 4, 1, f32, f32}, Form{16, 4, 1, f64, f64},
                           Form{4, 4, 4, f64, f64}})
    check(form);
  EXPECT_GT(numbers_, 10 * nans_);
  EXPECT_GT(nans_, 100u);
}

TEST_P(MatrixNumbers, DenseFormsOfBytes) {
  for (const Form &form :
       {Form{32, 4, 2, i8, i8}, Form{16, 4, 4, i8, i8}, Form{4, 4, 16, i8, i8}, Form{32, 16, 1, i8, i8},
        Form{16, 32, 1, i8, i8}, Form{16, 64, 1, i8, i8}, Form{32, 32, 1, i8, i8}})
    check(form);
  for (unsigned a : {0, 1})
    for (unsigned b : {0, 1}) {
      check({16, 32, 1, small[a], small[b]});
      check({32, 16, 1, small[a], small[b]});
    }
  EXPECT_GT(numbers_, nans_);
  EXPECT_GT(nans_, 100u);
}

TEST_P(MatrixNumbers, ScaledForms) {
  for (unsigned a = 0; a < 5; ++a)
    for (unsigned b = 0; b < 5; ++b) {
      check({16, 128, 1, small[a], small[b], true}, a, b);
      check({32, 64, 1, small[a], small[b], true}, a, b);
    }
  EXPECT_GT(numbers_, nans_);
  EXPECT_GT(nans_, 100u);
}

std::string name_of(const testing::TestParamInfo<Simd> &simd) {
  return simd.param == Simd::Avx512 ? "Avx512" : simd.param == Simd::Avx2 ? "Avx2" : "Portable";
}
INSTANTIATE_TEST_SUITE_P(Hosts, MatrixNumbers, testing::Values(Simd::Portable, Simd::Avx2, Simd::Avx512),
                         name_of);

} // namespace
} // namespace nereid::sim::test
