#include "codegen/lower/lower.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/assign/operand_layout.h"
#include "codegen/layout/layout_error.h"
#include "codegen/lower/lowering.h"
#include "codegen/lower/target_attributes.h"

namespace nereid::codegen {

llvm::Type *llvm_type(llvm::LLVMContext &context, ir::Element element) {
  switch (element) {
  case ir::Element::F16:
    return llvm::Type::getHalfTy(context);
  case ir::Element::BF16:
    return llvm::Type::getBFloatTy(context);
  case ir::Element::F32:
    return llvm::Type::getFloatTy(context);
  default:
    return llvm::Type::getIntNTy(context, ir::facts(element).bits);
  }
}

llvm::Type *llvm_type(llvm::LLVMContext &context, const ir::Type &type) {
  constexpr unsigned global_address_space = 1;
  return type.pointer ? llvm::PointerType::get(context, global_address_space)
                      : llvm_type(context, type.element);
}

Lowering::Lowering(const KernelPlan &plan, llvm::Module &module)
    : index_(plan.index), function_(plan.function()), axes_(plan.axes), layouts_(plan.layouts),
      ranges_(plan.ranges), module_(module), context_(module.getContext()), builder_(context_),
      debug_(module), scalar_layout_(scalar_layout(function_.options.waves)) {}

void Lowering::fail(Error error) {
  if (!error_)
    error_ = std::move(error);
}

void Lowering::fail(const ir::Op &op, std::string message, std::string remedy) {
  fail(nereid_error(std::move(message), std::move(remedy), function_.place(op)));
}

void Lowering::set_line(const ir::Op &op) {
  current_ = &op;
  builder_.SetCurrentDebugLocation(llvm::DILocation::get(context_, index_.line(op), 1, subprogram_));
}

Status Lowering::run() {
  kernel_ = make_kernel(function_, module_);
  if (!layouts_.dots.empty() && dots_fit_vgprs())
    kernel_->addFnAttr("amdgpu-agpr-alloc", "0");
  else if (!layouts_.wave_split.empty() && function_.options.wave_split == ir::WaveSplit::Auto)
    return nereid_error("a wave has no room for the sums of whole tiles", "use wave_split=n");
  llvm::DIFile *file = debug_.createFile(function_.name + ".tir", ".");
  debug_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C_plus_plus_20), file, "nereid",
                           true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  subprogram_ = debug_.createFunction(file, function_.name, function_.name, file, 1,
                                      debug_.createSubroutineType(debug_.getOrCreateTypeArray({})), 1,
                                      llvm::DINode::FlagPrototyped, llvm::DISubprogram::SPFlagDefinition);
  kernel_->setSubprogram(subprogram_);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", kernel_));
  builder_.SetCurrentDebugLocation(llvm::DILocation::get(context_, 1, 1, subprogram_));

  llvm::Value *thread = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_workitem_id_x, {});
  if (function_.options.waves == 1) {
    lane_ = thread;
    wave_ = builder_.getInt32(0);
  } else {
    lane_ = builder_.CreateAnd(thread, 63);
    wave_ = uniform(builder_.CreateLShr(thread, 6));
  }
  open_scope();
  for (size_t i = 0; i < function_.arguments.size(); ++i) {
    const ir::Argument &argument = function_.arguments[i];
    llvm::Value *value = kernel_->getArg(i);
    if (argument.constant)
      value = llvm::ConstantInt::getSigned(value->getType(), *argument.constant);
    define_scalar(argument.value, value);
  }
  lower_block(function_.body);
  if (error_)
    return *error_;
  builder_.CreateRetVoid();
  if (const unsigned bytes = lds_bytes_ + shared_bytes_; bytes > lds_limit)
    return user_error(fmt::format("the kernel needs {} bytes of LDS, a workgroup has {}", bytes, lds_limit),
                      "use smaller tiles or fewer waves");
  if (lds_) {
    auto *type = llvm::ArrayType::get(builder_.getInt8Ty(), lds_bytes_);
    auto *sized = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::InternalLinkage,
                                           llvm::PoisonValue::get(type), function_.name + ".lds", nullptr,
                                           llvm::GlobalValue::NotThreadLocal, 3);
    sized->setAlignment(llvm::Align(16));
    lds_->replaceAllUsesWith(sized);
    lds_->eraseFromParent();
  }
  debug_.finalize();
  return {};
}

