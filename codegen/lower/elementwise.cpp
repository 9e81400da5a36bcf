// Elementwise operations, one element at a time: which LLVM instruction each is.
#include "codegen/lower/elementwise.h"

#include "codegen/lower/casts.h"
#include "codegen/lower/float_functions.h"
#include "codegen/lower/inline_asm.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/wide_functions.h"

namespace nereid::codegen {

/// a * b + c with one rounding. The product is exact in f64. Where the sum there is not, its last bit is made
/// odd by way of what the addition left out, so that rounding it to bf16 is as good as rounding the exact
/// sum.
static llvm::Value *bf16_fma(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b, llvm::Value *c) {
  llvm::Type *f64 = builder.getDoubleTy();
  llvm::Value *addend = builder.CreateFPExt(c, f64);
  llvm::Value *product = builder.CreateFMul(builder.CreateFPExt(a, f64), builder.CreateFPExt(b, f64));
  llvm::Value *sum = builder.CreateFAdd(product, addend);
  llvm::Value *of_addend = builder.CreateFSub(sum, product);
  llvm::Value *rest = builder.CreateFAdd(builder.CreateFSub(product, builder.CreateFSub(sum, of_addend)),
                                         builder.CreateFSub(addend, of_addend));
  llvm::Value *zero = llvm::ConstantFP::get(f64, 0);
  llvm::Value *bits = builder.CreateBitCast(sum, builder.getInt64Ty());
  llvm::Value *is_even = builder.CreateICmpEQ(builder.CreateAnd(bits, 1), builder.getInt64(0));
  llvm::Value *inexact = builder.CreateFCmpONE(rest, zero); // no NaN: then the sum is not finite
  llvm::Value *outward =
      builder.CreateICmpEQ(builder.CreateFCmpOGT(rest, zero), builder.CreateFCmpOGT(sum, zero));
  llvm::Value *step = builder.CreateSelect(outward, builder.getInt64(1), builder.getInt64(-1));
  llvm::Value *odd =
      builder.CreateSelect(builder.CreateAnd(inexact, is_even), builder.CreateAdd(bits, step), bits);
  return builder.CreateFPTrunc(builder.CreateBitCast(odd, f64), builder.getBFloatTy());
}

namespace {

/// a / b or a % b, truncating, with no undefined case: INT_MIN / -1 wraps, and a zero divisor (which only
/// lanes may have that a mask removes) gives something harmless.
llvm::Value *divide(llvm::IRBuilder<> &builder, bool is_signed, bool remainder, llvm::Value *a,
                    llvm::Value *b) {
  llvm::Type *type = a->getType();
  llvm::Value *one = llvm::ConstantInt::get(type, 1);
  llvm::Value *zero = llvm::ConstantInt::get(type, 0);
  llvm::Value *is_zero = builder.CreateICmpEQ(b, zero);
  if (!is_signed) {
    llvm::Value *divisor = builder.CreateSelect(is_zero, one, b);
    return remainder ? builder.CreateURem(a, divisor) : builder.CreateUDiv(a, divisor);
  }
  llvm::Value *is_minus_one = builder.CreateICmpEQ(b, llvm::ConstantInt::getSigned(type, -1));
  llvm::Value *divisor = builder.CreateSelect(builder.CreateOr(is_zero, is_minus_one), one, b);
  if (remainder)
    return builder.CreateSRem(a, divisor);
  return builder.CreateSelect(is_minus_one, builder.CreateNeg(a), builder.CreateSDiv(a, divisor));
}

/// a / b rounded up. Where the known ranges exclude an overflow, a + (b - 1) by b; else the truncated
/// quotient and one more where both signs are equal and something remains.
llvm::Value *divide_up(llvm::IRBuilder<> &builder, ir::Element element, const Interval &a_range,
                       const Interval &b_range, llvm::Value *a, llvm::Value *b) {
  const bool is_signed = ir::is_signed(element);
  const unsigned bits = ir::facts(element).bits - (is_signed ? 1 : 0);
  const int64_t max = bits >= 63 ? INT64_MAX : (int64_t(1) << bits) - 1;
  llvm::Type *type = a->getType();
  if (a_range.low >= 0 && b_range.low > 0 && a_range.high <= max - (b_range.high - 1)) {
    llvm::Value *last = builder.CreateSub(b, llvm::ConstantInt::get(type, 1));
    return divide(builder, is_signed, false, builder.CreateAdd(a, last), b);
  }
  llvm::Value *quotient = divide(builder, is_signed, false, a, b);
  llvm::Value *zero = llvm::ConstantInt::get(type, 0);
  llvm::Value *more = builder.CreateICmpNE(divide(builder, is_signed, true, a, b), zero);
  if (is_signed)
    more = builder.CreateAnd(more, builder.CreateICmpSGE(builder.CreateXor(a, b), zero));
  return builder.CreateAdd(quotient, builder.CreateZExt(more, type));
}

llvm::Value *shift(llvm::IRBuilder<> &builder, ir::Opcode opcode, bool is_signed, llvm::Value *a,
                   llvm::Value *b) {
  llvm::Type *type = a->getType();
  unsigned width = type->getIntegerBitWidth();
  llvm::Value *fits = builder.CreateICmpULT(b, llvm::ConstantInt::get(type, width));
  if (opcode == ir::Opcode::Shr && is_signed) {
    llvm::Value *amount = builder.CreateSelect(fits, b, llvm::ConstantInt::get(type, width - 1));
    return builder.CreateAShr(a, amount);
  }
  llvm::Value *amount = builder.CreateSelect(fits, b, llvm::ConstantInt::get(type, 0));
  llvm::Value *shifted =
      opcode == ir::Opcode::Shl ? builder.CreateShl(a, amount) : builder.CreateLShr(a, amount);
  return builder.CreateSelect(fits, shifted, llvm::ConstantInt::get(type, 0));
}

} // namespace

llvm::Value *add_numbers(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b) {
  return a->getType()->isFloatingPointTy() ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
}

llvm::Value *float_binary(llvm::IRBuilder<> &builder, ir::Opcode opcode, llvm::Value *a, llvm::Value *b) {
  switch (opcode) {
  case ir::Opcode::Add:
    return builder.CreateFAdd(a, b);
  case ir::Opcode::Sub:
    return builder.CreateFSub(a, b);
  case ir::Opcode::Mul:
    return builder.CreateFMul(a, b);
  case ir::Opcode::Div:
    return builder.CreateFDiv(a, b);
  case ir::Opcode::Rem:
    return builder.CreateFRem(a, b);
  case ir::Opcode::Min:
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
  default:
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
  }
}

llvm::Value *integer_binary(llvm::IRBuilder<> &builder, ir::Opcode opcode, bool is_signed, llvm::Value *a,
                            llvm::Value *b) {
  switch (opcode) {
  case ir::Opcode::Add:
    return builder.CreateAdd(a, b);
  case ir::Opcode::Sub:
    return builder.CreateSub(a, b);
  case ir::Opcode::Mul:
    return builder.CreateMul(a, b);
  case ir::Opcode::Div:
  case ir::Opcode::Rem:
    return divide(builder, is_signed, opcode == ir::Opcode::Rem, a, b);
  case ir::Opcode::Min:
    return builder.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
  case ir::Opcode::Max:
    return builder.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
  case ir::Opcode::And:
    return builder.CreateAnd(a, b);
  case ir::Opcode::Or:
    return builder.CreateOr(a, b);
  case ir::Opcode::Xor:
    return builder.CreateXor(a, b);
  case ir::Opcode::Shl:
  case ir::Opcode::Shr:
    return shift(builder, opcode, is_signed, a, b);
  case ir::Opcode::MulHi: {
    unsigned width = a->getType()->getIntegerBitWidth();
    llvm::Type *wide = builder.getIntNTy(2 * width);
    auto extend = [&](llvm::Value *v) {
      return is_signed ? builder.CreateSExt(v, wide) : builder.CreateZExt(v, wide);
    };
    llvm::Value *product = builder.CreateMul(extend(a), extend(b));
    return builder.CreateTrunc(builder.CreateLShr(product, width), a->getType());
  }
  default:
    return nullptr;
  }
}

namespace {

[[noreturn]] void fail_to_compile(EmitContext &context, const ir::Op &op) {
  context.fail(op, std::string(ir::facts(op.opcode).name) + " does not compile yet");
}

llvm::Value *unary(EmitContext &context, const ir::Op &op, ir::Element element, llvm::Value *a) {
  llvm::IRBuilder<> &builder = context.builder;
  bool is_float = ir::is_float(element);
  switch (op.opcode) {
  case ir::Opcode::Neg:
    return is_float ? builder.CreateFNeg(a) : builder.CreateNeg(a);
  case ir::Opcode::Not:
    return builder.CreateNot(a);
  case ir::Opcode::Abs:
    if (is_float)
      return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    return ir::is_signed(element) ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, builder.getFalse())
                                  : a;
  case ir::Opcode::Popcount:
    return builder.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
  case ir::Opcode::Clz:
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, builder.getFalse());
  case ir::Opcode::Trunc:
    return narrow(builder, builder.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, widen(builder, a)), element);
  default:
    break;
  }
  if (!is_float)
    context.fail(op, std::string(ir::facts(op.opcode).name) + " of integers does not compile");
  llvm::Value *x = widen(builder, a);
  if (op.has("fast"))
    return narrow(builder, fast_function(builder, op.opcode, x), element);
  if (llvm::Value *value = element == ir::Element::F64 ? nullptr : wide_function(builder, op.opcode, x))
    return narrow(builder, value, element);
  return narrow(builder, float_function(builder, op.opcode, x), element);
}

