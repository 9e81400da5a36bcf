// Elementary functions of f32 that are cheapest in f64: an error of 2^-37 there is no more than half a unit
// in the last place here. The vector unit has f64 at the rate of f32.
#include "codegen/lower/wide_functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <llvm/IR/IntrinsicsAMDGPU.h>

namespace nereid::codegen {

namespace {

using V = llvm::Value;
constexpr double inf = std::numeric_limits<double>::infinity();

/// f64 arithmetic. All polynomials are our own Chebyshev fits, computed with 50 digits, highest power first.
class Wide {
public:
  explicit Wide(llvm::IRBuilder<> &builder) : b(builder) {}

  V *number(double value) { return llvm::ConstantFP::get(b.getDoubleTy(), value); }
  V *from_f32(V *x) { return b.CreateFPExt(x, b.getDoubleTy()); }
  V *to_f32(V *x) { return b.CreateFPTrunc(x, b.getFloatTy()); }
  V *add(V *x, V *y) { return b.CreateFAdd(x, y); }
  V *sub(V *x, V *y) { return b.CreateFSub(x, y); }
  V *mul(V *x, V *y) { return b.CreateFMul(x, y); }
  V *mul(V *x, double y) { return b.CreateFMul(x, number(y)); }
  V *neg(V *x) { return b.CreateFNeg(x); }
  V *fma(V *x, V *y, V *z) { return b.CreateIntrinsic(b.getDoubleTy(), llvm::Intrinsic::fma, {x, y, z}); }
  V *abs(V *x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  V *rint(V *x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, x); }
  V *trunc(V *x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x); }
  V *copysign(V *x, V *sign) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign); }
  V *min(V *x, V *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, x, y); }
  V *max(V *x, V *y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, x, y); }
  V *clamp(V *x, double limit) { return min(max(x, number(-limit)), number(limit)); }
  V *is(llvm::CmpInst::Predicate predicate, V *x, double y) { return b.CreateFCmp(predicate, x, number(y)); }
  V *is_equal(V *x, double y) { return is(llvm::CmpInst::FCMP_OEQ, x, y); }
  V *is_less(V *x, double y) { return is(llvm::CmpInst::FCMP_OLT, x, y); }
  V *choose(V *condition, V *x, V *y) { return b.CreateSelect(condition, x, y); }
  V *polynomial(V *x, const std::vector<double> &coefficients) {
    V *sum = number(coefficients[0]);
    for (size_t i = 1; i < coefficients.size(); ++i)
      sum = fma(sum, x, number(coefficients[i]));
    return sum;
  }
  V *ldexp(V *x, V *exponent) {
    return b.CreateIntrinsic(llvm::Intrinsic::ldexp, {b.getDoubleTy(), b.getInt32Ty()}, {x, exponent});
  }

  llvm::IRBuilder<> &b;
};

/// 1 / x from the hardware's estimate by two Newton steps, within 2^-50; x is normal.
V *reciprocal(Wide &w, V *x) {
  V *y = w.b.CreateIntrinsic(llvm::Intrinsic::amdgcn_rcp, {x->getType()}, {x});
  for (int step = 0; step < 2; ++step)
    y = w.fma(w.fma(w.neg(x), y, w.number(1)), y, y);
  return y;
}

/// 2^x within 2^-45; beyond 2^300 and below 2^-300 those.
V *exp2(Wide &w, V *x) {
  V *bounded = w.clamp(x, 300);
  V *n = w.rint(bounded);
  V *power = w.polynomial(w.sub(bounded, n),
                          {1.02059054137655958e-7, 1.32596452448871102e-6, 1.52526729248507364e-5,
                           1.54034337512510089e-4, 1.33335582007945926e-3, 9.61812919393431336e-3,
                           5.5504108664651672e-2, 2.40226506956403397e-1, 6.93147180559946159e-1, 1});
  return w.ldexp(power, w.b.CreateFPToSI(n, w.b.getInt32Ty()));
}

