#include <algorithm>
#include <map>

#include <llvm/IR/InlineAsm.h>

#include "codegen/assign/register_groups.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

llvm::Align Lowering::access_alignment(ir::ValueId pointer, unsigned elements) const {
  const AxisInfo &info = axes_[pointer];
  unsigned bytes = ir::byte_size(context_.type(pointer).element);
  int64_t best = bytes;
  for (unsigned d = 0; d < info.contiguity.size(); ++d)
    if (info.contiguity[d] >= elements)
      best = std::max(best, info.divisibility_at(d, elements, bytes));
  return llvm::Align(std::min<int64_t>(best, 16));
}

Registers Lowering::guarded(llvm::Value *condition, const Registers &otherwise,
                            const std::function<Registers()> &body) {
  if (!condition || llvm::isa<llvm::ConstantInt>(condition)) {
    if (condition && llvm::cast<llvm::ConstantInt>(condition)->isZero())
      return otherwise;
    return body();
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *then = context_.new_block("active");
  llvm::BasicBlock *after = context_.new_block("after");
  builder_.CreateCondBr(condition, then, after);
  builder_.SetInsertPoint(then);
  Registers made = body();
  llvm::BasicBlock *end = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  Registers merged;
  for (size_t i = 0; i < made.size(); ++i) {
    llvm::PHINode *phi = builder_.CreatePHI(made[i]->getType(), 2);
    phi->addIncoming(made[i], end);
    phi->addIncoming(otherwise[i], before);
    merged.push_back(phi);
  }
  return merged;
}

static bool is_streamed(const ir::Op &op) { return op.has("cache") && op.string("cache") == "stream"; }

llvm::Value *Lowering::load_vector(const ir::Op &op, llvm::Value *pointer, unsigned count,
                                   llvm::Align align) {
  llvm::LoadInst *load = builder_.CreateAlignedLoad(
      access_type(builder_, count * ir::byte_size(context_.type(op.result()).element)), pointer, align);
  if (is_streamed(op))
    load->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(builder_.getContext(), llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  return load;
}

/// The accesses of one load or store.
struct Lowering::Accesses {
  LinearLayout layout;
  RegisterGroups groups;
  unsigned count; ///< elements of one
  llvm::Align align;
};

Lowering::Accesses Lowering::accesses_of(ir::ValueId pointer, std::optional<ir::ValueId> mask,
                                         const LinearLayout &layout) const {
  const unsigned bytes = ir::byte_size(context_.type(pointer).element);
  RegisterGroups groups =
      group_registers(layout, vector_access(layout, axes_[pointer], mask ? &axes_[*mask] : nullptr, bytes));
  const unsigned count = groups.access.elements();
  return {layout, std::move(groups), count, access_alignment(pointer, count)};
}

static std::optional<ir::ValueId> operand(const ir::Op &op, size_t position) {
  return op.operands.size() > position ? std::optional(op.operands[position]) : std::nullopt;
}

/// What a masked access of a load gives, by access; null where that is zero.
Registers Lowering::fills(const ir::Op &op, const Accesses &accesses) {
  const ir::Element element = context_.type(op.result()).element;
  const unsigned bits = 8 * ir::byte_size(element);
  Registers others = op.operands.size() > 2 ? values_.get(op.operands[2], accesses.layout) : Registers();
  Registers result;
  for (uint32_t group = 0; group < accesses.groups.first.size(); ++group) {
    Registers elements;
    bool zero = true;
    for (unsigned n = 0; n < accesses.count && !others.empty(); ++n) {
      llvm::Value *other = others[accesses.groups.member(group, n)];
      auto *constant = llvm::dyn_cast<llvm::Constant>(other);
      zero = zero && constant && constant->isNullValue();
      elements.push_back(element == ir::Element::I1 ? builder_.CreateZExt(other, builder_.getInt8Ty())
                                                    : other);
    }
    if (zero) {
      result.push_back(nullptr);
      continue;
    }
    llvm::Value *vector = dwords_to_vector(builder_, packing_.pack(elements, bits));
    result.push_back(bits * accesses.count < 32
                         ? builder_.CreateTrunc(vector, builder_.getIntNTy(bits * accesses.count))
                         : vector);
  }
  return result;
}

void Lowering::lower_load(const ir::Op &op) {
  order_.before(op);
  if (std::optional<Registers> vectors = issue_load(op, {}))
    finish_load(op, std::move(*vectors));
  else
    define_loaded(op, load_in_branches(op));
}

std::optional<Registers> Lowering::issue_load(const ir::Op &op, const Prefetch &prefetch) {
  const ir::ValueId pointer = op.operands[0];
  const std::optional<ir::ValueId> mask = operand(op, 1);
  const Accesses accesses = accesses_of(pointer, mask, assigned_layout(context_.plan, op.result()));
  const Registers masks = mask ? values_.get(*mask, accesses.groups.leaders) : Registers();
  Registers vectors;
  if (auto buffers =
          buffer_accesses(builder_, addresses_.addresses(pointer, accesses.groups.leaders, prefetch.plan),
                          masks, prefetch.in_bounds)) {
    llvm::Type *access =
        access_type(builder_, accesses.count * ir::byte_size(context_.type(op.result()).element));
    for (const BufferAccess &buffer : *buffers)
      vectors.push_back(buffer_load(builder_, buffer, access, is_streamed(op)));
    return vectors;
  }
  if (mask)
    return std::nullopt;
  for (llvm::Value *address : addresses_.pointers(pointer, accesses.groups.leaders, prefetch.plan))
    vectors.push_back(load_vector(op, address, accesses.count, accesses.align));
  return vectors;
}

/// Masked threads get what they are to have.
void Lowering::finish_load(const ir::Op &op, Registers vectors) {
  if (op.operands.size() > 2) {
    const Accesses accesses =
        accesses_of(op.operands[0], op.operands[1], assigned_layout(context_.plan, op.result()));
    const Registers masks = values_.get(op.operands[1], accesses.groups.leaders);
    const Registers others = fills(op, accesses);
    for (size_t group = 0; group < vectors.size(); ++group)
      if (others[group])
        vectors[group] = builder_.CreateSelect(masks[group], vectors[group], others[group]);
  }
  define_loaded(op, vectors);
}

/// Accesses under one mask share a branch.
Registers Lowering::load_in_branches(const ir::Op &op) {
  const Accesses accesses =
      accesses_of(op.operands[0], op.operands[1], assigned_layout(context_.plan, op.result()));
  const Registers pointers = addresses_.pointers(op.operands[0], accesses.groups.leaders);
  const Registers masks = values_.get(op.operands[1], accesses.groups.leaders);
  Registers otherwise = fills(op, accesses);
  for (llvm::Value *&vector : otherwise)
    if (!vector)
      vector = llvm::Constant::getNullValue(
          access_type(builder_, accesses.count * ir::byte_size(context_.type(op.result()).element)));
  Registers vectors;
  for (size_t group = 0; group < masks.size();) {
    size_t end = group + 1;
    while (end < masks.size() && masks[end] == masks[group])
      ++end;
    Registers loaded =
        guarded(masks[group], Registers(otherwise.begin() + group, otherwise.begin() + end), [&] {
          Registers made;
          for (size_t g = group; g < end; ++g)
            made.push_back(load_vector(op, pointers[g], accesses.count, accesses.align));
          return made;
        });
    vectors.insert(vectors.end(), loaded.begin(), loaded.end());
    group = end;
  }
  return vectors;
}

void Lowering::define_loaded(const ir::Op &op, const Registers &vectors) {
  const ir::Element element = context_.type(op.result()).element;
  const bool is_bool = element == ir::Element::I1;
  const Accesses accesses =
      accesses_of(op.operands[0], operand(op, 1), assigned_layout(context_.plan, op.result()));
  Registers registers(accesses.layout.registers());
  for (uint32_t group = 0; group < vectors.size(); ++group) {
    Registers elements = packing_.unpack(
        vectors[group], is_bool ? builder_.getInt8Ty() : llvm_type(builder_.getContext(), element),
        accesses.count);
    for (unsigned n = 0; n < accesses.count; ++n)
      registers[accesses.groups.member(group, n)] =
          is_bool ? builder_.CreateICmpNE(elements[n], builder_.getInt8(0)) : elements[n];
  }
  values_.define(op.result(), accesses.layout, registers);
}

/// Keeps the computation of a value where it stands. LLVM moves matrix instructions into the block that uses
/// their result, although they read the operands of lanes that are switched off there.
llvm::Value *Lowering::anchored(llvm::Value *vector) {
  auto *signature = llvm::FunctionType::get(vector->getType(), {vector->getType()}, false);
  return builder_.CreateCall(signature, llvm::InlineAsm::get(signature, "", "=v,0", true), {vector});
}

/// The owner of each element stores it; others, and masked threads, store out of range, or not at all.
void Lowering::lower_store(const ir::Op &op) {
  order_.before(op);
  const ir::Element element = context_.type(op.operands[0]).element;
  const unsigned bits = 8 * ir::byte_size(element);
  const std::optional<ir::ValueId> mask = operand(op, 2);
  const Accesses accesses = accesses_of(op.operands[0], mask, layouts_.writes.at(&op));
  const RegisterGroups &groups = accesses.groups;
  const Registers values = values_.get(op.operands[1], accesses.layout);
  Registers masks = mask ? values_.get(*mask, groups.leaders) : Registers();
  if (llvm::Value *owner = owner_condition(context_, accesses.layout)) {
    masks.resize(groups.first.size(), builder_.getTrue());
    std::map<llvm::Value *, llvm::Value *> both;
    for (llvm::Value *&condition : masks) {
      llvm::Value *&made = both[condition];
      if (!made)
        made = builder_.CreateAnd(owner, condition);
      condition = made;
    }
  }
  auto vector_of = [&](uint32_t group, bool anchor) {
    Registers elements;
    for (unsigned n = 0; n < accesses.count; ++n) {
      llvm::Value *value = values[groups.member(group, n)];
      elements.push_back(element == ir::Element::I1 ? builder_.CreateZExt(value, builder_.getInt8Ty())
                                                    : value);
    }
    llvm::Value *vector = dwords_to_vector(builder_, packing_.pack(elements, bits));
    if (anchor)
      vector = anchored(vector);
    return accesses.count * bits < 32
               ? builder_.CreateTrunc(vector, builder_.getIntNTy(bits * accesses.count))
               : vector;
  };
  if (auto buffers =
          buffer_accesses(builder_, addresses_.addresses(op.operands[0], groups.leaders), masks, nullptr)) {
    for (uint32_t group = 0; group < groups.first.size(); ++group)
      buffer_store(builder_, (*buffers)[group], vector_of(group, false));
    return;
  }
  const Registers pointers = addresses_.pointers(op.operands[0], groups.leaders);
  for (uint32_t group = 0; group < groups.first.size();) {
    uint32_t end = group + 1;
    while (end < groups.first.size() && (masks.empty() || masks[end] == masks[group]))
      ++end;
    Registers vectors;
    for (uint32_t g = group; g < end; ++g)
      vectors.push_back(vector_of(g, index_.comes_from_dot(op.operands[1]) && !masks.empty()));
    guarded(masks.empty() ? nullptr : masks[group], {}, [&] {
      for (uint32_t g = group; g < end; ++g)
        builder_.CreateAlignedStore(vectors[g - group], pointers[g], accesses.align);
      return Registers();
    });
    group = end;
  }
}

} // namespace nereid::codegen
