// Addresses: integers that make them up are exact 64-bit sums. An i32 overflow that reaches an address is the
// author's error, so that i32 additions and products may be taken apart.
#include "codegen/lower/address.h"

#include "codegen/assign/offset_bounds.h"
#include "codegen/assign/operand_layout.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

Offsets AddressEmitter::offsets(ir::ValueId value, const LinearLayout &layout) {
  const LayoutRequest wanted{value, layout};
  const auto find = [this](const LayoutRequest &request) {
    return cache_.offsets(request.value, request.layout);
  };
  if (const Offsets *known = find(wanted))
    return *known;
  return make_in_post_order(
      wanted, find, [this](const LayoutRequest &request) { return open(request); },
      [this](const Request &request) {
        Offsets result = finish(request);
        cache_.add(request.wanted.value, request.wanted.layout, result);
        return result;
      });
}

AddressEmitter::Request AddressEmitter::open(const LayoutRequest &wanted) const {
  const auto &[value, layout] = wanted;
  Request request{{wanted}};
  if (context_.type(value).rank() == 0)
    return request;
  if (layout.has_register_broadcast()) {
    request.inputs.push_back({value, layout.without_register_broadcast()});
    return request;
  }
  const FunctionIndex &index = context_.plan.index;
  if (!index.is_rematerialisable(value))
    return request;
  const ir::Op &op = *index.definition(value);
  request.inputs = offset_terms(index, wanted);
  if (!request.inputs.empty() || op.opcode == ir::Opcode::Constant || op.opcode == ir::Opcode::Arange)
    request.op = &op;
  return request;
}

Offsets AddressEmitter::finish(const Request &request) {
  const auto &[value, layout] = request.wanted;
  if (context_.type(value).rank() == 0)
    return Offsets(layout.registers(), scalar_offset(value));
  if (request.op)
    return combine(request);
  if (request.inputs.empty())
    return offsets_of_registers(value, layout);
  Offsets result;
  for (uint32_t source : broadcast_sources(layout, request.inputs[0].layout))
    result.push_back(request.results[0][source]);
  return result;
}

Offsets AddressEmitter::combine(const Request &request) {
  const ir::Op &op = *request.op;
  const auto &[value, layout] = request.wanted;
  if (op.opcode == ir::Opcode::Constant)
    return Offsets(layout.registers(), Offset::of(context_.plan.ranges[value].low));
  if (op.opcode == ir::Opcode::Arange)
    return offsets_of_arange(op, layout);
  if (request.results.size() == 1)
    return request.results[0];
  const Offsets &a = request.results[0], &b = request.results[1];
  OffsetMath math(builder_);
  Offsets result;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if (op.opcode == ir::Opcode::Mul)
      result.push_back(math.multiply(a[r], b[r]));
    else
      result.push_back(math.add(a[r], op.opcode == ir::Opcode::Sub ? math.negate(b[r]) : b[r]));
  return result;
}

Offsets AddressEmitter::offsets_of_registers(ir::ValueId value, const LinearLayout &layout) {
  const Interval &range = context_.plan.ranges[value];
  const bool narrow = range.low >= 0 && range.high + 1 < static_cast<int64_t>(Offset::narrow_limit);
  Offsets result;
  for (llvm::Value *v : values_.get(value, layout))
    if (narrow)
      result.push_back(
          {builder_.CreateZExtOrTrunc(v, builder_.getInt32Ty()), static_cast<uint64_t>(range.high + 1)});
    else
      result.push_back({builder_.CreateSExt(v, builder_.getInt64Ty())});
  return result;
}

Offset AddressEmitter::scalar_offset(ir::ValueId value) {
  llvm::Value *v = values_.scalar(value);
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(v))
    return Offset::of(constant->getSExtValue());
  return {nullptr, 0, builder_.CreateSExt(v, builder_.getInt64Ty()), context_.plan.ranges[value], 0};
}

Offsets AddressEmitter::offsets_of_arange(const ir::Op &op, const LinearLayout &layout) {
  llvm::Value *thread = flat_of_thread(context_, layout);
  const uint64_t from_thread = thread_bits(layout);
  Offsets result;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    uint64_t own = flat_of_register(layout, r);
    Offset offset;
    bool apart = (own & from_thread) == 0;
    offset.varying = apart ? thread : builder_.CreateXor(thread, builder_.getInt32(own));
    offset.limit = apart ? from_thread + 1 : static_cast<uint64_t>(context_.type(op.result()).shape[0]);
    if (from_thread == 0)
      offset = {};
    offset.constant = op.integer("start") + static_cast<int64_t>(apart ? own : 0) +
                      static_cast<int64_t>(odd_part_of_register(layout, r));
    result.push_back(offset);
  }
  return result;
}

