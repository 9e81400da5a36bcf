// Conversions between element types.
#include "codegen/lower/casts.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/llvm_types.h"
#include "codegen/lower/small_floats.h"

namespace nereid::codegen {

llvm::Value *widen(llvm::IRBuilder<> &builder, llvm::Value *value) {
  return value->getType()->isFloatTy() || value->getType()->isDoubleTy()
             ? value
             : builder.CreateFPExt(value, builder.getFloatTy());
}

llvm::Value *narrow(llvm::IRBuilder<> &builder, llvm::Value *value, ir::Element element) {
  llvm::Type *type = llvm_type(builder.getContext(), element);
  return value->getType() == type ? value : builder.CreateFPTrunc(value, type);
}

/// Floats saturate to u32, i64 or u64, for all other types to i32 (NaN gives 0), and are then cut to the
/// type.
static llvm::Value *float_to_integer(llvm::IRBuilder<> &builder, llvm::Value *value, ir::Element to) {
  unsigned bits = ir::facts(to).bits;
  bool is_unsigned = to == ir::Element::U32 || to == ir::Element::U64;
  llvm::Type *saturated = builder.getIntNTy(std::max(32u, bits));
  llvm::Value *integer =
      builder.CreateIntrinsic(is_unsigned ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat,
                              {saturated, value->getType()}, {value});
  return builder.CreateTrunc(integer, builder.getIntNTy(bits));
}

/// An integer of 32 or 64 bits to bf16 with one rounding: by way of an f32 of its leading 24 bits whose last
/// bit tells whether anything is left out.
static llvm::Value *integer_to_bf16(llvm::IRBuilder<> &builder, llvm::Value *value, bool is_signed) {
  llvm::Type *type = value->getType();
  const unsigned width = type->getIntegerBitWidth();
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(type, n); };
  const auto sticky = [&](llvm::Value *bits, unsigned from) {
    llvm::Value *rest = builder.CreateAnd(bits, number((uint64_t(1) << from) - 1));
    llvm::Value *any = builder.CreateZExt(builder.CreateICmpNE(rest, number(0)), type);
    return builder.CreateOr(builder.CreateLShr(bits, from), any);
  };
  llvm::Value *magnitude =
      is_signed ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, builder.getFalse()) : value;
  llvm::Value *zeros = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::ctlz, builder.CreateOr(magnitude, number(1)), builder.getFalse());
  llvm::Value *leading = sticky(builder.CreateShl(magnitude, zeros), width - 24);
  llvm::Value *f =
      builder.CreateUIToFP(builder.CreateTrunc(leading, builder.getInt32Ty()), builder.getFloatTy());
  llvm::Value *exponent = builder.CreateSub(number(width - 24), zeros);
  f = builder.CreateIntrinsic(llvm::Intrinsic::ldexp, {f->getType(), builder.getInt32Ty()},
                              {f, builder.CreateTrunc(exponent, builder.getInt32Ty())});
  llvm::Value *rounded = builder.CreateFPTrunc(f, builder.getBFloatTy());
  if (!is_signed)
    return rounded;
  return builder.CreateSelect(builder.CreateICmpSLT(value, number(0)), builder.CreateFNeg(rounded), rounded);
}

static llvm::Value *cast(llvm::IRBuilder<> &builder, llvm::Value *value, ir::Element from, ir::Element to) {
  if (from == to)
    return value;
  if (ir::is_float(from)) {
    llvm::Value *wide = widen(builder, value);
    if (to == ir::Element::F64)
      return builder.CreateFPExt(wide, builder.getDoubleTy());
    if (ir::is_float(to))
      return narrow(builder, wide, to);
    if (to == ir::Element::I1)
      return builder.CreateFCmpUNE(wide, llvm::ConstantFP::get(wide->getType(), 0.0));
    return float_to_integer(builder, wide, to);
  }
  if (to == ir::Element::BF16 && ir::facts(from).bits >= 32)
    return integer_to_bf16(builder, value, ir::is_signed(from));
  if (ir::is_float(to)) {
    llvm::Type *wide = to == ir::Element::F64 ? builder.getDoubleTy() : builder.getFloatTy();
    return narrow(builder,
                  ir::is_signed(from) ? builder.CreateSIToFP(value, wide) : builder.CreateUIToFP(value, wide),
                  to);
  }
  if (to == ir::Element::I1)
    return builder.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  return builder.CreateIntCast(value, llvm_type(builder.getContext(), to), ir::is_signed(from));
}

/// Of the two f32 around an f64 that is none the one whose last bit is set: rounding that to fewer bits
/// rounds the f64 once.
static llvm::Value *to_odd(llvm::IRBuilder<> &builder, llvm::Value *value) {
  llvm::Value *nearest = builder.CreateFPTrunc(value, builder.getFloatTy());
  llvm::Value *back = builder.CreateFPExt(nearest, value->getType());
  llvm::Value *is_away = builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                               builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  llvm::Value *is_inexact = builder.CreateFCmpONE(back, value);
  llvm::Type *bits = builder.getInt32Ty();
  llvm::Value *odd =
      builder.CreateSub(builder.CreateBitCast(nearest, bits), builder.CreateZExt(is_away, bits));
  odd = builder.CreateOr(odd, builder.CreateZExt(is_inexact, bits));
  return builder.CreateBitCast(odd, nearest->getType());
}

Registers cast_all(llvm::IRBuilder<> &builder, const Registers &values, ir::Element from, ir::Element to) {
  if (ir::is_small_float(from) && from != to) {
    const bool is_half = to == ir::Element::F16 || to == ir::Element::BF16;
    if (is_half)
      return from_small_float(builder, values, from, to);
    return cast_all(builder, from_small_float(builder, values, from, ir::Element::F32), ir::Element::F32, to);
  }
  if (ir::is_small_float(to) && from == ir::Element::F64) {
    Registers odd;
    for (llvm::Value *value : values)
      odd.push_back(to_odd(builder, value));
    return to_small_float(builder, odd, to);
  }
  if (ir::is_small_float(to) && from != to)
    return to_small_float(builder, cast_all(builder, values, from, ir::Element::F32), to);
  Registers result;
  for (llvm::Value *value : values)
    result.push_back(cast(builder, value, from, to));
  return result;
}

llvm::Value *cvt_scaled(EmitContext &context, const ir::Op &op, const Registers &operands) {
  llvm::IRBuilder<> &builder = context.builder;
  ir::Format format = *ir::format_named(op.string("format"));
  llvm::Value *zero = builder.getInt32(0);
  if (format == ir::Format::E2M1) {
    llvm::Value *dword = builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f32,
                                                 {zero, operands[0], operands[1], operands[2], zero});
    return builder.CreateTrunc(dword, builder.getInt8Ty());
  }
  if (format != ir::Format::E4M3 && format != ir::Format::E5M2)
    context.fail(op, "cvt_scaled to " + std::string(ir::facts(format).name) + " does not compile yet",
                 "formats that compile: e2m1, e4m3, e5m2");
  auto *pair = llvm::FixedVectorType::get(builder.getInt16Ty(), 2);
  llvm::Value *packed = builder.CreateIntrinsic(
      format == ir::Format::E4M3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f32
                                 : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f32,
      {llvm::Constant::getNullValue(pair), operands[0], operands[1], operands[2], builder.getFalse()});
  return builder.CreateExtractElement(packed, uint64_t(0));
}

} // namespace nereid::codegen