/// log x within 2^-48, relative too, of a positive number: x = 2^e m with m in [sqrt(1/2), sqrt(2)) and
/// log m = 2 atanh(s), s = (m - 1) / (m + 1).
V *log(Wide &w, V *x) {
  llvm::IRBuilder<> &b = w.b;
  V *parts = b.CreateIntrinsic(llvm::Intrinsic::frexp, {b.getDoubleTy(), b.getInt32Ty()}, {x});
  V *m = b.CreateExtractValue(parts, 0), *e = b.CreateExtractValue(parts, 1);
  V *is_low = w.is_less(m, std::numbers::sqrt2 / 2);
  m = w.choose(is_low, w.mul(m, 2), m);
  e = b.CreateSIToFP(b.CreateSub(e, b.CreateZExt(is_low, b.getInt32Ty())), b.getDoubleTy());
  V *s = w.mul(w.sub(m, w.number(1)), reciprocal(w, w.add(m, w.number(1))));
  V *series =
      w.polynomial(w.mul(s, s), {8.41959801544645652e-2, 9.06090504789803833e-2, 1.11117191449873685e-1,
                                 1.42857079848577682e-1, 2.00000000310283015e-1, 3.33333333332761116e-1, 1});
  return w.fma(e, w.number(std::numbers::ln2), w.mul(w.mul(s, 2), series));
}

/// An angle in quarter turns as a whole number modulo 4 and a rest within +-1/2.
struct Turns {
  V *whole, *rest;
};

/// v_trig_preop gives 2/pi in segments of 53 bits, without the leading ones that only make multiples of four
/// quarter turns. The products of the first two are kept exact; the sum is reduced after each term so that
/// the rest has the relative precision of an f64 however near it is to 0.
Turns quarter_turns(Wide &w, V *magnitude) {
  llvm::IRBuilder<> &b = w.b;
  const auto segment = [&](unsigned i) {
    return b.CreateIntrinsic(llvm::Intrinsic::amdgcn_trig_preop, {b.getDoubleTy()},
                             {magnitude, b.getInt32(i)});
  };
  V *whole = w.number(0), *rest = w.number(0);
  const auto add = [&](V *term) {
    rest = w.add(rest, term);
    V *n = w.rint(rest);
    rest = w.sub(rest, n);
    whole = w.add(whole, n);
  };
  V *first = segment(0), *second = segment(1);
  V *high = w.mul(magnitude, first);
  add(w.fma(w.number(-4), w.rint(w.mul(high, 0.25)), high));
  add(w.fma(magnitude, first, w.neg(high)));
  V *middle = w.mul(magnitude, second);
  add(middle);
  V *low = w.fma(magnitude, second, w.neg(middle));
  add(w.fma(magnitude, segment(2), low));
  // Of an infinity both are NaN, and any whole number will do.
  return {b.CreateFreeze(b.CreateFPToSI(whole, b.getInt32Ty())), rest};
}

/// sin x, or cos x = sin(x + a quarter turn).
V *sine(Wide &w, V *x, bool cosine) {
  llvm::IRBuilder<> &b = w.b;
  const Turns turns = quarter_turns(w, w.abs(x));
  V *angle = w.mul(turns.rest, std::numbers::pi / 2);
  V *square = w.mul(angle, angle);
  V *sin = w.mul(
      angle, w.polynomial(square, {2.71726936704545802e-6, -1.98391939644854978e-4, 8.33332875517132093e-3,
                                   -1.66666666313102705e-1, 9.99999999995629698e-1}));
  V *cos = w.polynomial(square, {-2.71726665627830964e-7, 2.47989181500750848e-5, -1.38888803428384764e-3,
                                 4.16666665429281513e-2, -4.99999999993446099e-1, 1});
  V *quarter = cosine ? b.CreateAdd(turns.whole, b.getInt32(1)) : turns.whole;
  V *is_odd = b.CreateTrunc(quarter, b.getInt1Ty());
  V *value = w.choose(is_odd, cos, sin);
  V *is_lower = b.CreateTrunc(b.CreateLShr(quarter, 1), b.getInt1Ty());
  value = w.choose(is_lower, w.neg(value), value);
  if (cosine)
    return value;
  V *is_negative = b.CreateICmpSLT(b.CreateBitCast(x, b.getInt64Ty()), b.getInt64(0));
  return w.choose(w.is_equal(x, 0), x, w.choose(is_negative, w.neg(value), value));
}