void Lowering::open_scope() {
  made_.emplace_back();
  offsets_made_.emplace_back();
}

void Lowering::close_scope() {
  made_.pop_back();
  offsets_made_.pop_back();
}

void Lowering::lower_block(const ir::Block &block) {
  for (const ir::Op &op : block.ops)
    if (!error_ && op.opcode != ir::Opcode::Yield)
      lower_op(op);
}

void Lowering::lower_op(const ir::Op &op) {
  set_line(op);
  switch (op.opcode) {
  case ir::Opcode::Load:
    if (auto issued = issued_.find(&op); issued != issued_.end())
      return finish_load(op, issued->second);
    return lower_load(op);
  case ir::Opcode::Store:
    return lower_store(op);
  case ir::Opcode::AtomicAdd:
  case ir::Opcode::AtomicMax:
  case ir::Opcode::AtomicExchange:
  case ir::Opcode::AtomicCompareExchange:
    return lower_atomic(op);
  case ir::Opcode::Dot:
  case ir::Opcode::DotScaled:
    return is_folded_dot(op) ? void() : lower_dot(op, op.result(), std::nullopt);
  case ir::Opcode::Quantize:
    return lower_quantize(op);
  case ir::Opcode::CumSum:
    return lower_cumsum(op);
  case ir::Opcode::For:
    return lower_for(op);
  case ir::Opcode::If:
    return lower_if(op);
  case ir::Opcode::Assume:
  case ir::Opcode::DeviceAssert:
  case ir::Opcode::DevicePrint:
    return lower_statement(op);
  default:
    break;
  }
  if (ir::facts(op.opcode).op_class == ir::OpClass::Reduce)
    return lower_reduce(op);
  if (op.opcode == ir::Opcode::Add)
    for (ir::ValueId operand : op.operands)
      if (const ir::Op *dot = index_.definition(operand); dot && is_folded_dot(*dot))
        return lower_dot(*dot, op.result(), op.operands[operand == op.operands[0] ? 1 : 0]);
  for (unsigned i = 0; i < op.results.size(); ++i) {
    ir::ValueId result = op.results[i];
    if (type(result).rank() == 0)
      define_scalar(result, compute(op, i, scalars())[0]);
    else if (layouts_.assigned[result])
      define(result, layouts_.layout(result), compute(op, i, layouts_.layout(result)));
  }
}

void Lowering::define(ir::ValueId value, LinearLayout layout, Registers registers) {
  homes_[value] = {std::move(layout), std::move(registers)};
}

void Lowering::define_scalar(ir::ValueId value, llvm::Value *scalar) {
  homes_[value] = {scalars(), {scalar}};
}

llvm::Value *Lowering::scalar(ir::ValueId value) { return homes_.at(value).registers[0]; }

LinearLayout Lowering::natural_layout(ir::ValueId value) const {
  if (type(value).rank() == 0)
    return scalars();
  if (layouts_.assigned[value])
    return layouts_.layout(value);
  return default_layout(type(value).shape, function_.options.waves);
}

LinearLayout Lowering::operand_home(ir::ValueId value) const {
  if (auto home = homes_.find(value); home != homes_.end())
    return home->second.layout.without_register_broadcast();
  if (is_view(index_, value) && !index_.is_rematerialisable(value)) {
    const ir::Op &op = *index_.definition(value);
    LinearLayout operand = operand_home(op.operands[0]);
    if (auto layout = result_layout(function_, op, operand); layout && layout->is_surjective())
      return layout->without_register_broadcast();
  }
  return default_layout(type(value).shape, function_.options.waves);
}

Registers Lowering::get(ir::ValueId value, const LinearLayout &layout) {
  if (type(value).rank() == 0)
    return Registers(layout.registers(), scalar(value));
  for (auto scope = made_.rbegin(); scope != made_.rend(); ++scope)
    if (auto found = scope->find(value); found != scope->end())
      for (const Tile &tile : found->second)
        if (tile.layout == layout)
          return tile.registers;
  Registers registers = make(value, layout);
  made_.back()[value].push_back({layout, registers});
  return registers;
}

