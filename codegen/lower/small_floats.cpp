// Conversions of fp8 and bf8 by the hardware's instructions (CDNA4 ISA guide, 7.3).
#include "codegen/lower/small_floats.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/packing.h"

namespace nereid::codegen {

namespace {

using llvm::Intrinsic::ID;

/// The instructions of a format: of two values, and of one.
struct Conversions {
  ID pair_to_f32, one_to_f32, pair_to_f16, pair_to_bf16, pair_from_f32;
};
constexpr Conversions fp8 = {llvm::Intrinsic::amdgcn_cvt_pk_f32_fp8, llvm::Intrinsic::amdgcn_cvt_f32_fp8,
                             llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f16_fp8,
                             llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf16_fp8,
                             llvm::Intrinsic::amdgcn_cvt_pk_fp8_f32};
constexpr Conversions bf8 = {llvm::Intrinsic::amdgcn_cvt_pk_f32_bf8, llvm::Intrinsic::amdgcn_cvt_f32_bf8,
                             llvm::Intrinsic::amdgcn_cvt_scalef32_pk_f16_bf8,
                             llvm::Intrinsic::amdgcn_cvt_scalef32_pk_bf16_bf8,
                             llvm::Intrinsic::amdgcn_cvt_pk_bf8_f32};

const Conversions &conversions_of(ir::Element element) { return element == ir::Element::FP8 ? fp8 : bf8; }

Packing::Piece piece_of(llvm::IRBuilder<> &builder, llvm::Value *code) {
  const std::optional<Packing::Piece> piece = Packing::piece(code);
  if (piece && piece->bit % 8 == 0)
    return *piece;
  return {builder.CreateZExt(code, builder.getInt32Ty()), 0};
}

/// Whether the code after `first` lies after it in one half of the dword.
bool is_pair(const Packing::Piece &first, llvm::Value *next) {
  const std::optional<Packing::Piece> second = Packing::piece(next);
  return second && second->dword == first.dword && first.bit % 16 == 0 && second->bit == first.bit + 8;
}

/// The two values of a half of a dword.
llvm::Value *convert_half(llvm::IRBuilder<> &builder, const Conversions &conversions,
                          const Packing::Piece &piece, ir::Element to) {
  llvm::Value *high = builder.getInt1(piece.bit >= 16);
  if (to == ir::Element::F32)
    return builder.CreateIntrinsic(conversions.pair_to_f32, {piece.dword, high});
  llvm::Value *one = llvm::ConstantFP::get(builder.getFloatTy(), 1.0);
  return builder.CreateIntrinsic(to == ir::Element::F16 ? conversions.pair_to_f16 : conversions.pair_to_bf16,
                                 {piece.dword, one, high});
}

} // namespace

Registers from_small_float(llvm::IRBuilder<> &builder, const Registers &codes, ir::Element from,
                           ir::Element to) {
  const Conversions &conversions = conversions_of(from);
  Registers values;
  while (values.size() < codes.size()) {
    const size_t at = values.size();
    const Packing::Piece piece = piece_of(builder, codes[at]);
    if (at + 1 < codes.size() && is_pair(piece, codes[at + 1])) {
      llvm::Value *pair = convert_half(builder, conversions, piece, to);
      values.push_back(builder.CreateExtractElement(pair, uint64_t{0}));
      values.push_back(builder.CreateExtractElement(pair, uint64_t{1}));
    } else if (to == ir::Element::F32) {
      values.push_back(
          builder.CreateIntrinsic(conversions.one_to_f32, {piece.dword, builder.getInt32(piece.bit / 8)}));
    } else {
      llvm::Value *pair = convert_half(builder, conversions, piece, to);
      values.push_back(builder.CreateExtractElement(pair, uint64_t{piece.bit / 8 % 2}));
    }
  }
  return values;
}

Registers to_small_float(llvm::IRBuilder<> &builder, const Registers &values, ir::Element to) {
  const ID convert = conversions_of(to).pair_from_f32;
  Registers codes;
  while (codes.size() < values.size()) {
    const size_t count = std::min<size_t>(values.size() - codes.size(), 4);
    llvm::Value *const *four = values.data() + codes.size();
    llvm::Value *dword = llvm::PoisonValue::get(builder.getInt32Ty());
    for (size_t half = 0; 2 * half < count; ++half) {
      llvm::Value *first = four[2 * half], *second = 2 * half + 1 < count ? four[2 * half + 1] : first;
      dword = builder.CreateIntrinsic(convert, {first, second, dword, builder.getInt1(half == 1)});
    }
    for (size_t i = 0; i < count; ++i)
      codes.push_back(builder.CreateTrunc(builder.CreateLShr(dword, 8 * i), builder.getInt8Ty()));
  }
  return codes;
}

} // namespace nereid::codegen
