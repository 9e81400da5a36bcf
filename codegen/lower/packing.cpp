#include "codegen/lower/lowering.h"

namespace nereid::codegen {

llvm::Value *Lowering::to_bits(llvm::Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return builder_.CreatePtrToInt(value, builder_.getInt64Ty());
  if (type->isIntegerTy())
    return value;
  return builder_.CreateBitCast(value, builder_.getIntNTy(type->getPrimitiveSizeInBits()));
}

llvm::Value *Lowering::from_bits(llvm::Value *bits, llvm::Type *type) {
  if (type->isPointerTy())
    return builder_.CreateIntToPtr(bits, type);
  return builder_.CreateBitCast(bits, type);
}

llvm::Value *Lowering::dwords_to_vector(const Registers &dwords) {
  if (dwords.size() == 1)
    return dwords[0];
  llvm::Value *vector =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt32Ty(), dwords.size()));
  for (size_t i = 0; i < dwords.size(); ++i)
    vector = builder_.CreateInsertElement(vector, dwords[i], i);
  return vector;
}

/// Elements of a vector of dwords (or of one integer narrower than a dword).
Registers Lowering::unpack(llvm::Value *vector, llvm::Type *element, unsigned count) {
  unsigned bits = element->isPointerTy() ? 64 : element->getPrimitiveSizeInBits();
  Registers elements;
  if (!vector->getType()->isVectorTy() && vector->getType()->getIntegerBitWidth() == bits)
    return {from_bits(vector, element)};
  if (bits == 64) {
    auto *quads = llvm::FixedVectorType::get(builder_.getInt64Ty(), count);
    llvm::Value *wide = builder_.CreateBitCast(vector, quads);
    for (unsigned i = 0; i < count; ++i)
      elements.push_back(from_bits(builder_.CreateExtractElement(wide, i), element));
    return elements;
  }
  unsigned per_dword = 32 / bits;
  bool single = !vector->getType()->isVectorTy();
  llvm::Value *dword = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (i % per_dword == 0)
      dword = single ? vector : builder_.CreateExtractElement(vector, i / per_dword);
    if (bits == 32) {
      elements.push_back(from_bits(dword, element));
      continue;
    }
    unsigned bit = i % per_dword * bits;
    llvm::Value *piece = builder_.CreateTrunc(builder_.CreateLShr(dword, bit), builder_.getIntNTy(bits));
    llvm::Value *value = from_bits(piece, element);
    if (dword->getType()->isIntegerTy(32) && !llvm::isa<llvm::Constant>(value))
      pieces_[value] = {dword, bit};
    elements.push_back(value);
  }
  return elements;
}

Registers Lowering::pack(const Registers &elements, unsigned element_bits) {
  Registers dwords;
  if (element_bits >= 32) {
    for (llvm::Value *element : elements) {
      llvm::Value *bits = to_bits(element);
      if (element_bits == 32) {
        dwords.push_back(bits);
        continue;
      }
      dwords.push_back(builder_.CreateTrunc(bits, builder_.getInt32Ty()));
      dwords.push_back(builder_.CreateTrunc(builder_.CreateLShr(bits, 32), builder_.getInt32Ty()));
    }
    return dwords;
  }
  unsigned per_dword = 32 / element_bits;
  for (size_t first = 0; first < elements.size(); first += per_dword) {
    size_t count = std::min<size_t>(per_dword, elements.size() - first);
    auto piece_of = [&](size_t i) -> std::optional<Piece> {
      auto found = pieces_.find(elements[first + i]);
      return found == pieces_.end() ? std::nullopt : std::optional<Piece>(found->second);
    };
    std::optional<Piece> whole = piece_of(0);
    for (size_t i = 0; i < per_dword && whole; ++i) {
      std::optional<Piece> piece = i < count ? piece_of(i) : std::nullopt;
      if (!piece || piece->dword != whole->dword || piece->bit != i * element_bits)
        whole.reset();
    }
    if (whole) {
      dwords.push_back(whole->dword);
      continue;
    }
    auto *vector_type = llvm::FixedVectorType::get(elements[first]->getType(), per_dword);
    llvm::Value *vector = llvm::Constant::getNullValue(vector_type);
    for (size_t i = 0; i < count; ++i)
      vector = builder_.CreateInsertElement(vector, elements[first + i], i);
    dwords.push_back(builder_.CreateBitCast(vector, builder_.getInt32Ty()));
  }
  return dwords;
}

} // namespace nereid::codegen
