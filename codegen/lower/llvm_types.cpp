// Which LLVM types elements of tiles and memory accesses have.
#include "codegen/lower/llvm_types.h"

namespace nereid::codegen {

llvm::Type *llvm_type(llvm::LLVMContext &context, ir::Element element) {
  switch (element) {
  case ir::Element::F16:
    return llvm::Type::getHalfTy(context);
  case ir::Element::BF16:
    return llvm::Type::getBFloatTy(context);
  case ir::Element::F32:
    return llvm::Type::getFloatTy(context);
  case ir::Element::F64:
    return llvm::Type::getDoubleTy(context);
  default:
    return llvm::Type::getIntNTy(context, ir::facts(element).bits);
  }
}

llvm::Type *llvm_type(llvm::LLVMContext &context, const ir::Type &type) {
  constexpr unsigned global_address_space = 1;
  return type.pointer ? llvm::PointerType::get(context, global_address_space)
                      : llvm_type(context, type.element);
}

unsigned bits_of(llvm::Type *type) {
  return type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits());
}

llvm::Type *access_type(llvm::IRBuilder<> &builder, unsigned bytes) {
  if (bytes <= 4)
    return builder.getIntNTy(8 * bytes);
  return llvm::FixedVectorType::get(builder.getInt32Ty(), bytes / 4);
}

} // namespace nereid::codegen
