#include <algorithm>
#include <bit>

#include <llvm/IR/MDBuilder.h>

#include "codegen/lds_pipeline/emitter.h"

namespace nereid::codegen {

namespace {

constexpr unsigned copy_bytes = 16;
/// Offsets from here on are out of a descriptor's range: loads give zeros there, copies write zeros.
constexpr uint32_t descriptor_bytes = uint32_t(1) << 31;

} // namespace

void LdsPipelineEmitter::lower_scalars(llvm::Value *index) {
  lowering_.define_scalar(body_.arguments[0], index);
  for (const ir::Op &op : body_.ops)
    if (op.results.size() == 1 && lowering_.type(op.result()).rank() == 0 &&
        ir::facts(op.opcode).effect == ir::OpEffect::Pure)
      lowering_.lower_op(op);
}

/// The greatest element of a tile that LoopInduction::has_greatest says has one, as i64.
llvm::Value *LdsPipelineEmitter::greatest(ir::ValueId value) {
  const ir::Type &type = lowering_.type(value);
  llvm::Type *i64 = builder_.getInt64Ty();
  if (type.rank() == 0)
    return builder_.CreateSExt(lowering_.scalar(value), i64);
  const ir::Op &op = *lowering_.index_.definition(value);
  switch (op.opcode) {
  case ir::Opcode::Constant:
    return builder_.CreateSExt(
        lowering_.compute(op, 0, default_layout(type.shape, lowering_.function_.options.waves))[0], i64);
  case ir::Opcode::Arange:
    return builder_.getInt64(op.integer("start") + type.shape[0] - 1);
  case ir::Opcode::Add:
    return builder_.CreateAdd(greatest(op.operands[0]), greatest(op.operands[1]));
  default:
    return greatest(op.operands[0]);
  }
}

/// Bank conflicts: lanes that are served together read the same part of 16 rows. Rows of 256 bytes and more
/// start in the same bank, so that the row's number is added (xor) to that of the 16-byte part; shorter rows
/// share a line of the banks and need less.
uint64_t LdsPipelineEmitter::swizzled(size_t number, uint64_t flat) const {
  const ir::Type &type = lowering_.type(loop_.loads[number].op->result());
  unsigned bytes = ir::byte_size(type.element);
  auto row_elements = static_cast<uint64_t>(type.shape[1]);
  uint64_t parts = row_elements * bytes / copy_bytes;
  uint64_t row = flat / row_elements;
  uint64_t part = parts == 4 ? (row >> 3 & 1) * 3 : row & (std::min<uint64_t>(parts, 16) - 1);
  return flat ^ part * (copy_bytes / bytes);
}

LinearLayout LdsPipelineEmitter::swizzled(size_t number, const LinearLayout &layout) const {
  std::array<std::vector<uint64_t>, 3> bases;
  for (Space space : all_spaces)
    for (uint64_t column : layout.bases(space))
      bases[static_cast<unsigned>(space)].push_back(swizzled(number, column));
  return LinearLayout::from_flat_bases(layout.shape(), bases, layout.repeats());
}

/// Bytes that a register adds to the place of its lane; an odd factor of the rows lies outside of the
/// swizzled image.
uint32_t LdsPipelineEmitter::lds_offset(size_t number, const LinearLayout &layout, uint32_t reg,
                                        bool swizzle) const {
  unsigned bytes = ir::byte_size(lowering_.type(loop_.loads[number].op->result()).element);
  uint32_t repeat = reg >> layout.bits(Space::Register);
  uint64_t flat = Lowering::flat_of_register(layout, reg);
  return static_cast<uint32_t>((swizzle ? swizzled(number, flat) : flat) * bytes) +
         repeat * (uint32_t(bytes) << layout.coordinate_bits());
}

llvm::Value *LdsPipelineEmitter::descriptor(llvm::Value *base) {
  constexpr unsigned format = 0x27000; // 32-bit data, as untyped accesses want it
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_make_buffer_rsrc,
      {llvm::PointerType::get(lowering_.context_, 8), base->getType()},
      {base, builder_.getInt16(0), builder_.getInt64(descriptor_bytes), builder_.getInt32(format)});
}

