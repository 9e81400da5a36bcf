#include <fmt/format.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lower.h"
#include "codegen/lower/lowering.h"
#include "codegen/plan/conversions.h"

namespace nereid::codegen {

namespace {

unsigned bits_of(llvm::Type *type) {
  return type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits());
}

} // namespace

/// xor of the columns that the bits of lane and wave select.
llvm::Value *Lowering::thread_offset(const std::vector<uint32_t> &lane_bases,
                                     const std::vector<uint32_t> &wave_bases) {
  auto sum = [&](llvm::Value *bits, const std::vector<uint32_t> &bases) {
    llvm::Value *total = builder_.getInt32(0);
    for (unsigned i = 0; i < bases.size();) {
      unsigned end = i + 1;
      while (bases[i] != 0 && end < bases.size() && bases[end] == bases[i] << (end - i))
        ++end;
      std::vector<uint64_t> run(bases.size(), 0);
      for (unsigned j = i; j < end; ++j)
        run[j] = bases[j];
      total = builder_.CreateXor(total, linear(bits, run, builder_.getInt32(0)));
      i = end;
    }
    return total;
  };
  return builder_.CreateXor(sum(lane_, lane_bases), sum(wave_, wave_bases));
}

Registers Lowering::emit(const RenameStep &step, const Registers &old) {
  Registers result;
  for (uint32_t source : step.source)
    result.push_back(old[source]);
  return result;
}

Registers Lowering::emit(const SelectStep &step, const Registers &old) {
  auto parity = [&](llvm::Value *bits, uint32_t mask) -> llvm::Value * {
    llvm::Value *ones = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, builder_.CreateAnd(bits, mask));
    return builder_.CreateAnd(ones, 1);
  };
  llvm::Value *odd = builder_.CreateXor(parity(lane_, step.lane_mask), parity(wave_, step.wave_mask));
  llvm::Value *condition = builder_.CreateICmpNE(odd, builder_.getInt32(0));
  Registers result;
  for (size_t r = 0; r < old.size(); ++r)
    result.push_back(builder_.CreateSelect(condition, old[r ^ step.reg_xor], old[r]));
  return result;
}

/// Runs `move` on whole dwords of 2^pack_bits neighbouring registers each, as far as they fill them.
Registers Lowering::by_packed_dwords(const Registers &old, unsigned pack_bits,
                                     const std::function<Registers(const Registers &, unsigned)> &move) {
  unsigned bits = bits_of(old[0]->getType());
  unsigned group = bits < 32 ? std::min(1u << pack_bits, 32 / std::max(bits, 8u)) : 1;
  llvm::Type *element = old[0]->getType();
  if (bits >= 32 || bits < 8 || group == 1)
    return {};
  Registers dwords;
  for (size_t r = 0; r < old.size(); r += group) {
    Registers packed = pack(Registers(old.begin() + r, old.begin() + r + group), bits);
    dwords.push_back(packed[0]);
  }
  Registers moved = move(dwords, group);
  Registers result;
  for (llvm::Value *dword : moved) {
    Registers elements = unpack(dword, element, group);
    result.insert(result.end(), elements.begin(), elements.end());
  }
  return result;
}

Registers Lowering::emit(const ShuffleStep &step, const Registers &old) {
  llvm::Value *thread = thread_offset(step.lane_bases, step.wave_bases);
  auto pull = [&](llvm::Value *dword, uint32_t reg) {
    llvm::Value *lane = builder_.CreateXor(thread, step.source_lane(reg, 0, 0));
    return builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_ds_bpermute,
                                    {builder_.CreateShl(lane, 2), dword});
  };
  Registers packed = by_packed_dwords(old, step.pack_bits, [&](const Registers &dwords, unsigned group) {
    Registers moved;
    for (size_t i = 0; i < dwords.size(); ++i)
      moved.push_back(pull(dwords[i], static_cast<uint32_t>(i * group)));
    return moved;
  });
  if (!packed.empty())
    return packed;
  Registers result;
  for (uint32_t r = 0; r < old.size(); ++r)
    result.push_back(by_dwords(old[r], [&](llvm::Value *dword) { return pull(dword, r); }));
  return result;
}

Registers Lowering::swap_dwords(const SwapStep &step, const Registers &dwords, unsigned reg_bit) {
  Registers moved = dwords;
  for (size_t r = 0; r < dwords.size(); ++r) {
    size_t partner = r ^ (size_t(1) << reg_bit);
    if (partner < r)
      continue;
    llvm::Value *pair =
        builder_.CreateIntrinsic(step.lane_bit == 4 ? llvm::Intrinsic::amdgcn_permlane16_swap
                                                    : llvm::Intrinsic::amdgcn_permlane32_swap,
                                 {dwords[r], dwords[partner], builder_.getFalse(), builder_.getFalse()});
    moved[r] = builder_.CreateExtractValue(pair, 0);
    moved[partner] = builder_.CreateExtractValue(pair, 1);
  }
  return moved;
}

