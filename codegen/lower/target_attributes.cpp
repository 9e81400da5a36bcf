// What LLVM is told of the chip, and of how a kernel is launched.
#include "codegen/lower/target_attributes.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/lower/llvm_types.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

// As llc-22 prints it for amdgcn-amd-amdhsa; a test compares it with the target machine's.
static constexpr const char *data_layout =
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-"
    "p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-"
    "v2048:"
    "2048-n32:64-S32-A5-G1-ni:7:8:9";

static constexpr unsigned code_object_version = 600;

void set_target(llvm::Module &module) {
  module.setTargetTriple(llvm::Triple("amdgcn-amd-amdhsa"));
  module.setDataLayout(data_layout);
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", code_object_version);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 5);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

void set_chip_attributes(llvm::Function &kernel) {
  kernel.addFnAttr("target-cpu", "gfx950");
  // LLVM makes v_fma_mix with + 0 of a product that is rounded to f16, which loses the sign of a zero.
  kernel.addFnAttr("target-features", "-fma-mix-insts");
}

static void set_launch_attributes(const ir::Function &function, llvm::Function &kernel) {
  static constexpr const char *unused[] = {
      "amdgpu-no-dispatch-ptr",       "amdgpu-no-queue-ptr",     "amdgpu-no-implicitarg-ptr",
      "amdgpu-no-dispatch-id",        "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z",
      "amdgpu-no-lds-kernel-id",      "amdgpu-no-heap-ptr",      "amdgpu-no-hostcall-ptr",
      "amdgpu-no-multigrid-sync-arg", "amdgpu-no-default-queue", "amdgpu-no-completion-action",
      "amdgpu-no-flat-scratch-init",
  };
  for (const char *name : unused)
    kernel.addFnAttr(name);
  bool axis_used[3] = {};
  bool counts = false;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    if (op.opcode == ir::Opcode::ProgramId)
      axis_used[op.integer("axis")] = true;
    counts = counts || op.opcode == ir::Opcode::NumPrograms;
  });
  static constexpr const char *axes[] = {"amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y",
                                         "amdgpu-no-workgroup-id-z"};
  for (int axis = 0; axis < 3; ++axis)
    if (!axis_used[axis])
      kernel.addFnAttr(axes[axis]);
  if (counts)
    kernel.removeFnAttr("amdgpu-no-implicitarg-ptr");
  int threads = 64 * function.options.waves;
  kernel.addFnAttr("amdgpu-flat-work-group-size", fmt::format("{},{}", threads, threads));
  kernel.addFnAttr("uniform-work-group-size", "true");
  set_chip_attributes(kernel);
  kernel.addFnAttr("denormal-fp-math-f32", "ieee,ieee");
  kernel.addFnAttr(llvm::Attribute::NoUnwind);
  if (function.options.waves_per_eu > 0)
    kernel.addFnAttr("amdgpu-waves-per-eu", fmt::format("{}", function.options.waves_per_eu));
  llvm::Type *i32 = llvm::Type::getInt32Ty(kernel.getContext());
  auto number = [&](int n) { return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, n)); };
  kernel.setMetadata("reqd_work_group_size",
                     llvm::MDNode::get(kernel.getContext(), {number(threads), number(1), number(1)}));
}

static void set_argument_attributes(const ir::Argument &argument, const ir::Type &type,
                                    llvm::Argument &value) {
  if (!type.pointer)
    return;
  llvm::AttrBuilder attributes(value.getContext());
  attributes.addCapturesAttr(llvm::CaptureInfo::none());
  if (argument.read_only)
    attributes.addAttribute(llvm::Attribute::ReadOnly);
  // The verifier of LLVM refuses alignments above 2^32.
  uint64_t alignment =
      std::max<uint64_t>(ir::byte_size(type.element), argument.divisibility & -argument.divisibility);
  attributes.addAlignmentAttr(llvm::Align(std::min<uint64_t>(alignment, 4096)));
  value.addAttrs(attributes);
}

/// A prefix of the arguments arrives in scalar registers with the wave, as far as there are user registers
/// beside the address of the others: the first loads need not wait for arguments from memory.
static void preload_arguments(llvm::Function &kernel) {
  constexpr uint64_t free_registers = gfx950::user_registers - 2;
  const llvm::DataLayout &layout = kernel.getParent()->getDataLayout();
  uint64_t bytes = 0;
  for (llvm::Argument &argument : kernel.args()) {
    const uint64_t size = layout.getTypeAllocSize(argument.getType());
    bytes = llvm::alignTo(bytes, layout.getABITypeAlign(argument.getType())) + size;
    if (size < 4 || bytes > 4 * free_registers)
      return;
    argument.addAttr(llvm::Attribute::InReg);
  }
}

/// A truth value is a byte in memory.
static llvm::Type *argument_type(llvm::LLVMContext &context, const ir::Type &type) {
  llvm::Type *value = llvm_type(context, type);
  return value->isIntegerTy(1) ? llvm::Type::getInt8Ty(context) : value;
}

llvm::Function *make_kernel(const ir::Function &function, llvm::Module &module) {
  std::vector<llvm::Type *> types;
  for (const ir::Argument &argument : function.arguments)
    types.push_back(argument_type(module.getContext(), function.type(argument.value)));
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), types, false);
  auto *kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, function.name, module);
  kernel->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  kernel->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  for (size_t i = 0; i < types.size(); ++i) {
    // Names like "n" or "no" would turn into booleans in the YAML of the metadata.
    kernel->getArg(i)->setName(fmt::format("arg{}", i));
    set_argument_attributes(function.arguments[i], function.type(function.arguments[i].value),
                            *kernel->getArg(i));
  }
  preload_arguments(*kernel);
  set_launch_attributes(function, *kernel);
  return kernel;
}

} // namespace nereid::codegen
