#pragma once

#include <optional>

#include <llvm/IR/IRBuilder.h>

#include "codegen/lower/registers.h"

namespace nereid::codegen {

/// Elements in dwords. An element that was cut out of a dword is known with its offset there, so that packing
/// it again, or selecting it by an instruction's byte select, needs no code.
class Packing {
public:
  struct Piece {
    llvm::Value *dword;
    unsigned bit;
  };
  /// Nothing for an element that was not cut out of a dword.
  static std::optional<Piece> piece(llvm::Value *element);

  explicit Packing(llvm::IRBuilder<> &builder) : builder_(builder) {}

  /// Elements of a vector of dwords (or of one integer narrower than a dword).
  Registers unpack(llvm::Value *vector, llvm::Type *element, unsigned count);
  /// The last dword is filled up with zeros.
  Registers pack(const Registers &elements, unsigned element_bits);

private:
  llvm::Value *pack_dword(llvm::ArrayRef<llvm::Value *> elements, unsigned element_bits);

  llvm::IRBuilder<> &builder_;
};

/// One dword as it is, several as a vector.
llvm::Value *dwords_to_vector(llvm::IRBuilder<> &builder, const Registers &dwords);

} // namespace nereid::codegen
