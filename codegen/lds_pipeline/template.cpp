#include <algorithm>
#include <numeric>

#include "codegen/lds_pipeline/emitter.h"

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

unsigned dwords_of(const llvm::Type *type) { return type->getPrimitiveSizeInBits().getFixedValue() / 32; }

} // namespace

/// Loads become placeholders, one for each register group; products are noted.
bool LdsPipelineEmitter::build_template(Template &made, Masks masks) {
  llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  made.block = lowering_.new_block("template");
  builder_.SetInsertPoint(made.block);
  if (masks == Masks::KnownTrue)
    for (const auto &[value, condition] : loop_.conditions)
      lowering_.known_true_.insert(value);
  auto placeholder = [&](llvm::Type *type) { return builder_.CreateFreeze(llvm::PoisonValue::get(type)); };
  lowering_.open_scope();
  made.index = placeholder(i32_);
  lowering_.define_scalar(body_.arguments[0], made.index);
  std::vector<const ir::Op *> dots;
  for (const ir::Op &op : body_.ops) {
    lowering_.set_line(op);
    if (op.opcode == ir::Opcode::Load) {
      size_t number = loop_.number_of(op);
      const RegisterGroups &groups = loads_[number].groups;
      unsigned count = groups.access.elements();
      llvm::Type *element = llvm_type(lowering_.context_, lowering_.type(op.result()).element);
      unsigned dwords = count * ir::byte_size(lowering_.type(op.result()).element) / 4;
      llvm::Type *access = dwords == 1 ? i32_ : llvm::FixedVectorType::get(i32_, dwords);
      Registers registers(lowering_.natural_layout(op.result()).registers());
      for (size_t g = 0; g < groups.first.size(); ++g) {
        llvm::Value *loaded = placeholder(access);
        made.units[loaded] = {number, g};
        Registers elements = lowering_.unpack(loaded, element, count);
        for (unsigned n = 0; n < count; ++n)
          registers[groups.member(static_cast<uint32_t>(g), n)] = elements[n];
      }
      lowering_.define(op.result(), lowering_.natural_layout(op.result()), registers);
    } else if (is_dot(op)) {
      dots.push_back(&op);
    } else if (op.opcode != ir::Opcode::Yield) {
      bool accumulators = std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId operand) {
        const ir::Op *made_by = lowering_.index_.definition(operand);
        return made_by && is_dot(*made_by);
      });
      if (!accumulators)
        lowering_.lower_op(op);
    }
  }
  for (const ir::Op *op : dots) {
    lowering_.set_line(*op);
    const DotPlan &plan = lowering_.layouts_.dots.at(op);
    const DotSides sides = sides_of_dot(lowering_.function_, *op);
    Product product{op, &plan, lowering_.fragments(sides.a, plan.a, plan),
                    lowering_.fragments(sides.b, plan.b, plan)};
    for (Lowering::Fragments *side : {&product.a, &product.b})
      for (llvm::Value *&operand : side->operands)
        operand = without_shuffling(operand);
    made.dots.push_back(std::move(product));
  }
  lowering_.close_scope();
  lowering_.known_true_.clear();
  return is_clonable(made);
}

/// One straight block without effects; for the others the loop stays as it is.
bool LdsPipelineEmitter::is_clonable(Template &made) {
  if (builder_.GetInsertBlock() != made.block)
    return false;
  for (llvm::Instruction &instruction : *made.block) {
    if (instruction.mayHaveSideEffects() || instruction.mayReadOrWriteMemory() ||
        llvm::isa<llvm::PHINode>(instruction))
      return false;
    bool varies = made.units.count(&instruction) || &instruction == made.index ||
                  std::any_of(instruction.op_begin(), instruction.op_end(), [&](const llvm::Use &use) {
                    auto found = made.varies.find(use.get());
                    return found != made.varies.end() && found->second;
                  });
    made.varies[&instruction] = varies;
  }
  return true;
}

/// Nothing may remember instructions of the template: their addresses will be reused.
void LdsPipelineEmitter::erase(Template &made) {
  auto is_inside = [&](llvm::Value *value) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    return instruction && instruction->getParent() == made.block;
  };
  std::erase_if(lowering_.pieces_,
                [&](const auto &piece) { return is_inside(piece.first) || is_inside(piece.second.dword); });
  for (llvm::Instruction &instruction : *made.block)
    instruction.replaceAllUsesWith(llvm::PoisonValue::get(instruction.getType()));
  made.block->eraseFromParent();
  made = {};
}

