// Elements of 1 to 8 bytes into dwords and out of them.
#include "codegen/lower/packing.h"

#include <llvm/IR/PatternMatch.h>

#include "codegen/lower/lane_moves.h"
#include "codegen/lower/llvm_types.h"

namespace nereid::codegen {

llvm::Value *dwords_to_vector(llvm::IRBuilder<> &builder, const Registers &dwords) {
  if (dwords.size() == 1)
    return dwords[0];
  llvm::Value *vector =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getInt32Ty(), dwords.size()));
  for (size_t i = 0; i < dwords.size(); ++i)
    vector = builder.CreateInsertElement(vector, dwords[i], i);
  return vector;
}

/// By its code, which unpack writes: the shifted dword cut to the element's width, as the element's type.
/// Other shifts are arithmetic: an exponent is 23 bits up.
std::optional<Packing::Piece> Packing::piece(llvm::Value *element) {
  using namespace llvm::PatternMatch;
  llvm::Value *bits = element, *dword = nullptr;
  if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(element))
    bits = cast->getOperand(0);
  uint64_t bit = 0;
  if (!match(bits, m_Trunc(m_LShr(m_Value(dword), m_ConstantInt(bit)))) &&
      !match(bits, m_Trunc(m_Value(dword))))
    return std::nullopt;
  const uint64_t width = bits->getType()->getIntegerBitWidth();
  if (!dword->getType()->isIntegerTy(32) || bit % width != 0 || bit + width > 32)
    return std::nullopt;
  return Piece{dword, static_cast<unsigned>(bit)};
}

Registers Packing::unpack(llvm::Value *vector, llvm::Type *element, unsigned count) {
  const unsigned bits = bits_of(element);
  Registers elements;
  if (!vector->getType()->isVectorTy() && vector->getType()->getIntegerBitWidth() == bits)
    return {from_bits(builder_, vector, element)};
  if (bits == 64) {
    auto *quads = llvm::FixedVectorType::get(builder_.getInt64Ty(), count);
    llvm::Value *wide = builder_.CreateBitCast(vector, quads);
    for (unsigned i = 0; i < count; ++i)
      elements.push_back(from_bits(builder_, builder_.CreateExtractElement(wide, i), element));
    return elements;
  }
  unsigned per_dword = 32 / bits;
  bool single = !vector->getType()->isVectorTy();
  llvm::Value *dword = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (i % per_dword == 0)
      dword = single ? builder_.CreateZExt(vector, builder_.getInt32Ty())
                     : builder_.CreateExtractElement(vector, i / per_dword);
    if (bits == 32) {
      elements.push_back(from_bits(builder_, dword, element));
      continue;
    }
    unsigned bit = i % per_dword * bits;
    llvm::Value *piece = builder_.CreateTrunc(builder_.CreateLShr(dword, bit), builder_.getIntNTy(bits));
    elements.push_back(from_bits(builder_, piece, element));
  }
  return elements;
}

/// The dword that these elements are all of, in order; else null.
static llvm::Value *dword_of_all(llvm::ArrayRef<llvm::Value *> elements, unsigned element_bits) {
  if (elements.size() * element_bits != 32)
    return nullptr;
  const std::optional<Packing::Piece> first = Packing::piece(elements[0]);
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::optional<Packing::Piece> own = Packing::piece(elements[i]);
    const bool is_whole = elements[i]->getType()->getPrimitiveSizeInBits() == element_bits;
    if (!first || !own || !is_whole || own->dword != first->dword || own->bit != i * element_bits)
      return nullptr;
  }
  return first->dword;
}

llvm::Value *Packing::pack_dword(llvm::ArrayRef<llvm::Value *> elements, unsigned element_bits) {
  if (llvm::Value *dword = dword_of_all(elements, element_bits))
    return dword;
  auto *type = llvm::FixedVectorType::get(elements[0]->getType(), 32 / element_bits);
  llvm::Value *vector = llvm::Constant::getNullValue(type);
  for (size_t i = 0; i < elements.size(); ++i)
    vector = builder_.CreateInsertElement(vector, elements[i], i);
  return builder_.CreateBitCast(vector, builder_.getInt32Ty());
}

Registers Packing::pack(const Registers &elements, unsigned element_bits) {
  Registers dwords;
  if (element_bits < 32) {
    const unsigned per_dword = 32 / element_bits;
    for (llvm::ArrayRef<llvm::Value *> rest = elements; !rest.empty();) {
      const size_t count = std::min<size_t>(per_dword, rest.size());
      dwords.push_back(pack_dword(rest.take_front(count), element_bits));
      rest = rest.drop_front(count);
    }
    return dwords;
  }
  for (llvm::Value *element : elements) {
    llvm::Value *bits = to_bits(builder_, element);
    if (element_bits == 32) {
      dwords.push_back(bits);
      continue;
    }
    dwords.push_back(low_dword(builder_, bits));
    dwords.push_back(high_dword(builder_, bits));
  }
  return dwords;
}

} // namespace nereid::codegen