/// Copies among a lane's registers are made once; cheap values and renamings are computed where they are
/// wanted, with the line of the operation that they are.
Registers Lowering::make(ir::ValueId value, const LinearLayout &layout) {
  if (known_true_.count(value))
    return Registers(layout.registers(), builder_.getTrue());
  if (layout.has_register_broadcast()) {
    LinearLayout once = layout.without_register_broadcast();
    Registers few = get(value, once);
    Registers all;
    for (uint32_t source : spread(layout, once))
      all.push_back(few[source]);
    return all;
  }
  if (auto home = homes_.find(value); home != homes_.end())
    return home->second.layout == layout ? home->second.registers
                                         : convert(home->second.registers, home->second.layout, layout);
  const ir::Op &op = *index_.definition(value);
  const ir::Op *wanting = current_;
  set_line(op);
  unsigned result = op.results[0] == value ? 0 : 1;
  Registers registers = compute(op, result, layout);
  if (wanting)
    set_line(*wanting);
  return registers;
}

Registers Lowering::compute(const ir::Op &op, unsigned result, const LinearLayout &layout) {
  switch (op.opcode) {
  case ir::Opcode::ProgramId: {
    static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::amdgcn_workgroup_id_x,
                                                  llvm::Intrinsic::amdgcn_workgroup_id_y,
                                                  llvm::Intrinsic::amdgcn_workgroup_id_z};
    return {builder_.CreateIntrinsic(ids[op.integer("axis")], {})};
  }
  case ir::Opcode::NumPrograms: {
    // Block counts are the first three words of the implicit arguments (code object version 5 and later).
    llvm::Value *implicit = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_implicitarg_ptr, {});
    llvm::Value *address = builder_.CreateConstGEP1_32(builder_.getInt32Ty(), implicit, op.integer("axis"));
    llvm::LoadInst *count = builder_.CreateAlignedLoad(builder_.getInt32Ty(), address, llvm::Align(4));
    count->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return {count};
  }
  case ir::Opcode::Arange:
    return compute_arange(op, layout);
  case ir::Opcode::Constant: {
    const ir::Type &t = type(op.result());
    llvm::APInt bits(ir::facts(t.element).bits, static_cast<uint64_t>(op.integer("bits")), false, true);
    llvm::Value *constant = from_bits(llvm::ConstantInt::get(context_, bits), llvm_type(context_, t.element));
    return Registers(layout.registers(), constant);
  }
  default:
    break;
  }
  if (ir::facts(op.opcode).op_class == ir::OpClass::Shape)
    return compute_shape(op, result, layout);
  std::vector<Registers> operands;
  operands.reserve(op.operands.size());
  for (ir::ValueId operand : op.operands)
    operands.push_back(get(operand, layout));
  Registers registers;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    Registers elements;
    for (const Registers &operand : operands)
      elements.push_back(operand[r]);
    registers.push_back(elementwise(op, elements));
  }
  return registers;
}

Result<std::unique_ptr<llvm::Module>> emit(const KernelPlan &plan, llvm::LLVMContext &context) {
  const std::string &name = plan.function().name;
  auto module = std::make_unique<llvm::Module>(name, context);
  set_target(*module);
  Lowering lowering(plan, *module);
  try {
    NEREID_CHECK(lowering.run());
  } catch (const LayoutError &error) {
    return error.error(lowering.place());
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*module, &stream))
    return nereid_error("the lowered kernel " + name + " is not valid LLVM IR: " + text,
                        "this is a defect of Nereid; please report it with the kernel");
  return module;
}

/// Loops that are split over the waves by iterations may turn out to need all waves in an iteration; then
/// they run as others do.
Result<std::unique_ptr<llvm::Module>> lower(const ir::Function &function, llvm::LLVMContext &context) {
  const bool asked = function.options.wave_split == ir::WaveSplit::K;
  Result<std::unique_ptr<const KernelPlan>> plan = plan_kernel(function, SplitLoops::Allowed);
  if (plan) {
    Result<std::unique_ptr<llvm::Module>> module = emit(**plan, context);
    if (module || (*plan)->layouts.wave_split.empty() || asked)
      return module;
  } else if (asked) {
    return plan.error();
  }
  NEREID_TRY(const auto unsplit, plan_kernel(function, SplitLoops::Never));
  return emit(*unsplit, context);
}

} // namespace nereid::codegen