/// K outermost, then pairs of column tiles, pairs of row tiles: an operand is used again at once.
void LdsPipelineEmitter::list_work() {
  chunks_.clear();
  size_t number = 0;
  for (size_t sum = 0; sum < loop_.accumulators.size(); ++sum)
    for (const ir::Op *op : loop_.accumulators[sum].dots) {
      auto found = std::find_if(template_.dots.begin(), template_.dots.end(),
                                [&](const Product &product) { return product.op == op; });
      number = static_cast<size_t>(found - template_.dots.begin());
      const DotPlan &plan = *found->plan;
      unsigned rows = plan.a.row_tiles() / schedule_.chunks, bases = plan.b.row_tiles();
      for (unsigned chunk = 0; chunk < schedule_.chunks; ++chunk) {
        std::vector<MmaStep> &work = chunks_.emplace_back();
        unsigned begin = chunk * rows, end = begin + rows;
        for (unsigned k = 0; k < plan.k_instructions; ++k)
          for (unsigned n2 = 0; n2 < bases; n2 += 2)
            for (unsigned m2 = begin; m2 < end; m2 += 2)
              for (unsigned n = n2; n < std::min(n2 + 2, bases); ++n)
                for (unsigned m = m2; m < std::min(m2 + 2, end); ++m)
                  work.push_back({number, sum, m, n, k});
      }
    }
  std::vector<std::vector<bool>> seen;
  for (const LoadState &load : loads_)
    seen.emplace_back(load.groups.first.size(), false);
  chunk_reads_.assign(chunks_.size(), {});
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk)
    for (const MmaStep &work : chunks_[chunk]) {
      const Product &product = template_.dots[work.product];
      size_t a = work.m * product.plan->k_instructions + work.k;
      size_t b = work.n * product.plan->k_instructions + work.k;
      std::vector<LoadGroup> units;
      collect_units(template_, product.a.operands[a], units);
      collect_units(template_, product.b.operands[b], units);
      if (!product.a.scales.empty()) {
        collect_units(template_, product.a.scales[a].dword, units);
        collect_units(template_, product.b.scales[b].dword, units);
      }
      for (LoadGroup unit : units)
        if (loop_.loads[unit.load].through_lds && !seen[unit.load][unit.group]) {
          seen[unit.load][unit.group] = true;
          chunk_reads_[chunk].push_back(unit);
        }
    }
}

void LdsPipelineEmitter::collect_units(const Template &from, llvm::Value *value,
                                       std::vector<LoadGroup> &units) const {
  if (auto unit = from.units.find(value); unit != from.units.end()) {
    units.push_back(unit->second);
    return;
  }
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction && instruction->getParent() == from.block)
    for (llvm::Value *operand : instruction->operand_values())
      collect_units(from, operand, units);
}

void LdsPipelineEmitter::make_invariants(const Template &made) {
  for (llvm::Instruction &instruction : *made.block) {
    if (made.varies.at(&instruction))
      continue;
    llvm::Instruction *copy = instruction.clone();
    for (llvm::Use &operand : copy->operands())
      if (auto known = invariants_.find(operand.get()); known != invariants_.end())
        operand.set(known->second);
    builder_.Insert(copy);
    invariants_[&instruction] = copy;
  }
}

llvm::Value *LdsPipelineEmitter::clone(const Template &from, llvm::Value *value, Stage &stage) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || instruction->getParent() != from.block)
    return value;
  if (value == from.index)
    return stage.index;
  if (auto unit = from.units.find(value); unit != from.units.end())
    return stage.loaded[unit->second.load][unit->second.group];
  if (auto known = invariants_.find(value); known != invariants_.end())
    return known->second;
  if (auto known = stage.made.find(value); known != stage.made.end())
    return known->second;
  llvm::Instruction *copy = instruction->clone();
  for (llvm::Use &operand : copy->operands())
    operand.set(clone(from, operand.get(), stage));
  builder_.Insert(copy);
  return stage.made[value] = copy;
}

LdsPipelineEmitter::Stage LdsPipelineEmitter::new_stage(const Template &from) const {
  Stage stage;
  for (const LoadState &load : loads_)
    stage.loaded.emplace_back(load.groups.first.size(), nullptr);
  for (const Product &product : from.dots)
    stage.fragments.emplace_back(product.a, product.b);
  return stage;
}

void LdsPipelineEmitter::multiply(const Template &from, const MmaStep &work, Stage &stage) {
  const Product &product = from.dots[work.product];
  lowering_.set_line(*product.op);
  auto &[a, b] = stage.fragments[work.product];
  auto fill = [&](Lowering::Fragments &side, const Lowering::Fragments &source, unsigned tile) {
    size_t at = tile * product.plan->k_instructions + work.k;
    side.operands[at] = clone(from, source.operands[at], stage);
    if (!source.scales.empty())
      side.scales[at].dword = clone(from, source.scales[at].dword, stage);
  };
  fill(a, product.a, work.m);
  fill(b, product.b, work.n);
  llvm::Value *&sum = accumulators_[work.sum][product.plan->tile(work.m, work.n)];
  sum = lowering_.mfma(*product.plan, b, a, work.n, work.m, work.k, sum);
}

LdsPipelineDemand LdsPipelineEmitter::demand() const {
  LdsPipelineDemand result;
  for (const auto &[placeholder, unit] : template_.units)
    (loop_.loads[unit.load].through_lds ? result.staged : result.direct) += dwords_of(placeholder->getType());
  for (const Product &product : template_.dots) {
    unsigned rows = product.plan->a.row_tiles(), bases = product.plan->b.row_tiles();
    result.instructions += rows * bases * product.plan->k_instructions;
    result.row_tiles = std::gcd(result.row_tiles, rows);
  }
  for (const PipelineAccumulator &sum : loop_.accumulators)
    result.accumulators += lowering_.layouts_.dots.at(sum.dots.front()).result.registers();
  for (size_t i = 0; i < loads_.size(); ++i) {
    auto groups = static_cast<unsigned>(loads_[i].groups.first.size());
    if (loop_.loads[i].through_lds) {
      constexpr unsigned read_bases = 2;
      auto copies = static_cast<unsigned>(loads_[i].copies.first.size());
      result.copies += copies;
      result.addresses += copies + read_bases;
      result.lds_bytes += loads_[i].image_bytes;
    } else {
      result.loads += groups;
      result.addresses += groups;
    }
  }
  return result;
}

} // namespace nereid::codegen
