// Memory instructions of an LDS pipeline and their addresses.
#include "codegen/lds_pipeline/operand_memory.h"

#include <algorithm>
#include <limits>

#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/lower/buffer.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/memory_access.h"
#include "codegen/lower/opaque_value.h"
#include "codegen/lower/thread_position.h"

namespace nereid::codegen {

namespace {

constexpr unsigned lds_address_space = 3, descriptor_address_space = 8;

/// Where the offsets of a tile may be negative, what is added to them and taken from their base: half of what
/// a descriptor spans.
constexpr uint32_t offset_bias = gfx950::buffer_range / 2;

/// Whether it is known that no element lies before what threads share of the first one's address.
bool rises_from_first(const std::vector<Address> &parts) {
  const Offset &first = parts[0].offset;
  return std::all_of(parts.begin(), parts.end(), [&](const Address &part) {
    const Offset &offset = part.offset;
    const bool same = offset.uniform == first.uniform;
    const bool later =
        offset.range.low > std::numeric_limits<int64_t>::min() && offset.range.low >= first.range.low;
    return (!offset.varying || offset.limit != 0) && offset.constant >= first.constant && (same || later);
  });
}

} // namespace

OperandMemory::OperandMemory(Lowering &lowering, const std::vector<PipelinedLoad> &loads, unsigned buffers,
                             Kind kind)
    : lowering_(lowering), loads_(loads), buffers_(buffers), kind_(kind), builder_(lowering.context.builder),
      states_(loads.size()) {}

void OperandMemory::emit_addresses() {
  for (size_t i = 0; i < states_.size(); ++i) {
    lowering_.context.set_line(*loads_[i].op);
    if (!loads_[i].source)
      emit_offsets(i);
    if (loads_[i].through_lds()) {
      if (!loads_[i].source)
        emit_wave_target(i);
      emit_read_bases(i);
    }
  }
  declare_buffers();
  if (is_far())
    for (State &state : states_)
      emit_far_bases(state);
}

/// Whether reads reach beyond what their immediate offset holds.
bool OperandMemory::is_far() const {
  unsigned bytes = 0;
  for (const PipelinedLoad &load : loads_)
    bytes += load.through_lds() && !load.source ? load.image->bytes() * buffers_ : 0;
  return kind_ == Kind::Prefetch && bytes > gfx950::lds_offset_reach;
}

/// LLVM would compute the address of each read anew from the origin that it sees.
void OperandMemory::emit_far_bases(State &state) {
  for (const auto &[exclusive, added] : state.reads)
    for (unsigned buffer = 0; buffer < buffers_; ++buffer) {
      const uint32_t span = (buffer * state.stride + added) / gfx950::lds_offset_reach;
      llvm::Value *&base = state.far_bases[{exclusive, span}];
      if (base)
        continue;
      llvm::Type *byte = builder_.getInt8Ty();
      llvm::Value *start =
          builder_.CreateConstGEP1_32(byte, state.buffers[0], span * gfx950::lds_offset_reach);
      base = opaque_value(builder_, builder_.CreateGEP(byte, start, state.read_bases.at(exclusive)));
    }
}

const LinearLayout &OperandMemory::leaders(size_t load) const {
  const PipelinedLoad &of = loads_[load];
  return of.through_lds() ? of.copies.leaders : of.groups.leaders;
}

void OperandMemory::emit_offsets(size_t load) {
  const PipelinedLoad &of = loads_[load];
  State &state = states_[load];
  const ir::ValueId pointer = of.op->operands[0];
  std::vector<Address> parts = lowering_.addresses.addresses(pointer, leaders(load));
  llvm::Value *base = nullptr;
  int64_t bias = 0;
  if (of.bound || rises_from_first(parts)) {
    state.open_offsets = offsets_of(parts, base);
  } else if (const auto small =
                 of.moving_base ? std::nullopt : lowering_.addresses.in_small_buffer(pointer, parts)) {
    state.open_offsets = offsets_of(*small, base);
  } else {
    bias = offset_bias;
    state.open_offsets = offsets_of(parts, base);
    base = builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(-bias));
    for (llvm::Value *&offset : state.open_offsets)
      offset = builder_.CreateAdd(offset, builder_.getInt32(offset_bias));
  }
  state.offsets = masked(state.open_offsets, of.fixed_masks, leaders(load));
  state.base = base;
  state.descriptor = descriptor(base);
  llvm::Value *change = builder_.getInt64(static_cast<uint64_t>(of.change));
  if (of.moving_base) {
    const Offset &first = parts[0].offset;
    state.from_base = builder_.getInt64(static_cast<uint64_t>(first.constant - bias));
    if (first.uniform)
      state.from_base = builder_.CreateAdd(first.uniform, state.from_base);
  } else if (of.factor)
    state.change = builder_.CreateMul(
        builder_.CreateSExtOrTrunc(lowering_.values.scalar(*of.factor), builder_.getInt64Ty()), change);
  else if (kind_ == Kind::Prefetch)
    state.change = change;
}

