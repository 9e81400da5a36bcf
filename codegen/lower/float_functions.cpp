// Elementary functions of f32 that LLVM has not, or not exactly enough: our own expansions.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/float_functions.h"

namespace nereid::codegen {

namespace {

// All polynomials here are our own minimax fits (Chebyshev, then checked densely against a 40-digit
// reference); highest power first.

/// The few operations that the expansions below are written in; all values are f32, all pairs of f32, or all
/// f64.
class Math {
public:
  explicit Math(llvm::IRBuilder<> &builder) : b(builder) {}

  llvm::Value *f32(double value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }
  llvm::Value *f64(double value) { return llvm::ConstantFP::get(b.getDoubleTy(), value); }
  llvm::Value *like(llvm::Value *x, double value) { return llvm::ConstantFP::get(x->getType(), value); }
  llvm::Value *fma(llvm::Value *x, llvm::Value *y, llvm::Value *z) {
    return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
  }
  llvm::Value *unary(llvm::Intrinsic::ID id, llvm::Value *x) { return b.CreateUnaryIntrinsic(id, x); }
  /// An instruction that has no form for pairs; those of the transcendental unit are within 1 ulp, and take
  /// and give no denormals.
  llvm::Value *hardware(llvm::Intrinsic::ID id, llvm::Value *x) {
    auto *pair = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    if (!pair)
      return b.CreateIntrinsic(id, {x->getType()}, {x});
    llvm::Value *results = llvm::PoisonValue::get(pair);
    for (unsigned i = 0; i < pair->getNumElements(); ++i)
      results = b.CreateInsertElement(results, hardware(id, b.CreateExtractElement(x, i)), i);
    return results;
  }
  /// The exponent e of x = m 2^e with m in [1/2, 1), as an f32.
  llvm::Value *exponent(llvm::Value *x) {
    auto *pair = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    if (!pair)
      return b.CreateSIToFP(
          b.CreateIntrinsic(llvm::Intrinsic::amdgcn_frexp_exp, {b.getInt32Ty(), x->getType()}, {x}),
          x->getType());
    llvm::Value *results = llvm::PoisonValue::get(pair);
    for (unsigned i = 0; i < pair->getNumElements(); ++i)
      results = b.CreateInsertElement(results, exponent(b.CreateExtractElement(x, i)), i);
    return results;
  }
  llvm::Value *ldexp(llvm::Value *x, llvm::Value *exponent) {
    return b.CreateIntrinsic(llvm::Intrinsic::ldexp, {x->getType(), exponent->getType()}, {x, exponent});
  }
  llvm::Value *to_f64(llvm::Value *x) { return b.CreateFPExt(x, b.getDoubleTy()); }
  llvm::Value *to_f32(llvm::Value *x) { return b.CreateFPTrunc(x, b.getFloatTy()); }
  llvm::Value *polynomial(llvm::Value *x, const std::vector<double> &coefficients) {
    llvm::Value *sum = like(x, coefficients[0]);
    for (size_t i = 1; i < coefficients.size(); ++i)
      sum = fma(sum, x, like(x, coefficients[i]));
    return sum;
  }
  /// x where x is a NaN, else `value`.
  llvm::Value *keep_nan(llvm::Value *x, llvm::Value *value) {
    return b.CreateSelect(b.CreateFCmpUNO(x, x), x, value);
  }

