// Quotients by a divisor that many elements share, by way of its reciprocal in two f64.
#include "codegen/lower/shared_divisor.h"

#include <llvm/ADT/FloatingPointMode.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/casts.h"

namespace nereid::codegen {

namespace {

/// Of fewer quotients, single divisions are cheaper.
constexpr size_t least_sharers = 4;

/// 1 / b = high + low within 2^-102. High is an f64 below it in magnitude, so that low is of the same sign
/// and never 0: then products with infinities and zeros are those of a division too.
struct Reciprocal {
  llvm::Value *high, *low;

  Reciprocal(llvm::IRBuilder<> &builder, llvm::Value *divisor) {
    llvm::Type *f64 = builder.getDoubleTy();
    const auto number = [&](double value) { return llvm::ConstantFP::get(f64, value); };
    llvm::Value *b = builder.CreateFPExt(divisor, f64);
    const auto rest_of = [&](llvm::Value *inverse) { // 1 - b inverse
      return builder.CreateIntrinsic(f64, llvm::Intrinsic::fma, {builder.CreateFNeg(inverse), b, number(1)});
    };
    llvm::Value *estimate = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_rcp, {f64}, {b});
    llvm::Value *nearest = estimate; // two Newton steps: within an ulp
    for (int step = 0; step < 2; ++step)
      nearest = builder.CreateIntrinsic(f64, llvm::Intrinsic::fma, {rest_of(nearest), nearest, nearest});
    llvm::Value *bits = builder.CreateBitCast(nearest, builder.getInt64Ty());
    llvm::Value *below = builder.CreateBitCast(builder.CreateSub(bits, builder.getInt64(2)), f64);
    llvm::Value *rest = rest_of(below);
    llvm::Value *ordinary = builder.createIsFPClass(divisor, llvm::fcNormal | llvm::fcSubnormal);
    high = builder.CreateSelect(ordinary, below, estimate);
    // Of 0 and infinity: a product with any f32 is finite, and 0 as an f32.
    llvm::Value *tiny = builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(0x1p-300), b);
    low = builder.CreateSelect(ordinary, builder.CreateFMul(rest, nearest), tiny);
  }
};

} // namespace

/// a (high + low) in f64, rounded to f32. Where a / b lies between two f32 it is at least 2^-50 of its value
/// away from their middle, or, if denormal, may be the middle itself; the f64 nearest to it, which the sum
/// is, is on the same side, or the middle.
std::optional<Registers> divide_by_shared(EmitContext &context, const ir::Op &op,
                                          const std::vector<Registers> &operands) {
  const ir::Element element = context.type(op.result()).element;
  if (op.opcode != ir::Opcode::Div || !ir::is_float(element) || element == ir::Element::F64 || op.has("fast"))
    return std::nullopt;
  llvm::MapVector<llvm::Value *, size_t> sharers;
  for (llvm::Value *divisor : operands[1])
    ++sharers[divisor];
  if (operands[1].size() < sharers.size() * least_sharers)
    return std::nullopt;
  llvm::IRBuilder<> &builder = context.builder;
  llvm::MapVector<llvm::Value *, Reciprocal> reciprocals;
  for (const auto &[divisor, count] : sharers)
    reciprocals.insert({divisor, Reciprocal(builder, widen(builder, divisor))});
  llvm::Type *f64 = builder.getDoubleTy();
  Registers quotients;
  for (size_t r = 0; r < operands[0].size(); ++r) {
    const Reciprocal &reciprocal = reciprocals.find(operands[1][r])->second;
    llvm::Value *a = builder.CreateFPExt(widen(builder, operands[0][r]), f64);
    llvm::Value *quotient = builder.CreateIntrinsic(
        f64, llvm::Intrinsic::fma, {a, reciprocal.high, builder.CreateFMul(a, reciprocal.low)});
    quotients.push_back(narrow(builder, builder.CreateFPTrunc(quotient, builder.getFloatTy()), element));
  }
  return quotients;
}

} // namespace nereid::codegen