/// Down through additions and views to what is not taken apart, then up again.
std::vector<Address> AddressEmitter::addresses(ir::ValueId pointer, const LinearLayout &layout,
                                               const PrefetchPlan *plan) {
  const FunctionIndex &index = context_.plan.index;
  struct Addition {
    Offsets elements;
    Offset element_bytes;
  };
  std::vector<Addition> additions;
  LinearLayout lying = layout;
  while (context_.type(pointer).rank() != 0 && index.is_rematerialisable(pointer)) {
    const ir::Op &op = *index.definition(pointer);
    if (op.opcode == ir::Opcode::PtrAdd)
      additions.push_back(
          {offsets(op.operands[1], lying), Offset::of(ir::byte_size(context_.type(pointer).element))});
    else if (viewed_value(index, pointer))
      lying = operand_layout(context_.function(), op, 0, lying);
    else
      break;
    pointer = op.operands[0];
  }
  std::vector<Address> result = bases(pointer, lying, plan);
  for (auto addition = additions.rbegin(); addition != additions.rend(); ++addition) {
    OffsetMath math(builder_);
    for (uint32_t r = 0; r < result.size(); ++r)
      result[r].offset =
          math.add(result[r].offset, math.multiply(addition->elements[r], addition->element_bytes));
  }
  return result;
}

std::vector<Address> AddressEmitter::bases(ir::ValueId pointer, const LinearLayout &layout,
                                           const PrefetchPlan *plan) {
  if (context_.type(pointer).rank() == 0)
    return std::vector<Address>(layout.registers(), scalar_address(pointer, plan));
  std::vector<Address> result;
  for (llvm::Value *base : values_.get(pointer, layout))
    result.push_back({base, {}, /*uniform_base=*/false});
  return result;
}

Address AddressEmitter::scalar_address(ir::ValueId pointer, const PrefetchPlan *plan) {
  const FunctionIndex &index = context_.plan.index;
  std::vector<const ir::Op *> additions;
  for (const ir::Op *op = index.definition(pointer);
       plan && op && op->opcode == ir::Opcode::PtrAdd && plan->varies(pointer);
       op = index.definition(pointer)) {
    additions.push_back(op);
    pointer = op->operands[0];
  }
  constexpr Interval small{0, static_cast<int64_t>(Offset::narrow_limit / 2)};
  Address address{values_.scalar(pointer), {}};
  for (auto at = additions.rbegin(); at != additions.rend(); ++at) {
    const ir::Op &op = **at;
    OffsetMath math(builder_);
    const Offset bytes = Offset::of(ir::byte_size(context_.type(op.result()).element));
    const Offset added = math.multiply(scalar_offset(op.operands[1]), bytes);
    if (plan->varies(op.operands[1]) && added.range.within(small))
      address.offset = math.add(address.offset, added);
    else
      address.base = builder_.CreateGEP(builder_.getInt8Ty(), address.base, math.uniform(added));
  }
  return address;
}

std::optional<std::vector<Address>> AddressEmitter::in_small_buffer(ir::ValueId pointer,
                                                                    const std::vector<Address> &addresses) {
  const std::optional<ir::ValueId> argument = small_buffer_of(context_.plan.index, pointer);
  if (!argument)
    return std::nullopt;
  llvm::Value *start = values_.scalar(*argument);
  llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty();
  std::map<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> uniform_parts;
  std::vector<Address> result;
  // Parts may be anything; the sum, modulo 2^32, is where the element lies.
  for (const Address &address : addresses) {
    const Offset &offset = address.offset;
    llvm::Value *&uniform = uniform_parts[{address.base, offset.uniform}];
    if (!uniform) {
      uniform = address.base == start ? builder_.getInt64(0)
                                      : builder_.CreateSub(builder_.CreatePtrToInt(address.base, i64),
                                                           builder_.CreatePtrToInt(start, i64));
      uniform = offset.uniform ? builder_.CreateAdd(uniform, offset.uniform) : uniform;
      uniform = builder_.CreateTrunc(uniform, i32);
    }
    llvm::Value *own = builder_.getInt32(static_cast<uint32_t>(offset.constant));
    if (offset.varying)
      own = builder_.CreateAdd(builder_.CreateZExtOrTrunc(offset.varying, i32), own);
    result.push_back({start, {builder_.CreateAdd(own, uniform), Offset::narrow_limit}});
  }
  return result;
}

Registers AddressEmitter::pointers(ir::ValueId pointer, const LinearLayout &layout,
                                   const PrefetchPlan *plan) {
  using Pair = std::pair<llvm::Value *, llvm::Value *>;
  std::map<Pair, llvm::Value *> uniform_bases, whole;
  OffsetMath math(builder_);
  Registers result;
  for (const Address &address : addresses(pointer, layout, plan)) {
    llvm::Value *uniform = math.uniform(address.offset);
    llvm::Value *&base = uniform_bases[{address.base, uniform}];
    if (!base)
      base = builder_.CreateGEP(builder_.getInt8Ty(), address.base, uniform);
    llvm::Value *varying = address.offset.varying;
    llvm::Value *&sum = whole[{base, varying}];
    if (!sum) {
      if (varying && varying->getType()->isIntegerTy(32))
        varying = builder_.CreateZExt(varying, builder_.getInt64Ty());
      sum = varying ? builder_.CreateGEP(builder_.getInt8Ty(), base, varying) : base;
    }
    result.push_back(sum);
  }
  return result;
}

} // namespace nereid::codegen
