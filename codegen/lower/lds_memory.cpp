// Arrays in LDS.
#include "codegen/lower/lds_memory.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/target/gfx950.h"

namespace nereid::codegen {

static llvm::GlobalVariable *lds_variable(llvm::Module &module, llvm::Type *type, const std::string &name) {
  constexpr unsigned lds_address_space = 3;
  return new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage,
                                  llvm::PoisonValue::get(type), name, nullptr,
                                  llvm::GlobalValue::NotThreadLocal, lds_address_space);
}

llvm::Value *LdsMemory::scratch(unsigned bytes) {
  if (!scratch_)
    scratch_ = lds_variable(context_.module, context_.builder.getInt8Ty(), "lds.unsized");
  scratch_bytes_ = std::max(scratch_bytes_, (bytes + 15) / 16 * 16);
  return scratch_;
}

llvm::GlobalVariable *LdsMemory::array(unsigned bytes, const std::string &suffix) {
  auto *type = llvm::ArrayType::get(context_.builder.getInt8Ty(), bytes);
  llvm::GlobalVariable *array = lds_variable(context_.module, type, context_.function().name + suffix);
  array->setAlignment(llvm::Align(16));
  array_bytes_ += bytes;
  return array;
}

LdsMemory::SharedBuffers LdsMemory::shared_buffers(unsigned number, unsigned bytes, unsigned buffers) {
  for (const SharedBuffers &shared : shared_buffers_)
    if (shared.number == number && shared.bytes >= bytes && shared.scopes.size() >= buffers)
      return shared;
  llvm::MDBuilder metadata(context_.builder.getContext());
  if (!domain_)
    domain_ = metadata.createAnonymousAliasScopeDomain("lds_prefetch");
  std::vector<llvm::MDNode *> scopes;
  for (unsigned b = 0; b < buffers; ++b)
    scopes.push_back(metadata.createAnonymousAliasScope(domain_));
  shared_buffers_.push_back({number, bytes, array(bytes * buffers, ".prefetch"), std::move(scopes)});
  constexpr uint64_t alignment = 1024; // xors of addresses stay inside
  shared_buffers_.back().array->setAlignment(llvm::Align(alignment));
  return shared_buffers_.back();
}

void LdsMemory::finish() {
  if (const unsigned bytes = scratch_bytes_ + array_bytes_; bytes > gfx950::lds_bytes)
    fail(user_error(
        fmt::format("the kernel needs {} bytes of LDS, a workgroup has {}", bytes, gfx950::lds_bytes),
        "use smaller tiles or fewer waves"));
  if (!scratch_)
    return;
  llvm::GlobalVariable *sized = array(scratch_bytes_, ".lds");
  scratch_->replaceAllUsesWith(sized);
  scratch_->eraseFromParent();
  scratch_ = sized;
}

} // namespace nereid::codegen