/// Offsets of 32 bits from what is uniform of the first.
LlvmValues OperandMemory::offsets_of(const std::vector<Address> &parts, llvm::Value *&base) {
  llvm::Type *i32 = builder_.getInt32Ty();
  llvm::Value *reference = parts[0].offset.uniform;
  base = reference ? builder_.CreateGEP(builder_.getInt8Ty(), parts[0].base, reference) : parts[0].base;
  base = builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(parts[0].offset.constant));
  LlvmValues result;
  for (const Address &part : parts) {
    llvm::Value *offset =
        part.offset.varying ? builder_.CreateZExtOrTrunc(part.offset.varying, i32) : builder_.getInt32(0);
    if (part.offset.uniform != reference) {
      llvm::Value *uniform = part.offset.uniform ? part.offset.uniform : builder_.getInt64(0);
      llvm::Value *difference = reference ? builder_.CreateSub(uniform, reference) : uniform;
      offset = builder_.CreateAdd(offset, builder_.CreateTrunc(difference, i32));
    }
    const auto constant = static_cast<uint32_t>(part.offset.constant - parts[0].offset.constant);
    result.push_back(builder_.CreateAdd(offset, builder_.getInt32(constant)));
  }
  return result;
}

LlvmValues OperandMemory::masked(const LlvmValues &offsets, const std::vector<ir::ValueId> &masks,
                                 const LinearLayout &leaders) {
  LlvmValues result = offsets;
  for (ir::ValueId mask : masks) {
    Registers on = lowering_.values.get(mask, leaders);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = builder_.CreateSelect(on[i], result[i], builder_.getInt32(gfx950::buffer_range));
  }
  return result;
}

void OperandMemory::apply_iteration_masks(size_t load) {
  const PipelinedLoad &of = loads_[load];
  if (of.source)
    return;
  if (of.bound)
    states_[load].records = records_of(*of.bound);
  else if (of.has_iteration_mask)
    states_[load].offsets = masked(states_[load].open_offsets, {of.op->operands[1]}, leaders(load));
}

void OperandMemory::apply_iteration_base(size_t load) {
  State &state = states_[load];
  if (state.from_base)
    state.base = builder_.CreateGEP(builder_.getInt8Ty(), lowering_.values.scalar(*loads_[load].moving_base),
                                    state.from_base);
}

/// The bytes of the rows that are not masked out. LLVM may take a vector instruction for what is uniform, as
/// for a number between two limits; of a descriptor in vector registers it makes a loop.
llvm::Value *OperandMemory::records_of(const RowBound &bound) {
  const auto scalar = [&](ir::ValueId value) {
    return builder_.CreateSExtOrTrunc(lowering_.values.scalar(value), builder_.getInt32Ty());
  };
  const auto number = [&](int64_t value) { return builder_.getInt32(static_cast<uint32_t>(value)); };
  llvm::Value *rows = builder_.CreateSub(scalar(bound.bound), scalar(bound.first));
  rows = bound.inclusive ? builder_.CreateAdd(rows, number(1)) : rows;
  rows = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, rows, number(0));
  rows = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rows, number(bound.rows));
  llvm::Value *pitch = number(bound.pitch);
  pitch = bound.factor ? builder_.CreateMul(scalar(*bound.factor), pitch) : pitch;
  llvm::Value *bytes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, builder_.CreateMul(rows, pitch),
                                                      builder_.getInt32(gfx950::buffer_range));
  bytes = builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {builder_.getInt32Ty()}, {bytes});
  return builder_.CreateZExt(bytes, builder_.getInt64Ty());
}

llvm::Value *OperandMemory::descriptor(llvm::Value *base, llvm::Value *records) {
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_make_buffer_rsrc,
      {llvm::PointerType::get(lowering_.context.builder.getContext(), descriptor_address_space),
       base->getType()},
      {base, builder_.getInt16(0), records ? records : builder_.getInt64(gfx950::buffer_range),
       builder_.getInt32(gfx950::buffer_flags)});
}

/// A matrix may be larger than a scalar offset reaches.
std::pair<llvm::Value *, llvm::Value *> OperandMemory::moved(const State &state, llvm::Value *steps) {
  if (state.from_base)
    return {descriptor(state.base, state.records), builder_.getInt32(0)};
  if (!state.change)
    return {state.descriptor, steps};
  llvm::Value *bytes = builder_.CreateMul(builder_.CreateZExt(steps, builder_.getInt64Ty()), state.change);
  return {descriptor(builder_.CreateGEP(builder_.getInt8Ty(), state.base, bytes), state.records),
          builder_.getInt32(0)};
}

