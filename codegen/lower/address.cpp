#include <algorithm>
#include <functional>
#include <map>

#include "codegen/assign/operand_layout.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

namespace {

using Pair = std::pair<llvm::Value *, llvm::Value *>;

/// Sums and products of parts; equal pairs, of which a tile's registers have many, are made once.
class Parts {
public:
  explicit Parts(llvm::IRBuilder<> &builder) : b_(builder) {}

  llvm::Value *wide(llvm::Value *value) {
    if (value->getType()->isIntegerTy(64))
      return value;
    return once(zexts_, {value, nullptr}, [&] { return b_.CreateZExt(value, b_.getInt64Ty()); });
  }
  llvm::Value *add(llvm::Value *a, llvm::Value *b) {
    if (!a || !b)
      return a ? a : b;
    return once(accumulators_, {a, b}, [&] { return b_.CreateAdd(a, b); });
  }
  llvm::Value *multiply(llvm::Value *a, llvm::Value *b) {
    if (!a || !b)
      return nullptr;
    return once(products_, {a, b}, [&] { return b_.CreateMul(a, b); });
  }
  llvm::Value *negate(llvm::Value *a) {
    if (!a)
      return nullptr;
    return once(negations_, {a, nullptr}, [&] { return b_.CreateNeg(a); });
  }

  Offset add(const Offset &x, const Offset &y) {
    Offset sum;
    sum.uniform = add(x.uniform, y.uniform);
    sum.range = x.range + y.range;
    sum.constant = wrapped(x.constant, y.constant, std::plus<>());
    bool narrow =
        (!x.varying || x.limit) && (!y.varying || y.limit) && x.limit + y.limit < Offset::narrow_limit;
    if (narrow || !x.varying || !y.varying) {
      sum.varying = add(x.varying, y.varying);
      sum.limit = narrow ? x.limit + y.limit : 0;
    } else {
      sum.varying = add(wide(x.varying), wide(y.varying));
    }
    return sum;
  }
  Offset negate(const Offset &x) {
    return {x.varying ? negate(wide(x.varying)) : nullptr, 0, negate(x.uniform), -x.range,
            wrapped(0, x.constant, std::minus<>())};
  }
  /// `y` has no varying part.
  Offset multiply(const Offset &x, const Offset &y) {
    const Interval factor = y.range + Interval{y.constant, y.constant};
    Offset product;
    if (!y.uniform) {
      product.uniform = multiply(x.uniform, b_.getInt64(y.constant));
      product.range = x.range * factor;
      product.constant = wrapped(x.constant, y.constant, std::multiplies<>());
    } else if (x.uniform || x.constant != 0) {
      product.uniform = multiply(uniform(x), uniform(y));
      product.range = (x.range + Interval{x.constant, x.constant}) * factor;
    }
    const auto room = static_cast<int64_t>(x.limit ? (Offset::narrow_limit - 1) / x.limit : 0);
    if (x.limit && factor.low >= 0 && factor.high > 0 && factor.high <= room) {
      llvm::Value *narrow = once(truncations_, {uniform(y), nullptr},
                                 [&] { return b_.CreateTrunc(uniform(y), b_.getInt32Ty()); });
      product.varying = multiply(x.varying, narrow);
      product.limit = x.limit * static_cast<uint64_t>(factor.high);
    } else {
      product.varying = x.varying ? multiply(wide(x.varying), uniform(y)) : nullptr;
    }
    return product;
  }
  /// All but the varying part.
  llvm::Value *uniform(const Offset &x) {
    if (!x.uniform || x.constant == 0)
      return x.uniform ? x.uniform : b_.getInt64(x.constant);
    return add(x.uniform, b_.getInt64(x.constant));
  }
  llvm::Value *whole(const Offset &x) { return x.varying ? add(wide(x.varying), uniform(x)) : uniform(x); }

private:
  template <class Operation> static int64_t wrapped(int64_t a, int64_t b, Operation operation) {
    return static_cast<int64_t>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  }