/// The angle of the point (x, y), both at least 0: atan(low / high) below an eighth of a turn, the complement
/// above. Infinities are far away.
V *angle_of(Wide &w, V *y, V *x) {
  y = w.min(y, w.number(0x1p300));
  x = w.min(x, w.number(0x1p300));
  V *high = w.max(w.max(x, y), w.number(0x1p-300)); // not 0
  V *t = w.mul(w.min(x, y), reciprocal(w, high));
  V *angle = w.mul(
      t, w.polynomial(w.mul(t, t), {-2.66601967192674233e-4, 2.16279442215647912e-3, -8.2418998939968132e-3,
                                    1.99374428362561726e-2, -3.52677208694224381e-2, 5.04555775284161429e-2,
                                    -6.36609223609682661e-2, 7.61425019900312141e-2, -9.07679887665047737e-2,
                                    1.11094283643305057e-1, -1.42855923942825275e-1, 1.99999953403850623e-1,
                                    -3.33333332624796955e-1, 9.9999999999819672e-1}));
  return w.choose(w.b.CreateFCmpOGT(y, x), w.sub(w.number(std::numbers::pi / 2), angle), angle);
}

V *atan2(Wide &w, V *y, V *x) {
  V *angle = angle_of(w, w.abs(y), w.abs(x));
  V *is_left = w.b.CreateICmpSLT(w.b.CreateBitCast(x, w.b.getInt64Ty()), w.b.getInt64(0));
  return w.copysign(w.choose(is_left, w.sub(w.number(std::numbers::pi), angle), angle), y);
}

V *atan(Wide &w, V *x) { return w.copysign(angle_of(w, w.abs(x), w.number(1)), x); }

/// sqrt(1 - x^2), the other side of a right triangle, within 2^-48 of itself: near 1 the product is that of
/// exact factors. Not a number beyond +-1.
V *other_side(Wide &w, V *x) {
  V *square = w.mul(w.sub(w.number(1), x), w.add(w.number(1), x));
  return w.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, square);
}
V *asin(Wide &w, V *x) {
  V *side = other_side(w, x);
  V *angle = w.copysign(angle_of(w, w.abs(x), side), x);
  return w.choose(w.b.CreateFCmpUNO(side, side), side, angle);
}
V *acos(Wide &w, V *x) {
  V *side = other_side(w, x);
  V *angle = angle_of(w, side, w.abs(x));
  angle = w.choose(w.is_less(x, 0), w.sub(w.number(std::numbers::pi), angle), angle);
  return w.choose(w.b.CreateFCmpUNO(side, side), side, angle);
}

V *expm1(Wide &w, V *x) {
  V *power = exp2(w, w.mul(w.clamp(x, 200), std::numbers::log2e));
  V *series = w.fma(w.mul(x, x), w.fma(x, w.number(1.0 / 6), w.number(0.5)), x);
  V *is_small = w.is_less(w.abs(x), 0x1p-12);
  return w.copysign(w.choose(is_small, series, w.sub(power, w.number(1))), x);
}

/// 1 + x is exact where the series is not taken.
V *log1p(Wide &w, V *x) {
  V *series = w.fma(w.mul(x, x), w.fma(x, w.number(1.0 / 3), w.number(-0.5)), x);
  V *value = w.choose(w.is_less(w.abs(x), 0x1p-20), series, log(w, w.add(w.number(1), x)));
  value = w.choose(w.is_equal(x, inf), x, value);
  value = w.choose(w.is_equal(x, -1), w.number(-inf), value);
  return w.choose(w.is_less(x, -1), w.number(std::numeric_limits<double>::quiet_NaN()), value);
}