/// Where a copy puts its elements follows the lanes by itself.
void OperandMemory::emit_wave_target(size_t load) {
  const LdsImage &image = *loads_[load].image;
  std::vector<uint64_t> bases = image.copies().bases(Space::Wave);
  for (uint64_t &basis : bases)
    basis *= image.element_bytes();
  states_[load].wave_target = apply_bases(builder_, lowering_.context.wave, bases, builder_.getInt32(0));
}

/// What the lanes add to a read's address is one xor; of what a group adds, only bits that lanes reach need
/// one too.
void OperandMemory::emit_read_bases(size_t load) {
  const PipelinedLoad &of = loads_[load];
  State &state = states_[load];
  const LinearLayout &home = of.image->reads();
  uint64_t thread_bits = 0;
  llvm::Value *thread = builder_.getInt32(0);
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < home.bits(space); ++bit) {
      std::vector<uint64_t> one(bit + 1, 0);
      one[bit] = of.image->swizzled(home.flat_basis(space, bit)) * of.image->element_bytes();
      thread_bits |= one[bit];
      llvm::Value *bits = space == Space::Lane ? lowering_.context.lane : lowering_.context.wave;
      thread = builder_.CreateXor(thread, apply_bases(builder_, bits, one, builder_.getInt32(0)));
    }
  for (uint32_t first : of.groups.first)
    for (unsigned n = 0; n < of.image->reads_of_group(); ++n) {
      const uint32_t offset = of.image->read_offset(first + n * of.image->elements_of_read());
      const auto exclusive = static_cast<uint32_t>(offset & thread_bits);
      state.reads.emplace_back(exclusive, offset ^ exclusive);
      llvm::Value *&base = state.read_bases[exclusive];
      if (!base)
        base = exclusive ? builder_.CreateXor(thread, exclusive) : thread;
    }
}

/// The buffers of a load with their scopes.
void OperandMemory::new_buffers(size_t load, llvm::MDNode *domain) {
  State &state = states_[load];
  const unsigned bytes = loads_[load].image->bytes();
  if (kind_ == Kind::Prefetch) {
    const LdsMemory::SharedBuffers shared =
        lowering_.lds.shared_buffers(static_cast<unsigned>(load), bytes, buffers_);
    state.stride = shared.bytes;
    state.scopes.assign(shared.scopes.begin(), shared.scopes.begin() + buffers_);
    for (unsigned b = 0; b < buffers_; ++b)
      state.buffers.push_back(llvm::ConstantExpr::getInBoundsGetElementPtr(
          builder_.getInt8Ty(), shared.array, builder_.getInt32(b * shared.bytes)));
    return;
  }
  constexpr uint64_t alignment = 1024; // the swizzle's xors stay inside
  auto *type = llvm::ArrayType::get(builder_.getInt8Ty(), bytes);
  llvm::MDBuilder metadata(lowering_.context.builder.getContext());
  for (unsigned b = 0; b < buffers_; ++b) {
    auto *buffer = new llvm::GlobalVariable(lowering_.context.module, type, false,
                                            llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
                                            lowering_.context.function().name + ".pipeline", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, lds_address_space);
    buffer->setAlignment(llvm::Align(alignment));
    state.buffers.push_back(buffer);
    state.scopes.push_back(metadata.createAnonymousAliasScope(domain));
  }
}

void OperandMemory::declare_buffers() {
  llvm::LLVMContext &context = builder_.getContext();
  llvm::MDNode *domain = llvm::MDBuilder(context).createAnonymousAliasScopeDomain("lds_pipeline");
  std::vector<llvm::Metadata *> all;
  for (size_t i = 0; i < states_.size(); ++i)
    if (loads_[i].through_lds() && !loads_[i].source) {
      new_buffers(i, domain);
      all.insert(all.end(), states_[i].scopes.begin(), states_[i].scopes.end());
    }
  for (State &state : states_)
    for (llvm::MDNode *&scope : state.scopes) {
      std::vector<llvm::Metadata *> others;
      std::copy_if(all.begin(), all.end(), std::back_inserter(others),
                   [&](llvm::Metadata *other) { return other != scope; });
      scope = llvm::MDNode::get(context, {scope});
      state.other_scopes.push_back(llvm::MDNode::get(context, others));
    }
  for (size_t i = 0; i < states_.size(); ++i)
    if (loads_[i].source) {
      const State &source = states_[*loads_[i].source];
      states_[i].buffers = source.buffers;
      states_[i].stride = source.stride;
      states_[i].scopes = source.scopes;
      states_[i].other_scopes = source.other_scopes;
    }
}