  using Cache = std::map<Pair, llvm::Value *>;
  template <class Make> llvm::Value *once(Cache &cache, Pair key, const Make &make) {
    auto [found, is_new] = cache.try_emplace(key, nullptr);
    if (is_new)
      found->second = make();
    return found->second;
  }

  llvm::IRBuilder<> &b_;
  Cache zexts_, truncations_, accumulators_, products_, negations_;
};

} // namespace

Lowering::Offsets Lowering::offsets(ir::ValueId value, const LinearLayout &layout) {
  for (auto scope = offsets_made_.rbegin(); scope != offsets_made_.rend(); ++scope)
    if (auto found = scope->find(value); found != scope->end())
      for (const auto &[made, result] : found->second)
        if (made == layout)
          return result;
  Offsets result;
  if (layout.has_register_broadcast() && context_.type(value).rank() != 0) {
    LinearLayout once = layout.without_register_broadcast();
    Offsets few = offsets(value, once);
    for (uint32_t source : broadcast_sources(layout, once))
      result.push_back(few[source]);
  } else {
    result = make_offsets(value, layout);
  }
  offsets_made_.back()[value].push_back({layout, result});
  return result;
}

/// Integers that make up addresses as exact 64-bit sums: an i32 overflow that reaches an address is the
/// author's error, so that i32 additions and products may be taken apart.
Lowering::Offsets Lowering::make_offsets(ir::ValueId value, const LinearLayout &layout) {
  auto extended = [&](llvm::Value *v) { return builder_.CreateSExt(v, builder_.getInt64Ty()); };
  if (context_.type(value).rank() == 0)
    return Offsets(layout.registers(), scalar_offset(value));
  const ir::Op *op = index_.is_rematerialisable(value) ? index_.definition(value) : nullptr;
  ir::Opcode opcode = op ? op->opcode : ir::Opcode::Yield;
  Parts parts(builder_);
  Offsets result;
  switch (opcode) {
  case ir::Opcode::Broadcast:
  case ir::Opcode::ExpandDims:
  case ir::Opcode::Reshape:
  case ir::Opcode::Permute:
    return offsets(op->operands[0], operand_layout(function_, *op, 0, layout));
  case ir::Opcode::Cast:
    if (context_.type(op->operands[0]).element == ir::Element::I32 &&
        context_.type(value).element == ir::Element::I64)
      return offsets(op->operands[0], layout);
    break;
  case ir::Opcode::Constant:
    return Offsets(layout.registers(), Offset{nullptr, 0, nullptr, {0, 0}, ranges_[value].low});
  case ir::Opcode::Arange:
    return arange_offsets(*op, layout);
  case ir::Opcode::Add:
  case ir::Opcode::Sub: {
    Offsets a = offsets(op->operands[0], layout), b = offsets(op->operands[1], layout);
    for (uint32_t r = 0; r < layout.registers(); ++r)
      result.push_back(parts.add(a[r], opcode == ir::Opcode::Sub ? parts.negate(b[r]) : b[r]));
    return result;
  }
  case ir::Opcode::Mul: {
    Offsets a = offsets(op->operands[0], layout), b = offsets(op->operands[1], layout);
    for (uint32_t r = 0; r < layout.registers(); ++r) {
      if (!b[r].varying)
        result.push_back(parts.multiply(a[r], b[r]));
      else if (!a[r].varying)
        result.push_back(parts.multiply(b[r], a[r]));
      else
        result.push_back({parts.multiply(parts.whole(a[r]), parts.whole(b[r]))});
    }
    return result;
  }
  default:
    break;
  }
  const Interval &range = ranges_[value];
  const bool narrow = range.low >= 0 && range.high + 1 < static_cast<int64_t>(Offset::narrow_limit);
  for (llvm::Value *v : get(value, layout))
    if (narrow)
      result.push_back(
          {builder_.CreateZExtOrTrunc(v, builder_.getInt32Ty()), static_cast<uint64_t>(range.high + 1)});
    else
      result.push_back({extended(v)});
  return result;
}

