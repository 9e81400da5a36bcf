#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lowering.h"

namespace nereid::codegen {

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

llvm::Value *Lowering::cast(llvm::Value *value, ir::Element from, ir::Element to) {
  if (from == to)
    return value;
  if (ir::is_float(from)) {
    llvm::Value *wide = widen(value);
    if (ir::is_float(to))
      return narrow(wide, to);
    if (to == ir::Element::I1)
      return builder_.CreateFCmpUNE(wide, llvm::ConstantFP::get(wide->getType(), 0.0));
    return float_to_integer(builder_, wide, to);
  }
  if (to == ir::Element::BF16 && ir::facts(from).bits >= 32)
    return integer_to_bf16(builder_, value, ir::is_signed(from));
  if (ir::is_float(to)) {
    llvm::Type *f32 = builder_.getFloatTy();
    return narrow(ir::is_signed(from) ? builder_.CreateSIToFP(value, f32) : builder_.CreateUIToFP(value, f32),
                  to);
  }
  if (to == ir::Element::I1)
    return builder_.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  return builder_.CreateIntCast(value, llvm_type(context_, to), ir::is_signed(from));
}

llvm::Value *Lowering::cvt_scaled(const ir::Op &op, const Registers &operands) {
  ir::Format format = *ir::format_named(op.string("format"));
  llvm::Value *zero = builder_.getInt32(0);
  if (format == ir::Format::E2M1) {
    llvm::Value *dword = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp4_f32,
                                                  {zero, operands[0], operands[1], operands[2], zero});
    return builder_.CreateTrunc(dword, builder_.getInt8Ty());
  }
  if (format != ir::Format::E4M3 && format != ir::Format::E5M2) {
    fail(op, "cvt_scaled to " + std::string(ir::facts(format).name) + " does not compile yet",
         "formats that compile: e2m1, e4m3, e5m2");
    return llvm::PoisonValue::get(llvm_type(context_, type(op.result())));
  }
  auto *pair = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2);
  llvm::Value *packed = builder_.CreateIntrinsic(
      format == ir::Format::E4M3 ? llvm::Intrinsic::amdgcn_cvt_scalef32_pk_fp8_f32
                                 : llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf8_f32,
      {llvm::Constant::getNullValue(pair), operands[0], operands[1], operands[2], builder_.getFalse()});
  return builder_.CreateExtractElement(packed, uint64_t(0));
}

llvm::Value *Lowering::inline_asm(const ir::Op &op, const Registers &operands) {
  std::vector<llvm::Type *> types;
  for (llvm::Value *operand : operands)
    types.push_back(operand->getType());
  auto *signature = llvm::FunctionType::get(llvm_type(context_, type(op.result())), types, false);
  const std::string &constraints = op.string("constraints");
  if (llvm::Error wrong = llvm::InlineAsm::verify(signature, constraints)) {
    fail(user_error("inline_asm's constraints \"" + constraints +
                        "\" do not fit: " + llvm::toString(std::move(wrong)),
                    "give one output and one constraint for each operand, as LLVM's inline assembly has them",
                    function_.place(op)));
    return llvm::PoisonValue::get(signature->getReturnType());
  }
  auto *code = llvm::InlineAsm::get(signature, op.string("asm"), constraints, false);
  llvm::CallInst *call = builder_.CreateCall(signature, code, operands);
  call->setDoesNotAccessMemory();
  return call;
}

} // namespace nereid::codegen