/// 2^(y log2 |x|) with the special cases of C's pow.
V *pow(Wide &w, V *x, V *y) {
  llvm::IRBuilder<> &b = w.b;
  V *magnitude = w.abs(x);
  V *log2 = w.mul(log(w, magnitude), std::numbers::log2e);
  log2 = w.choose(w.is_equal(magnitude, inf), w.number(inf), log2);
  log2 = w.choose(w.is_equal(magnitude, 0), w.number(-inf), log2);
  V *exponent = w.choose(w.is_equal(magnitude, 1), w.number(0), w.mul(y, log2)); // 1 to an infinity is 1
  V *value = exp2(w, exponent);
  V *half = w.mul(y, 0.5);
  V *is_whole = b.CreateFCmpOEQ(w.trunc(y), y);
  V *is_odd = b.CreateAnd(is_whole, b.CreateFCmpONE(w.trunc(half), half));
  value = w.choose(is_odd, w.copysign(value, x), value);
  V *is_negative = b.CreateAnd(w.is_less(x, 0), w.is(llvm::CmpInst::FCMP_ONE, x, -inf));
  V *is_nan = b.CreateOr(b.CreateFCmpUNO(x, y), b.CreateAnd(is_negative, b.CreateNot(is_whole)));
  value = w.choose(is_nan, w.number(std::numeric_limits<double>::quiet_NaN()), value);
  return w.choose(b.CreateOr(w.is_equal(x, 1), w.is_equal(y, 0)), w.number(1), value);
}

/// Long division with digits of 28 bits. A digit's estimate is one off at most, all else is exact.
V *fmod(Wide &w, V *x, V *y) {
  llvm::IRBuilder<> &b = w.b;
  constexpr int digit = 28, digits = 10; // an f32 exceeds another by less than 2^278
  V *magnitude = w.abs(y), *rest = w.abs(x);
  V *inverse = reciprocal(w, magnitude);
  for (int k = digits - 1; k >= 0; --k) {
    V *divisor = w.mul(magnitude, std::ldexp(1.0, digit * k));
    V *quotient = w.trunc(w.mul(w.mul(rest, inverse), std::ldexp(1.0, -digit * k)));
    rest = w.fma(w.neg(quotient), divisor, rest);
    rest = w.choose(w.is_less(rest, 0), w.add(rest, divisor), rest);
    rest = w.choose(b.CreateFCmpOGE(rest, divisor), w.sub(rest, divisor), rest);
  }
  V *value = w.choose(w.is_equal(magnitude, inf), x, w.copysign(rest, x));
  V *is_nan = b.CreateOr(b.CreateFCmpUNO(x, y), b.CreateOr(w.is_equal(w.abs(x), inf), w.is_equal(y, 0)));
  return w.choose(is_nan, w.number(std::numeric_limits<double>::quiet_NaN()), value);
}

} // namespace

llvm::Value *wide_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x) {
  using Function = V *(*)(Wide &, V *);
  Function function = nullptr;
  switch (opcode) {
  case ir::Opcode::Sin:
    function = [](Wide &w, V *v) { return sine(w, v, false); };
    break;
  case ir::Opcode::Cos:
    function = [](Wide &w, V *v) { return sine(w, v, true); };
    break;
  case ir::Opcode::Atan:
    function = atan;
    break;
  case ir::Opcode::Asin:
    function = asin;
    break;
  case ir::Opcode::Acos:
    function = acos;
    break;
  case ir::Opcode::Log1p:
    function = log1p;
    break;
  case ir::Opcode::Expm1:
    function = expm1;
    break;
  default:
    return nullptr;
  }
  Wide w(builder);
  V *value = w.to_f32(function(w, w.from_f32(x)));
  return builder.CreateSelect(builder.CreateFCmpUNO(x, x), x, value);
}

llvm::Value *wide_function(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *x, llvm::Value *y) {
  Wide w(builder);
  V *a = w.from_f32(x), *b = w.from_f32(y);
  switch (opcode) {
  case ir::Opcode::Pow:
    return w.to_f32(pow(w, a, b));
  case ir::Opcode::Fmod:
    return w.to_f32(fmod(w, a, b));
  case ir::Opcode::Atan2: {
    V *nan = llvm::ConstantFP::getNaN(builder.getFloatTy());
    return builder.CreateSelect(builder.CreateFCmpUNO(x, y), nan, w.to_f32(atan2(w, a, b)));
  }
  default:
    return nullptr;
  }
}

} // namespace nereid::codegen
