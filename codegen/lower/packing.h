#pragma once

#include <unordered_map>

#include <llvm/IR/IRBuilder.h>

#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// Elements in dwords. An element that was cut out of a dword is remembered with its offset there, so that
/// packing it again, or selecting it by an instruction's byte select, needs no code.
class Packing {
public:
  struct Piece {
    llvm::Value *dword;
    unsigned bit;
  };

  explicit Packing(llvm::IRBuilder<> &builder) : builder_(builder) {}

  /// Elements of a vector of dwords (or of one integer narrower than a dword).
  Registers unpack(llvm::Value *vector, llvm::Type *element, unsigned count);
  /// The last dword is filled up with zeros.
  Registers pack(const Registers &elements, unsigned element_bits);
  /// Null for an element that was not cut out of a dword.
  const Piece *piece(llvm::Value *element) const;
  /// Before the block is erased: the addresses of its instructions may be used again.
  void forget(const llvm::BasicBlock &block);

private:
  llvm::Value *pack_dword(llvm::ArrayRef<llvm::Value *> elements, unsigned element_bits);
  llvm::Value *dword_of_all(llvm::ArrayRef<llvm::Value *> elements, unsigned element_bits) const;

  llvm::IRBuilder<> &builder_;
  std::unordered_map<llvm::Value *, Piece> pieces_;
};

/// One dword as it is, several as a vector.
llvm::Value *dwords_to_vector(llvm::IRBuilder<> &builder, const Registers &dwords);

} // namespace nereid::codegen