Registers Lowering::emit(const SwapStep &step, const Registers &old) {
  Registers packed = by_packed_dwords(old, step.pack_bits, [&](const Registers &dwords, unsigned group) {
    return swap_dwords(step, dwords, step.reg_bit - static_cast<unsigned>(std::countr_zero(group)));
  });
  if (!packed.empty())
    return packed;
  llvm::Type *type = old[0]->getType();
  unsigned bits = bits_of(type);
  Registers low, high;
  for (llvm::Value *value : old) {
    llvm::Value *whole = to_bits(value);
    low.push_back(builder_.CreateZExtOrTrunc(whole, builder_.getInt32Ty()));
    if (bits == 64)
      high.push_back(builder_.CreateTrunc(builder_.CreateLShr(whole, 32), builder_.getInt32Ty()));
  }
  low = swap_dwords(step, low, step.reg_bit);
  high = swap_dwords(step, high, step.reg_bit);
  Registers result;
  for (size_t r = 0; r < old.size(); ++r) {
    llvm::Value *whole = low[r];
    if (bits == 64)
      whole = builder_.CreateOr(builder_.CreateZExt(low[r], builder_.getInt64Ty()),
                                builder_.CreateShl(builder_.CreateZExt(high[r], builder_.getInt64Ty()), 32));
    result.push_back(from_bits(builder_.CreateZExtOrTrunc(whole, builder_.getIntNTy(bits)), type));
  }
  return result;
}

llvm::Value *Lowering::lds_address(const LdsSide &side, const LdsAccess &access, llvm::Value *thread,
                                   unsigned bytes, llvm::Value *base) {
  llvm::Value *offset = builder_.CreateXor(thread, access.xor_offset);
  offset = builder_.CreateAdd(offset, builder_.getInt32(access.add_offset));
  for (const LdsSide::WaveRepeat &repeat : side.wave_repeats) {
    llvm::Value *digit = builder_.CreateLShr(wave_, side.wave_bases.size());
    digit = builder_.CreateURem(builder_.CreateUDiv(digit, builder_.getInt32(repeat.divisor)),
                                builder_.getInt32(repeat.count));
    offset = builder_.CreateAdd(offset, builder_.CreateMul(digit, builder_.getInt32(repeat.stride)));
  }
  return builder_.CreateGEP(builder_.getIntNTy(8 * bytes), base, offset);
}

llvm::Type *Lowering::lds_access_type(unsigned bytes) {
  if (bytes <= 4)
    return builder_.getIntNTy(8 * bytes);
  return llvm::FixedVectorType::get(builder_.getInt32Ty(), bytes / 4);
}

void Lowering::write_lds(const LdsStep &step, unsigned pass, const Registers &old, llvm::Value *base) {
  const bool is_bool = old[0]->getType()->isIntegerTy(1);
  llvm::Value *writer = thread_offset(step.write.lane_bases, step.write.wave_bases);
  for (const LdsAccess &access : step.write.accesses) {
    if (access.pass != pass)
      continue;
    Registers elements;
    for (uint32_t r : access.registers)
      elements.push_back(is_bool ? builder_.CreateZExt(old[r], builder_.getInt8Ty()) : old[r]);
    llvm::Value *vector = dwords_to_vector(pack(elements, 8 * step.element_bytes));
    if (step.write.access_bytes < 4)
      vector = builder_.CreateTrunc(vector, lds_access_type(step.write.access_bytes));
    builder_.CreateAlignedStore(vector, lds_address(step.write, access, writer, step.element_bytes, base),
                                llvm::Align(step.write.access_bytes));
  }
}

void Lowering::read_lds(const LdsStep &step, unsigned pass, llvm::Type *type, llvm::Value *base,
                        Registers &result) {
  const bool is_bool = type->isIntegerTy(1);
  llvm::Value *reader = thread_offset(step.read.lane_bases, step.read.wave_bases);
  result.resize(step.registers);
  for (const LdsAccess &access : step.read.accesses) {
    if (access.pass != pass)
      continue;
    llvm::Value *vector =
        builder_.CreateAlignedLoad(lds_access_type(step.read.access_bytes),
                                   lds_address(step.read, access, reader, step.element_bytes, base),
                                   llvm::Align(step.read.access_bytes));
    Registers elements =
        unpack(vector, is_bool ? builder_.getInt8Ty() : type, static_cast<unsigned>(access.registers.size()));
    for (size_t i = 0; i < access.registers.size(); ++i)
      result[access.registers[i]] =
          is_bool ? builder_.CreateICmpNE(elements[i], builder_.getInt8(0)) : elements[i];
  }
}

/// Earlier users of LDS are done with it after the first barrier. A wave that reads only what it wrote needs
/// none of its own, but the order of its accesses.
Registers Lowering::emit(const LdsStep &step, const Registers &old) {
  // Nobody can still be reading what the kernel's first exchange overwrites.
  const bool untouched = !lds_ && loop_depth_ == 0;
  llvm::Value *base = lds(step.bytes());
  Registers result;
  for (unsigned pass = 0; pass < step.passes; ++pass) {
    if (!untouched || pass > 0)
      barrier();
    write_lds(step, pass, old, base);
    barrier();
    read_lds(step, pass, old[0]->getType(), base, result);
  }
  return result;
}

Registers Lowering::convert(const Registers &registers, const LinearLayout &from, const LinearLayout &to) {
  if (from.shape() != to.shape() || from.bits(Space::Lane) != to.bits(Space::Lane) ||
      from.waves() != to.waves()) {
    fail(*current_,
         fmt::format("{}: a tile laid out as {} is wanted as {}", ir::facts(current_->opcode).name,
                     from.text(), to.text()),
         "this is a defect of Nereid; please report it with the kernel");
    return Registers(to.registers(), llvm::PoisonValue::get(registers[0]->getType()));
  }
  Result<ConversionPlan> plan = plan_conversion(from, to, bits_of(registers[0]->getType()),
                                                conversion_options(function_.options, wave_split_loop_));
  if (!plan) {
    fail(plan.error());
    return Registers(to.registers(), llvm::PoisonValue::get(registers[0]->getType()));
  }
  Registers current = registers;
  for (const ConversionStep &step : plan->steps)
    current = std::visit([&](const auto &s) { return emit(s, current); }, step);
  return current;
}

} // namespace nereid::codegen