  llvm::IRBuilder<> &b;
};

/// e^x in f64 within 2^-43, for |x| < 700.
llvm::Value *exp_f64(Math &m, llvm::Value *x) {
  llvm::Value *n = m.unary(llvm::Intrinsic::rint, m.b.CreateFMul(x, m.f64(std::numbers::log2e)));
  llvm::Value *r = m.fma(m.b.CreateFNeg(n), m.f64(std::numbers::ln2), x);
  llvm::Value *p = m.polynomial(r, {2.76341565695036379e-6, 2.48861280013699135e-5, 1.98411874292282349e-4,
                                    1.38887982079002015e-3, 8.33333336940327773e-3, 4.1666667063570622e-2,
                                    1.66666666666114176e-1, 4.9999999999392045e-1, 1.00000000000000135,
                                    1.0000000000000149});
  return m.ldexp(p, m.b.CreateFPToSI(n, m.b.getInt32Ty()));
}

/// x = n ln 2 + r with |r| <= ln(2) / 2; n + `shift` stands in the low bits of `shifted`.
struct ExponentAndRest {
  llvm::Value *shifted, *r;
};

/// Adding 1.5 2^23 and more rounds to n.
ExponentAndRest split_exponent(Math &m, llvm::Value *x, float shift) {
  constexpr float ln2_high = 0x1.62e4p-1f; // few enough bits that n * ln2_high is exact
  constexpr double ln2_low = std::numbers::ln2 - double(ln2_high);
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *shifted = m.fma(x, m.like(x, std::numbers::log2e), m.like(x, shift));
  llvm::Value *minus_n = b.CreateFNeg(b.CreateFSub(shifted, m.like(x, shift)));
  llvm::Value *high = m.fma(minus_n, m.like(x, ln2_high), x);
  return {shifted, m.fma(minus_n, m.like(x, ln2_low), high)};
}

/// `scale` e^r = scale (1 + r + r^2 q(r)), q within 2^-29. Rounding r, the last but one sum and the last adds
/// up to 0.95 ulp, measured over all negative and each seventh positive f32.
llvm::Value *exp_of_rest(Math &m, llvm::Value *r, double scale) {
  std::vector<double> coefficients = {
      1.3926926614e-3, 8.36377387441e-3, 4.16665501103e-2, 1.66665733819e-1, 0.5, 1, 1};
  for (double &coefficient : coefficients)
    coefficient *= scale;
  return m.polynomial(r, coefficients);
}

constexpr float exp_shift = 0x1.8p23f;

/// From the bounds on the result is 0 or infinite; a NaN passes through all steps.
llvm::Value *exp(Math &m, llvm::Value *x) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *bounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, m.like(x, -104));
  bounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, bounded, m.like(x, 89));
  const ExponentAndRest parts = split_exponent(m, bounded, exp_shift);
  llvm::Type *integers = x->getType()->getWithNewType(b.getInt32Ty());
  llvm::Value *exponent = b.CreateSub(b.CreateBitCast(parts.shifted, integers),
                                      llvm::ConstantInt::get(integers, std::bit_cast<uint32_t>(exp_shift)));
  return m.ldexp(exp_of_rest(m, parts.r, 1), exponent);
}

/// scale 2^64 e^x of x no more than 0: 2^(n + 64), of which the shift has made the exponent, is normal for
/// all n, from -150 on.
llvm::Value *exp_of_nonpositive(Math &m, llvm::Value *x, double scale) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *bounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, m.like(x, -104));
  const ExponentAndRest parts = split_exponent(m, bounded, exp_shift + 127 + 64);
  llvm::Type *integers = x->getType()->getWithNewType(b.getInt32Ty());
  llvm::Value *power = b.CreateShl(b.CreateBitCast(parts.shifted, integers), 23);
  return b.CreateFMul(exp_of_rest(m, parts.r, scale), b.CreateBitCast(power, x->getType()));
}

/// x = 2^n (1 + f) with 1 + f in [2/3, 4/3): log(1 + f) = f - f^2/2 + f^3 P(f), P within 5e-9 / f^2. What
/// rounding n ln 2 + f loses is added with the small terms: 0.85 ulp, measured on samples of all exponents.
/// Where x is no positive number the hardware's logarithm of its mantissa is the result: -infinity of 0,
/// infinity, else a NaN.
llvm::Value *log(Math &m, llvm::Value *x) {
  constexpr float ln2_high = 0x1.62e4p-1f;
  constexpr double ln2_low = std::numbers::ln2 - double(ln2_high);
  constexpr double shift = 0x1.8p23;
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *mantissa = m.hardware(llvm::Intrinsic::amdgcn_frexp_mant, x); // in [1/2, 1)
  // 0 where the mantissa is above 2/3, else -1: then it doubles.
  llvm::Value *doubled =
      b.CreateFSub(m.fma(mantissa, m.like(x, 0.75), m.like(x, shift)), m.like(x, shift + 1));
  llvm::Value *f = m.fma(mantissa, b.CreateFSub(m.like(x, 1), doubled), m.like(x, -1));
  llvm::Value *n = b.CreateFAdd(m.exponent(x), doubled);
  llvm::Value *rest =
      m.polynomial(f, {-1.318696334e-1, 1.396358843e-1, -1.211607119e-1, 1.401070353e-1, -1.668540741e-1,
                       2.001005618e-1, -2.499968982e-1, 3.333322365e-1, -0.5});
  llvm::Value *small = m.fma(n, m.like(x, ln2_low), b.CreateFMul(b.CreateFMul(f, f), rest));
  llvm::Value *sum = m.fma(n, m.like(x, ln2_high), f);
  llvm::Value *lost = b.CreateFAdd(m.fma(n, m.like(x, ln2_high), b.CreateFNeg(sum)), f);
  llvm::Value *result = b.CreateFAdd(sum, b.CreateFAdd(small, lost));
  llvm::Value *special =
      b.createIsFPClass(x, llvm::fcNan | llvm::fcNegative | llvm::fcPosZero | llvm::fcPosInf);
  return b.CreateSelect(special, m.hardware(llvm::Intrinsic::amdgcn_log, mantissa), result);
}