Offset Lowering::scalar_offset(ir::ValueId value) {
  llvm::Value *v = scalar(value);
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(v))
    return {nullptr, 0, nullptr, {0, 0}, constant->getSExtValue()};
  return {nullptr, 0, builder_.CreateSExt(v, builder_.getInt64Ty()), ranges_[value], 0};
}

Lowering::Offsets Lowering::arange_offsets(const ir::Op &op, const LinearLayout &layout) {
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

/// Where a pointer tile points: a base and an offset in bytes.
std::vector<Lowering::Address> Lowering::parts_of_pointer(ir::ValueId pointer, const LinearLayout &layout) {
  std::vector<Address> result;
  const ir::Op *op = context_.type(pointer).rank() != 0 && index_.is_rematerialisable(pointer)
                         ? index_.definition(pointer)
                         : nullptr;
  if (op && op->opcode == ir::Opcode::PtrAdd) {
    Parts parts(builder_);
    const Offset bytes{nullptr, 0, nullptr, {0, 0}, ir::byte_size(context_.type(pointer).element)};
    Offsets added = offsets(op->operands[1], layout);
    result = parts_of_pointer(op->operands[0], layout);
    for (uint32_t r = 0; r < layout.registers(); ++r)
      result[r].offset = parts.add(result[r].offset, parts.multiply(added[r], bytes));
    return result;
  }
  if (const std::optional<ir::ValueId> source = viewed_value(index_, pointer); op && source)
    return parts_of_pointer(*source, operand_layout(function_, *op, 0, layout));
  if (context_.type(pointer).rank() == 0)
    return std::vector<Address>(layout.registers(), scalar_pointer(pointer));
  for (llvm::Value *base : get(pointer, layout))
    result.push_back({base, {}, /*uniform_base=*/false});
  return result;
}

/// What the rounds of a pipeline add to a pointer stays apart from its base, so that one descriptor serves
/// all rounds.
Lowering::Address Lowering::scalar_pointer(ir::ValueId pointer) {
  const ir::Op *op = index_.definition(pointer);
  if (!pipeline_ || !pipeline_->varies(pointer) || op->opcode != ir::Opcode::PtrAdd)
    return {scalar(pointer), {}};
  Parts parts(builder_);
  Address address = scalar_pointer(op->operands[0]);
  const Offset bytes{nullptr, 0, nullptr, {0, 0}, ir::byte_size(context_.type(pointer).element)};
  const Offset added = parts.multiply(scalar_offset(op->operands[1]), bytes);
  constexpr Interval stepped{0, static_cast<int64_t>(Offset::narrow_limit / 2)};
  if (pipeline_->varies(op->operands[1]) && added.range.within(stepped))
    address.offset = parts.add(address.offset, added);
  else
    address.base = builder_.CreateGEP(builder_.getInt8Ty(), address.base, parts.uniform(added));
  return address;
}

/// The uniform part goes to the base in scalar registers, the threads' part is added last.
Registers Lowering::addresses(ir::ValueId pointer, const LinearLayout &layout) {
  std::map<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> bases;
  std::map<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> made;
  Parts parts(builder_);
  Registers result;
  for (const Address &address : parts_of_pointer(pointer, layout)) {
    llvm::Value *uniform = parts.uniform(address.offset);
    llvm::Value *&base = bases[{address.base, uniform}];
    if (!base)
      base = builder_.CreateGEP(builder_.getInt8Ty(), address.base, uniform);
    llvm::Value *&whole = made[{base, address.offset.varying}];
    if (!whole) {
      llvm::Value *varying = address.offset.varying;
      if (varying && varying->getType()->isIntegerTy(32))
        varying = builder_.CreateZExt(varying, builder_.getInt64Ty());
      whole = varying ? builder_.CreateGEP(builder_.getInt8Ty(), base, varying) : base;
    }
    result.push_back(whole);
  }
  return result;
}

} // namespace nereid::codegen
