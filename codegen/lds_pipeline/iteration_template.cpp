// The template of an LDS pipeline's iterations, and its clones.
#include "codegen/lds_pipeline/iteration_template.h"

#include <algorithm>

#include "codegen/lower/llvm_types.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

namespace {

/// A vector that is put together from all elements of another, in order, is the other.
llvm::Value *without_shuffling(llvm::Value *value) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!type)
    return value;
  llvm::Value *source = nullptr, *rest = value;
  for (unsigned i = type->getNumElements(); i-- > 0;) {
    auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(rest);
    auto *extract = insert ? llvm::dyn_cast<llvm::ExtractElementInst>(insert->getOperand(1)) : nullptr;
    auto is_at = [&](llvm::Value *position) {
      auto *constant = llvm::dyn_cast<llvm::ConstantInt>(position);
      return constant && constant->getZExtValue() == i;
    };
    if (!extract || !is_at(insert->getOperand(2)) || !is_at(extract->getIndexOperand()) ||
        (source && source != extract->getVectorOperand()))
      return value;
    source = extract->getVectorOperand();
    rest = insert->getOperand(0);
  }
  return source->getType() == type ? source : value;
}

} // namespace

IterationTemplate::IterationTemplate(Lowering &lowering, const LdsPipeline &pipeline, Masks masks)
    : lowering_(lowering), pipeline_(pipeline), block_(lowering.context.new_block("template")) {
  llvm::IRBuilderBase::InsertPointGuard guard(lowering_.context.builder);
  lowering_.context.builder.SetInsertPoint(block_);
  RegionCache::Scope region(lowering_.cache);
  if (masks == Masks::KnownTrue)
    for (const auto &[value, condition] : pipeline_.loop.conditions)
      lowering_.cache.add_splat(value, lowering_.context.builder.getTrue());
  lower_body();
  is_clonable_ = lowering_.context.builder.GetInsertBlock() == block_;
  find_varying();
}

IterationTemplate::~IterationTemplate() {
  for (llvm::Instruction &instruction : *block_)
    instruction.replaceAllUsesWith(llvm::PoisonValue::get(instruction.getType()));
  block_->eraseFromParent();
}

bool IterationTemplate::is_inside(llvm::Value *value) const {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction && instruction->getParent() == block_;
}

llvm::Value *IterationTemplate::placeholder(llvm::Type *type) {
  return lowering_.context.builder.CreateFreeze(llvm::PoisonValue::get(type));
}

/// Loads become placeholders, one for each register group; the operands of dots are noted.
void IterationTemplate::lower_body() {
  const ir::Block &body = pipeline_.loop.op->blocks.front();
  index_ = placeholder(lowering_.context.builder.getInt32Ty());
  lowering_.values.define_scalar(body.arguments[0], index_);
  for (const ir::Op &op : body.ops) {
    lowering_.context.set_line(op);
    if (op.opcode == ir::Opcode::Load)
      place_load(op);
    else if (op.opcode != ir::Opcode::Yield && !ir::is_dot(op.opcode) && !adds_dot(op))
      lowering_.ops.emit(op);
  }
  for (const ir::Op &op : body.ops)
    if (ir::is_dot(op.opcode)) {
      lowering_.context.set_line(op);
      place_dot(op);
    }
}

bool IterationTemplate::adds_dot(const ir::Op &op) const {
  return std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId operand) {
    const ir::Op *definition = lowering_.context.plan.index.definition(operand);
    return definition && ir::is_dot(definition->opcode);
  });
}

void IterationTemplate::place_load(const ir::Op &op) {
  const size_t number = pipeline_.number_of(op);
  const RegisterGroups &groups = pipeline_.loads[number].groups;
  const ir::Type &type = lowering_.context.type(op.result());
  const unsigned count = groups.access.elements();
  llvm::IRBuilder<> &builder = lowering_.context.builder;
  llvm::Type *element = llvm_type(builder.getContext(), type.element);
  llvm::Type *access = access_type(builder, std::max(4u, count * ir::byte_size(type.element)));
  const LinearLayout layout = assigned_layout(lowering_.context.plan, op.result());
  Registers registers(layout.registers());
  for (size_t g = 0; g < groups.first.size(); ++g) {
    llvm::Value *loaded = placeholder(access);
    groups_[loaded] = {number, g};
    const Registers elements = lowering_.packing.unpack(loaded, element, count);
    for (unsigned n = 0; n < count; ++n)
      registers[groups.member(static_cast<uint32_t>(g), n)] = elements[n];
  }
  lowering_.values.define(op.result(), layout, registers);
}

void IterationTemplate::place_dot(const ir::Op &op) {
  const DotPlan &plan = lowering_.context.plan.layouts.dots.at(&op);
  const DotSides sides = sides_of_dot(lowering_.context.function(), op);
  Dot dot{&op, &plan, lowering_.fragments.fragments(sides.a, plan.a, plan),
          lowering_.fragments.fragments(sides.b, plan.b, plan)};
  for (Fragments *side : {&dot.a, &dot.b})
    for (llvm::Value *&operand : side->operands)
      operand = without_shuffling(operand);
  dots_.push_back(std::move(dot));
}