/// Offsets of 32 bits from what is uniform of the first.
LdsPipelineEmitter::Values LdsPipelineEmitter::offsets_of(const std::vector<Lowering::Address> &parts,
                                                          llvm::Value *&base) {
  llvm::Value *reference = parts[0].offset.uniform;
  base = reference ? builder_.CreateGEP(builder_.getInt8Ty(), parts[0].base, reference) : parts[0].base;
  base = builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.getInt64(parts[0].offset.constant));
  Values result;
  for (const Lowering::Address &part : parts) {
    llvm::Value *offset =
        part.offset.varying ? builder_.CreateZExtOrTrunc(part.offset.varying, i32_) : builder_.getInt32(0);
    if (part.offset.uniform != reference) {
      llvm::Value *uniform = part.offset.uniform ? part.offset.uniform : builder_.getInt64(0);
      llvm::Value *difference = reference ? builder_.CreateSub(uniform, reference) : uniform;
      offset = builder_.CreateAdd(offset, builder_.CreateTrunc(difference, i32_));
    }
    const auto constant = static_cast<uint32_t>(part.offset.constant - parts[0].offset.constant);
    offset = builder_.CreateAdd(offset, builder_.getInt32(constant));
    result.push_back(offset);
  }
  return result;
}

LdsPipelineEmitter::Values LdsPipelineEmitter::masked(const Values &offsets,
                                                      const std::vector<ir::ValueId> &masks,
                                                      const LinearLayout &leaders) {
  Values result = offsets;
  for (ir::ValueId mask : masks) {
    Registers on = lowering_.get(mask, leaders);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = builder_.CreateSelect(on[i], result[i], builder_.getInt32(descriptor_bytes));
  }
  return result;
}

void LdsPipelineEmitter::make_offsets(LoadState &state, const PipelinedLoad &load,
                                      const LinearLayout &leaders) {
  llvm::Value *base = nullptr;
  state.open_offsets = offsets_of(lowering_.parts_of_pointer(load.op->operands[0], leaders), base);
  state.offsets = masked(state.open_offsets, load.fixed_masks, leaders);
  state.descriptor = descriptor(base);
}

void LdsPipelineEmitter::make_direct(size_t number) {
  make_offsets(loads_[number], loop_.loads[number], loads_[number].groups.leaders);
}

/// The LDS places of a copy follow the lanes; the swizzle is in which elements the lanes fetch.
void LdsPipelineEmitter::make_copies(size_t number) {
  LoadState &state = loads_[number];
  const PipelinedLoad &load = loop_.loads[number];
  make_offsets(state, load, state.copies.leaders);
  unsigned bytes = ir::byte_size(lowering_.type(load.op->result()).element);
  std::vector<uint64_t> bases = state.copy_layout.bases(Space::Wave);
  for (uint64_t &column : bases)
    column *= bytes;
  state.wave_target = lowering_.linear(lowering_.wave_, bases, builder_.getInt32(0));
}

/// What the lanes add to a read's place is one xor; of what a group adds, only bits that lanes reach need
/// one too.
void LdsPipelineEmitter::make_reads(size_t number) {
  LoadState &state = loads_[number];
  unsigned bytes = ir::byte_size(lowering_.type(loop_.loads[number].op->result()).element);
  const LinearLayout &home = lowering_.layouts_.layout(loop_.loads[number].op->result());
  uint64_t thread_bits = 0;
  llvm::Value *thread = builder_.getInt32(0);
  for (Space space : {Space::Lane, Space::Wave})
    for (unsigned bit = 0; bit < home.bits(space); ++bit) {
      std::vector<uint64_t> one(bit + 1, 0);
      one[bit] = swizzled(number, home.flat_basis(space, bit)) * bytes;
      thread_bits |= one[bit];
      llvm::Value *bits = space == Space::Lane ? lowering_.lane_ : lowering_.wave_;
      thread = builder_.CreateXor(thread, lowering_.linear(bits, one, builder_.getInt32(0)));
    }
  for (uint32_t reg : state.groups.first) {
    uint32_t offset = lds_offset(number, home, reg, true);
    auto exclusive = static_cast<uint32_t>(offset & thread_bits);
    state.reads.emplace_back(exclusive, offset ^ exclusive);
    llvm::Value *&base = state.read_bases[exclusive];
    if (!base)
      base = exclusive ? builder_.CreateXor(thread, exclusive) : thread;
  }
}