llvm::Value *binary(EmitContext &context, const ir::Op &op, ir::Element element, llvm::Value *a,
                    llvm::Value *b) {
  llvm::IRBuilder<> &builder = context.builder;
  if (ir::is_float(element)) {
    llvm::Value *wide = widen(builder, b);
    llvm::Value *left = widen(builder, a);
    if (op.has("fast") && element != ir::Element::F64)
      return narrow(builder, fast_divide(builder, left, wide), element);
    if (llvm::Value *value =
            element == ir::Element::F64 ? nullptr : wide_function(builder, op.opcode, left, wide))
      return narrow(builder, value, element);
    return narrow(builder, float_binary(builder, op.opcode, left, wide), element);
  }
  if (op.opcode == ir::Opcode::CeilDiv) {
    const ValueRanges &ranges = context.plan.ranges;
    return divide_up(builder, element, ranges[op.operands[0]], ranges[op.operands[1]], a, b);
  }
  llvm::Value *result = integer_binary(builder, op.opcode, ir::is_signed(element), a, b);
  if (!result)
    fail_to_compile(context, op);
  return result;
}

llvm::Value *compare(llvm::IRBuilder<> &builder, ir::Opcode opcode, ir::Element element, llvm::Value *a,
                     llvm::Value *b) {
  using P = llvm::CmpInst;
  struct Line {
    ir::Opcode opcode;
    P::Predicate ordered, is_signed, is_unsigned;
  };
  static constexpr Line lines[] = {
      {ir::Opcode::Eq, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},
      {ir::Opcode::Ne, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {ir::Opcode::Lt, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
      {ir::Opcode::Le, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {ir::Opcode::Gt, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
      {ir::Opcode::Ge, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
  };
  for (const Line &line : lines)
    if (line.opcode == opcode) {
      if (a->getType()->isFloatingPointTy()) {
        llvm::Value *wide = widen(builder, b);
        return builder.CreateFCmp(line.ordered, widen(builder, a), wide);
      }
      return builder.CreateICmp(ir::is_signed(element) ? line.is_signed : line.is_unsigned, a, b);
    }
  return builder.getFalse();
}

} // namespace

llvm::Value *elementwise(EmitContext &context, const ir::Op &op, const Registers &operands) {
  llvm::IRBuilder<> &builder = context.builder;
  ir::Element element = context.type(op.operands[0]).element;
  switch (op.opcode) {
  case ir::Opcode::Fma:
    if (!ir::is_float(element))
      return builder.CreateAdd(builder.CreateMul(operands[0], operands[1]), operands[2]);
    if (element == ir::Element::BF16)
      return bf16_fma(builder, operands[0], operands[1], operands[2]);
    return builder.CreateIntrinsic(llvm_type(builder.getContext(), element), llvm::Intrinsic::fma,
                                   {operands[0], operands[1], operands[2]});
  case ir::Opcode::Where:
    if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(operands[0]))
      return operands[known->isOne() ? 1 : 2];
    return builder.CreateSelect(operands[0], operands[1], operands[2]);
  case ir::Opcode::Cast:
    return cast_all(builder, {operands[0]}, element, context.type(op.result()).element)[0];
  case ir::Opcode::Bitcast:
    return builder.CreateBitCast(operands[0], llvm_type(builder.getContext(), context.type(op.result())));
  case ir::Opcode::PtrAdd: {
    llvm::Value *index = builder.CreateSExt(operands[1], builder.getInt64Ty());
    llvm::Type *step = builder.getIntNTy(8 * ir::byte_size(element));
    return builder.CreateGEP(step, operands[0], index);
  }
  case ir::Opcode::IntToPtr:
    return builder.CreateIntToPtr(operands[0], llvm_type(builder.getContext(), context.type(op.result())));
  case ir::Opcode::InlineAsm:
    return inline_asm(context, op, operands);
  case ir::Opcode::CvtScaled:
    return cvt_scaled(context, op, operands);
  default:
    break;
  }
  switch (ir::facts(op.opcode).op_class) {
  case ir::OpClass::Unary:
    return unary(context, op, element, operands[0]);
  case ir::OpClass::Binary:
    return binary(context, op, element, operands[0], operands[1]);
  case ir::OpClass::Compare:
    return compare(builder, op.opcode, element, operands[0], operands[1]);
  default:
    fail_to_compile(context, op);
  }
}

} // namespace nereid::codegen