void IterationTemplate::find_varying() {
  for (llvm::Instruction &instruction : *block_) {
    if (instruction.mayHaveSideEffects() || instruction.mayReadOrWriteMemory() ||
        llvm::isa<llvm::PHINode>(instruction))
      is_clonable_ = false;
    if (groups_.count(&instruction) || &instruction == index_ ||
        std::any_of(instruction.op_begin(), instruction.op_end(),
                    [&](const llvm::Use &use) { return varying_.count(use.get()) != 0; }))
      varying_.insert(&instruction);
  }
}

void IterationTemplate::append_groups(llvm::Value *value, std::vector<LoadGroup> &groups) const {
  LlvmValues open = {value};
  std::unordered_set<llvm::Value *> seen;
  while (!open.empty()) {
    llvm::Value *next = open.back();
    open.pop_back();
    if (!is_inside(next) || !seen.insert(next).second)
      continue;
    if (auto group = groups_.find(next); group != groups_.end()) {
      groups.push_back(group->second);
      continue;
    }
    const auto operands = llvm::cast<llvm::Instruction>(next)->operand_values();
    const auto first = static_cast<std::ptrdiff_t>(open.size());
    open.insert(open.end(), operands.begin(), operands.end());
    std::reverse(open.begin() + first, open.end());
  }
}

void IterationTemplate::append_groups(const MmaStep &step, std::vector<LoadGroup> &groups) const {
  const Dot &dot = dots_[step.dot];
  const size_t a = step.m * dot.plan->k_instructions + step.k;
  const size_t b = step.n * dot.plan->k_instructions + step.k;
  append_groups(dot.a.operands[a], groups);
  append_groups(dot.b.operands[b], groups);
  if (!dot.a.scales.empty()) {
    append_groups(dot.a.scales[a].dword, groups);
    append_groups(dot.b.scales[b].dword, groups);
  }
}

void IterationTemplate::clone_invariants() {
  for (llvm::Instruction &instruction : *block_) {
    if (varying_.count(&instruction) != 0)
      continue;
    llvm::Instruction *copy = instruction.clone();
    for (llvm::Use &operand : copy->operands())
      if (auto known = invariants_.find(operand.get()); known != invariants_.end())
        operand.set(known->second);
    lowering_.context.builder.Insert(copy);
    invariants_[&instruction] = copy;
  }
}

IterationTemplate::Stage IterationTemplate::new_stage() const {
  Stage stage;
  for (const PipelinedLoad &load : pipeline_.loads)
    stage.loaded.emplace_back(load.groups.first.size(), nullptr);
  for (const Dot &dot : dots_)
    stage.fragments.emplace_back(dot.a, dot.b);
  return stage;
}

llvm::Value *IterationTemplate::known_clone(llvm::Value *value, const Stage &stage) const {
  if (!is_inside(value))
    return value;
  if (value == index_)
    return stage.index;
  if (auto group = groups_.find(value); group != groups_.end())
    return stage.loaded[group->second.load][group->second.group];
  if (auto known = invariants_.find(value); known != invariants_.end())
    return known->second;
  auto known = stage.clones.find(value);
  return known == stage.clones.end() ? nullptr : known->second;
}

/// Operands before what uses them, in the order of operands.
llvm::Value *IterationTemplate::clone(llvm::Value *value, Stage &stage) {
  LlvmValues open = {value};
  while (!open.empty()) {
    if (known_clone(open.back(), stage)) {
      open.pop_back();
      continue;
    }
    auto *instruction = llvm::cast<llvm::Instruction>(open.back());
    const auto missing = std::find_if(instruction->op_begin(), instruction->op_end(),
                                      [&](llvm::Use &use) { return !known_clone(use.get(), stage); });
    if (missing != instruction->op_end()) {
      open.push_back(missing->get());
      continue;
    }
    llvm::Instruction *copy = instruction->clone();
    for (llvm::Use &operand : copy->operands())
      operand.set(known_clone(operand.get(), stage));
    lowering_.context.builder.Insert(copy);
    stage.clones[instruction] = copy;
  }
  return known_clone(value, stage);
}

llvm::Value *IterationTemplate::multiply(const MmaStep &step, Stage &stage, llvm::Value *accumulator) {
  const Dot &dot = dots_[step.dot];
  lowering_.context.set_line(*dot.op);
  const auto fill = [&](Fragments &side, const Fragments &source, unsigned tile) {
    const size_t at = tile * dot.plan->k_instructions + step.k;
    side.operands[at] = clone(source.operands[at], stage);
    if (!source.scales.empty())
      side.scales[at].dword = clone(source.scales[at].dword, stage);
  };
  auto &[a, b] = stage.fragments[step.dot];
  fill(a, dot.a, step.m);
  fill(b, dot.b, step.n);
  return mfma(lowering_.context.builder, *dot.plan, b, a, step.n, step.m, step.k, accumulator);
}

} // namespace nereid::codegen