void LdsPipelineEmitter::make_buffers() {
  llvm::MDBuilder metadata(lowering_.context_);
  llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain("staged");
  std::vector<llvm::Metadata *> all;
  std::vector<std::vector<llvm::MDNode *>> own(loads_.size());
  for (size_t i = 0; i < loads_.size(); ++i)
    for (unsigned b = 0; loop_.loads[i].through_lds && b < schedule_.buffers; ++b) {
      auto *type = llvm::ArrayType::get(builder_.getInt8Ty(), loads_[i].image_bytes);
      auto *buffer = new llvm::GlobalVariable(
          lowering_.module_, type, false, llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
          lowering_.function_.name + ".staged", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
      buffer->setAlignment(llvm::Align(1024));
      loads_[i].buffers.push_back(buffer);
      own[i].push_back(metadata.createAnonymousAliasScope(domain));
      all.push_back(own[i].back());
    }
  for (size_t i = 0; i < loads_.size(); ++i)
    for (llvm::MDNode *scope : own[i]) {
      std::vector<llvm::Metadata *> others;
      std::copy_if(all.begin(), all.end(), std::back_inserter(others),
                   [&](llvm::Metadata *other) { return other != scope; });
      loads_[i].scopes.push_back(llvm::MDNode::get(lowering_.context_, {scope}));
      loads_[i].other_scopes.push_back(llvm::MDNode::get(lowering_.context_, others));
    }
}

/// Loads of equal speed and distance share their scalar offset.
void LdsPipelineEmitter::make_addresses() {
  for (size_t i = 0; i < loads_.size(); ++i) {
    const PipelinedLoad &load = loop_.loads[i];
    lowering_.set_line(*load.op);
    if (load.through_lds) {
      make_copies(i);
      make_reads(i);
    } else {
      make_direct(i);
    }
    unsigned distance = load.through_lds ? schedule_.buffers : schedule_.load_distance();
    auto same = std::find_if(induction_offsets_.begin(), induction_offsets_.end(),
                             [&](const InductionOffset &moving) {
                               return moving.change == load.change && moving.distance == distance;
                             });
    loads_[i].moving = static_cast<size_t>(same - induction_offsets_.begin());
    if (same == induction_offsets_.end())
      induction_offsets_.push_back({load.change, distance, nullptr, nullptr});
  }
  make_buffers();
}

llvm::Value *LdsPipelineEmitter::load_unit(LoadGroup unit, llvm::Value *offset, llvm::Value *scalar_offset) {
  const LoadState &state = loads_[unit.load];
  const ir::Op &op = *loop_.loads[unit.load].op;
  lowering_.set_line(op);
  unsigned dwords = state.groups.access.elements() * ir::byte_size(lowering_.type(op.result()).element) / 4;
  llvm::Type *type = dwords == 1 ? i32_ : llvm::FixedVectorType::get(i32_, dwords);
  constexpr unsigned nontemporal = 2;
  bool streams = op.has("cache") && op.string("cache") == "stream";
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::amdgcn_raw_ptr_buffer_load, {type},
      {state.descriptor, offset, scalar_offset, builder_.getInt32(streams ? nontemporal : 0)});
}

void LdsPipelineEmitter::set_position(const ir::Op &op, unsigned column) {
  builder_.SetCurrentDebugLocation(
      llvm::DILocation::get(lowering_.context_, lowering_.index_.line(op), column, lowering_.subprogram_));
}

llvm::Value *LdsPipelineEmitter::read_unit(LoadGroup unit, unsigned buffer) {
  LoadState &state = loads_[unit.load];
  set_position(*loop_.loads[unit.load].op, part_);
  auto [exclusive, added] = state.reads[unit.group];
  llvm::Type *bytes = builder_.getInt8Ty();
  llvm::Value *place = builder_.CreateGEP(bytes, state.buffers[buffer], state.read_bases.at(exclusive));
  if (added)
    place = builder_.CreateGEP(bytes, place, builder_.getInt32(added));
  llvm::LoadInst *read = builder_.CreateAlignedLoad(llvm::FixedVectorType::get(i32_, copy_bytes / 4), place,
                                                    llvm::Align(copy_bytes));
  read->setMetadata(llvm::LLVMContext::MD_alias_scope, state.scopes[buffer]);
  read->setMetadata(llvm::LLVMContext::MD_noalias, state.other_scopes[buffer]);
  return read;
}

void LdsPipelineEmitter::copy(size_t load, size_t number, unsigned buffer, llvm::Value *offset,
                              llvm::Value *scalar_offset) {
  LoadState &state = loads_[load];
  set_position(*loop_.loads[load].op, part_);
  uint32_t added = lds_offset(load, state.copy_layout, state.copies.first[number], false);
  llvm::Value *target = builder_.CreateAdd(state.wave_target, builder_.getInt32(added), "", true, true);
  llvm::Value *place = builder_.CreateGEP(builder_.getInt8Ty(), state.buffers[buffer], target);
  llvm::CallInst *call =
      builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_raw_ptr_buffer_load_lds, {},
                               {state.descriptor, place, builder_.getInt32(copy_bytes), offset, scalar_offset,
                                builder_.getInt32(0), builder_.getInt32(0)});
  call->setMetadata(llvm::LLVMContext::MD_alias_scope, state.scopes[buffer]);
  call->setMetadata(llvm::LLVMContext::MD_noalias, state.other_scopes[buffer]);
}

} // namespace nereid::codegen