/// One Newton step on the hardware's estimate with the residual 1 - x y^2 kept exact.
llvm::Value *rsqrt(Math &m, llvm::Value *x) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *small = b.CreateFCmpOLT(x, m.f32(0x1p-126));
  llvm::Value *scaled = b.CreateSelect(small, b.CreateFMul(x, m.f32(0x1p24)), x);
  llvm::Value *y = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_rsq, {b.getFloatTy()}, {scaled});
  llvm::Value *product = b.CreateFMul(scaled, y);
  llvm::Value *low = m.fma(scaled, y, b.CreateFNeg(product));
  llvm::Value *residual = m.fma(b.CreateFNeg(low), y, m.fma(b.CreateFNeg(product), y, m.f32(1)));
  llvm::Value *better = m.fma(b.CreateFMul(y, m.f32(0.5)), residual, y);
  llvm::Value *finite = b.CreateFCmpORD(residual, residual);
  llvm::Value *result = b.CreateSelect(finite, better, y);
  return b.CreateFMul(result, b.CreateSelect(small, m.f32(0x1p12), m.f32(1)));
}

/// 1 / (1 + e) or, of a negative x, e / (1 + e) with e = e^-|x|. The quotient's remainder is taken of 1 + e
/// before its rounding. 1.45 ulp for any reciprocal within 1 ulp, measured on samples of all exponents.
llvm::Value *sigmoid(Math &m, llvm::Value *x) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *e = exp_of_nonpositive(m, b.CreateFNeg(m.unary(llvm::Intrinsic::fabs, x)), 0x1p-64);
  llvm::Value *numerator = b.CreateSelect(b.CreateFCmpOLT(x, m.like(x, 0)), e, m.like(x, 1));
  llvm::Value *inverse = m.hardware(llvm::Intrinsic::amdgcn_rcp, b.CreateFAdd(e, m.like(x, 1)));
  llvm::Value *estimate = b.CreateFMul(numerator, inverse);
  llvm::Value *remainder = m.fma(b.CreateFNeg(estimate), e, b.CreateFSub(numerator, estimate));
  return m.fma(remainder, inverse, estimate);
}

/// E / (E + 2) with E = e^2|x| - 1 = 2^n (e^r - 1) + 2^n - 1, r = 2|x| - n ln 2, e^r - 1 = r + r^2 q(r), q
/// within 2^-26 / r. The quotient's remainder is taken of E + 2 before its rounding. 1.75 ulp for any
/// reciprocal within 1 ulp.
llvm::Value *tanh(Math &m, llvm::Value *x) {
  constexpr float ln2_high = 0x1.62e4p-1f;
  constexpr double ln2_low = std::numbers::ln2 - double(ln2_high);
  constexpr float shift = 0x1.8p23f;
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *magnitude = m.unary(llvm::Intrinsic::fabs, x);
  llvm::Value *bounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, magnitude, m.like(x, 10));
  llvm::Value *twice = b.CreateFAdd(bounded, bounded);
  llvm::Value *shifted = m.fma(twice, m.like(x, std::numbers::log2e), m.like(x, shift));
  llvm::Value *minus_n = b.CreateFNeg(b.CreateFSub(shifted, m.like(x, shift)));
  llvm::Value *r = m.fma(minus_n, m.like(x, ln2_low), m.fma(minus_n, m.like(x, ln2_high), twice));
  llvm::Value *q =
      m.polynomial(r, {1.3946451408e-3, 8.366579255783864e-3, 4.166628197e-2, 1.6666543027e-1, 0.5});
  llvm::Value *below_one = m.fma(b.CreateFMul(r, r), q, r);
  llvm::Type *integers = x->getType()->getWithNewType(b.getInt32Ty());
  llvm::Value *power_bits = b.CreateAdd(b.CreateShl(b.CreateBitCast(shifted, integers), 23),
                                        llvm::ConstantInt::get(integers, std::bit_cast<uint32_t>(1.0f)));
  llvm::Value *power = b.CreateBitCast(power_bits, x->getType());
  llvm::Value *e = m.fma(power, below_one, b.CreateFSub(power, m.like(x, 1)));
  llvm::Value *inverse = m.hardware(llvm::Intrinsic::amdgcn_rcp, b.CreateFAdd(e, m.like(x, 2)));
  llvm::Value *estimate = b.CreateFMul(e, inverse);
  llvm::Value *minus = b.CreateFNeg(estimate);
  llvm::Value *remainder = m.fma(minus, e, m.fma(minus, m.like(x, 2), e));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, m.fma(remainder, inverse, estimate), x);
}