void OperandMemory::set_scopes(llvm::Instruction &instruction, const State &state, unsigned buffer) const {
  instruction.setMetadata(llvm::LLVMContext::MD_alias_scope, state.scopes[buffer]);
  instruction.setMetadata(llvm::LLVMContext::MD_noalias, state.other_scopes[buffer]);
}

void OperandMemory::set_position(const ir::Op &op) {
  const unsigned line = lowering_.context.plan.index.line(op);
  builder_.SetCurrentDebugLocation(lowering_.context.lines.at(line, static_cast<unsigned>(tag_)));
}

llvm::Value *OperandMemory::load(LoadGroup group, llvm::Value *scalar_offset) {
  const State &state = states_[group.load];
  const ir::Op &op = *loads_[group.load].op;
  lowering_.context.set_line(op);
  const auto [descriptor, scalar] = moved(state, scalar_offset);
  const BufferAccess access{descriptor, state.offsets[group.group], scalar};
  const unsigned bytes = loads_[group.load].groups.access.elements() *
                         ir::byte_size(lowering_.context.type(op.result()).element);
  llvm::Value *loaded =
      buffer_load(builder_, access, access_type(builder_, bytes), cache_policy(lowering_.context.plan, op));
  // Extended beside the load, which does it, and not an iteration later, where LLVM would do it again.
  return bytes < 4 ? builder_.CreateZExt(loaded, builder_.getInt32Ty()) : loaded;
}

llvm::Value *OperandMemory::read(LoadGroup group, unsigned buffer) {
  const State &state = states_[group.load];
  const LdsImage &image = *loads_[group.load].image;
  set_position(*loads_[loads_[group.load].source.value_or(group.load)].op);
  if (image.transposes()) {
    const size_t first = group.group * image.reads_of_group();
    llvm::Value *low = read_transposed(state, image, first, buffer);
    llvm::Value *high = read_transposed(state, image, first + 1, buffer);
    return builder_.CreateShuffleVector(low, high, {0, 1, 2, 3});
  }
  llvm::Value *address = read_address(state, group.group, buffer);
  auto *type = llvm::FixedVectorType::get(builder_.getInt32Ty(), LdsImage::copy_bytes / 4);
  llvm::LoadInst *read = builder_.CreateAlignedLoad(type, address, llvm::Align(LdsImage::copy_bytes));
  set_scopes(*read, state, buffer);
  return read;
}

llvm::Value *OperandMemory::read_address(const State &state, size_t number, unsigned buffer) {
  const auto [exclusive, added] = state.reads[number];
  llvm::Type *byte = builder_.getInt8Ty();
  if (!state.far_bases.empty()) {
    const uint32_t place = buffer * state.stride + added, reach = gfx950::lds_offset_reach;
    return builder_.CreateConstGEP1_32(byte, state.far_bases.at({exclusive, place / reach}), place % reach);
  }
  llvm::Value *address = builder_.CreateGEP(byte, state.buffers[buffer], state.read_bases.at(exclusive));
  return added ? builder_.CreateGEP(byte, address, builder_.getInt32(added)) : address;
}

/// Two dwords.
llvm::Value *OperandMemory::read_transposed(const State &state, const LdsImage &image, size_t number,
                                            unsigned buffer) {
  auto *dwords = llvm::FixedVectorType::get(builder_.getInt32Ty(), TransposedRead::bytes / 4);
  const bool halves = image.element_bytes() == 2;
  auto *type = halves ? llvm::FixedVectorType::get(builder_.getInt16Ty(), TransposedRead::bytes / 2) : dwords;
  llvm::CallInst *read = builder_.CreateIntrinsic(halves ? llvm::Intrinsic::amdgcn_ds_read_tr16_b64
                                                         : llvm::Intrinsic::amdgcn_ds_read_tr8_b64,
                                                  {type}, {read_address(state, number, buffer)});
  set_scopes(*read, state, buffer);
  return builder_.CreateBitCast(read, dwords);
}

void OperandMemory::copy(size_t load, size_t number, unsigned buffer, llvm::Value *scalar_offset) {
  const PipelinedLoad &of = loads_[load];
  const State &state = states_[load];
  set_position(*of.op);
  const uint32_t added = of.image->copy_offset(of.copies.first[number]);
  llvm::Value *target = builder_.CreateAdd(state.wave_target, builder_.getInt32(added), "", true, true);
  llvm::Value *address = builder_.CreateGEP(builder_.getInt8Ty(), state.buffers[buffer], target);
  llvm::Value *zero = builder_.getInt32(0);
  const auto [descriptor, scalar] = moved(state, scalar_offset);
  llvm::CallInst *call =
      builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds, {},
                               {descriptor, address, builder_.getInt32(LdsImage::copy_bytes),
                                state.offsets[number], scalar, zero, zero});
  set_scopes(*call, state, buffer);
}

} // namespace nereid::codegen