/// Below 1: x P(x^2); above: 1 - e^Q(x); both in f64.
llvm::Value *erf(Math &m, llvm::Value *x) {
  llvm::IRBuilder<> &b = m.b;
  llvm::Value *magnitude = m.unary(llvm::Intrinsic::fabs, x);
  llvm::Value *wide = m.to_f64(b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, magnitude, m.f32(4.1)));
  llvm::Value *square = b.CreateFMul(wide, wide);
  llvm::Value *p =
      m.polynomial(square, {1.05893806410750192e-6, -1.39093400218745986e-5, 1.19565625682073296e-4,
                            -8.54263799708722963e-4, 5.22378347718924812e-3, -2.68661332350955916e-2,
                            1.12837913086045815e-1, -3.76126388896353068e-1, 1.12837916709467673});
  llvm::Value *q =
      m.polynomial(wide, {1.59170621804357013e-6, -4.51810170436655437e-5, 5.89598928532789778e-4,
                          -4.72672497685197474e-3, 2.63302746032146356e-2, -1.0992448102469804e-1,
                          -6.31987065902775362e-1, -1.13014146038871275, 2.97937462181164602e-4});
  llvm::Value *inner = b.CreateFMul(wide, p);
  llvm::Value *outer = b.CreateFSub(m.f64(1), exp_f64(m, q));
  llvm::Value *result = m.to_f32(b.CreateSelect(b.CreateFCmpOLT(wide, m.f64(1)), inner, outer));
  return m.keep_nan(x, b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x));
}

/// 1 - 2 / (e^2x + 1)
llvm::Value *fast_tanh(Math &m, llvm::Value *x) {
  llvm::Value *scaled = m.b.CreateFMul(x, m.like(x, 2 * std::numbers::log2e));
  llvm::Value *power = m.hardware(llvm::Intrinsic::amdgcn_exp2, scaled);
  llvm::Value *quotient = m.hardware(llvm::Intrinsic::amdgcn_rcp, m.b.CreateFAdd(power, m.like(x, 1)));
  return m.fma(quotient, m.like(x, -2), m.like(x, 1));
}

} // namespace

llvm::Value *exp_of_nonpositive(llvm::IRBuilder<> &builder, llvm::Value *x) {
  Math m(builder);
  return exp_of_nonpositive(m, x, 0x1p-64);
}

llvm::Value *scaled_exp_of_nonpositive(llvm::IRBuilder<> &builder, llvm::Value *x) {
  Math m(builder);
  return exp_of_nonpositive(m, x, 1);
}

llvm::Value *fast_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x) {
  Math m(builder);
  switch (opcode) {
  case ir::Opcode::Exp:
    return m.hardware(llvm::Intrinsic::amdgcn_exp2, builder.CreateFMul(x, m.like(x, std::numbers::log2e)));
  case ir::Opcode::Exp2:
    return m.hardware(llvm::Intrinsic::amdgcn_exp2, x);
  case ir::Opcode::Log:
    return builder.CreateFMul(m.hardware(llvm::Intrinsic::amdgcn_log, x), m.like(x, std::numbers::ln2));
  default: // Tanh
    return fast_tanh(m, x);
  }
}

llvm::Value *fast_divide(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b) {
  Math m(builder);
  llvm::Value *reciprocal = m.hardware(llvm::Intrinsic::amdgcn_rcp, b);
  return a == m.like(a, 1) ? reciprocal : builder.CreateFMul(a, reciprocal);
}

llvm::Value *float_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x) {
  Math m(builder);
  switch (opcode) {
  case ir::Opcode::Exp:
    return exp(m, x);
  case ir::Opcode::Exp2:
    return m.unary(llvm::Intrinsic::exp2, x);
  case ir::Opcode::Log:
    return log(m, x);
  case ir::Opcode::Log2:
    return m.unary(llvm::Intrinsic::log2, x);
  case ir::Opcode::Sqrt:
    return m.unary(llvm::Intrinsic::sqrt, x);
  case ir::Opcode::Rsqrt:
    return rsqrt(m, x);
  case ir::Opcode::Tanh:
    return tanh(m, x);
  case ir::Opcode::Erf:
    return erf(m, x);
  case ir::Opcode::Sigmoid:
    return sigmoid(m, x);
  case ir::Opcode::Floor:
    return m.unary(llvm::Intrinsic::floor, x);
  case ir::Opcode::Ceil:
    return m.unary(llvm::Intrinsic::ceil, x);
  default:
    return m.unary(llvm::Intrinsic::roundeven, x);
  }
}

} // namespace nereid::codegen
