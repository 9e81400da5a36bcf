// The steps of conversion plans as code: renamed registers, selects, shuffles and swaps of lanes, exchanges
// through LDS.
#include "codegen/lower/exchange.h"

#include <bit>
#include <tuple>

#include <fmt/format.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "codegen/lower/lane_moves.h"
#include "codegen/lower/llvm_types.h"
#include "codegen/lower/thread_position.h"
#include "codegen/plan/conversions.h"

namespace nereid::codegen {

Registers ExchangeEmitter::emit(const RenameStep &step, const Registers &old) {
  Registers result;
  for (uint32_t source : step.source)
    result.push_back(old[source]);
  return result;
}

Registers ExchangeEmitter::emit(const SelectStep &step, const Registers &old) {
  auto parity = [&](llvm::Value *bits, uint32_t mask) -> llvm::Value * {
    llvm::Value *ones = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, builder_.CreateAnd(bits, mask));
    return builder_.CreateAnd(ones, 1);
  };
  llvm::Value *of_wave = parity(context_.wave, step.wave_mask);
  llvm::Value *odd = builder_.CreateXor(parity(context_.lane, step.lane_mask), of_wave);
  llvm::Value *condition = builder_.CreateICmpNE(odd, builder_.getInt32(0));
  Registers result;
  for (size_t r = 0; r < old.size(); ++r)
    result.push_back(builder_.CreateSelect(condition, old[r ^ step.reg_xor], old[r]));
  return result;
}

/// Runs `move` on whole dwords of 2^pack_bits neighbouring registers each, as far as they fill them; gives
/// nothing where registers are not to be packed.
Registers
ExchangeEmitter::by_packed_dwords(const Registers &old, unsigned pack_bits,
                                  const std::function<Registers(const Registers &, unsigned)> &move) {
  llvm::Type *element = old[0]->getType();
  const unsigned bits = bits_of(element);
  const unsigned group = bits < 32 ? std::min(1u << pack_bits, 32 / std::max(bits, 8u)) : 1;
  if (bits >= 32 || bits < 8 || group == 1)
    return {};
  Registers dwords;
  for (size_t r = 0; r < old.size(); r += group) {
    Registers packed = packing_.pack(Registers(old.begin() + r, old.begin() + r + group), bits);
    dwords.push_back(packed[0]);
  }
  Registers moved = move(dwords, group);
  Registers result;
  for (llvm::Value *dword : moved) {
    Registers elements = packing_.unpack(dword, element, group);
    result.insert(result.end(), elements.begin(), elements.end());
  }
  return result;
}

Registers ExchangeEmitter::emit(const ShuffleStep &step, const Registers &old) {
  llvm::Value *thread = thread_offset(context_, step.lane_bases, step.wave_bases);
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
    result.push_back(by_dwords(builder_, old[r], [&](llvm::Value *dword) { return pull(dword, r); }));
  return result;
}

Registers ExchangeEmitter::swap_dwords(const SwapStep &step, const Registers &dwords, unsigned reg_bit) {
  Registers moved = dwords;
  for (size_t r = 0; r < dwords.size(); ++r) {
    size_t partner = r ^ (size_t(1) << reg_bit);
    if (partner > r)
      std::tie(moved[r], moved[partner]) =
          swap_with_lanes(context_, dwords[r], dwords[partner], step.lane_bit);
  }
  return moved;
}

/// Elements of 64 bits go in two halves, narrow ones alone in a dword.
Registers ExchangeEmitter::swap_halves(const SwapStep &step, const Registers &old) {
  llvm::Type *type = old[0]->getType();
  const unsigned bits = bits_of(type);
  Registers low, high;
  for (llvm::Value *value : old) {
    llvm::Value *whole = to_bits(builder_, value);
    low.push_back(builder_.CreateZExtOrTrunc(whole, builder_.getInt32Ty()));
    if (bits == 64)
      high.push_back(high_dword(builder_, whole));
  }
  low = swap_dwords(step, low, step.reg_bit);
  high = swap_dwords(step, high, step.reg_bit);
  Registers result;
  for (size_t r = 0; r < old.size(); ++r) {
    llvm::Value *whole = bits == 64 ? join_dwords(builder_, low[r], high[r]) : low[r];
    whole = builder_.CreateZExtOrTrunc(whole, builder_.getIntNTy(bits));
    result.push_back(from_bits(builder_, whole, type));
  }
  return result;
}

Registers ExchangeEmitter::emit(const SwapStep &step, const Registers &old) {
  Registers packed = by_packed_dwords(old, step.pack_bits, [&](const Registers &dwords, unsigned group) {
    return swap_dwords(step, dwords, step.reg_bit - static_cast<unsigned>(std::countr_zero(group)));
  });
  return packed.empty() ? swap_halves(step, old) : packed;
}

llvm::Value *ExchangeEmitter::lds_address(const LdsSide &side, const LdsAccess &access, llvm::Value *thread,
                                          unsigned bytes, llvm::Value *base) {
  llvm::Value *offset = builder_.CreateXor(thread, access.xor_offset);
  offset = builder_.CreateAdd(offset, builder_.getInt32(access.add_offset));
  for (const LdsSide::WaveRepeat &repeat : side.wave_repeats) {
    llvm::Value *digit = builder_.CreateLShr(context_.wave, side.wave_bases.size());
    digit = builder_.CreateURem(builder_.CreateUDiv(digit, builder_.getInt32(repeat.divisor)),
                                builder_.getInt32(repeat.count));
    offset = builder_.CreateAdd(offset, builder_.CreateMul(digit, builder_.getInt32(repeat.stride)));
  }
  return builder_.CreateGEP(builder_.getIntNTy(8 * bytes), base, offset);
}

void ExchangeEmitter::write(const LdsStep &step, unsigned pass, const Registers &old, llvm::Value *base) {
  const bool is_bool = old[0]->getType()->isIntegerTy(1);
  const unsigned bytes = step.write.access_bytes;
  llvm::Value *writer = thread_offset(context_, step.write.lane_bases, step.write.wave_bases);
  for (const LdsAccess &access : step.write.accesses) {
    if (access.pass != pass)
      continue;
    Registers elements;
    for (uint32_t r : access.registers)
      elements.push_back(is_bool ? builder_.CreateZExt(old[r], builder_.getInt8Ty()) : old[r]);
    llvm::Value *vector = dwords_to_vector(builder_, packing_.pack(elements, 8 * step.element_bytes));
    if (bytes < 4)
      vector = builder_.CreateTrunc(vector, access_type(builder_, bytes));
    builder_.CreateAlignedStore(vector, lds_address(step.write, access, writer, step.element_bytes, base),
                                llvm::Align(bytes));
  }
}

void ExchangeEmitter::read(const LdsStep &step, unsigned pass, llvm::Type *type, llvm::Value *base,
                           Registers &result) {
  const bool is_bool = type->isIntegerTy(1);
  llvm::Value *reader = thread_offset(context_, step.read.lane_bases, step.read.wave_bases);
  result.resize(step.registers);
  for (const LdsAccess &access : step.read.accesses) {
    if (access.pass != pass)
      continue;
    llvm::Value *vector =
        builder_.CreateAlignedLoad(access_type(builder_, step.read.access_bytes),
                                   lds_address(step.read, access, reader, step.element_bytes, base),
                                   llvm::Align(step.read.access_bytes));
    Registers elements = packing_.unpack(vector, is_bool ? builder_.getInt8Ty() : type,
                                         static_cast<unsigned>(access.registers.size()));
    for (size_t i = 0; i < access.registers.size(); ++i)
      result[access.registers[i]] =
          is_bool ? builder_.CreateICmpNE(elements[i], builder_.getInt8(0)) : elements[i];
  }
}

/// Earlier users of the scratch array are done with it after the first barrier.
Registers ExchangeEmitter::emit(const LdsStep &step, const Registers &old) {
  // Nobody can still be reading what the kernel's first exchange overwrites.
  const bool untouched = !lds_.has_scratch() && !context_.in_loop();
  llvm::Value *base = lds_.scratch(step.bytes());
  Registers result;
  for (unsigned pass = 0; pass < step.passes; ++pass) {
    if (!untouched || pass > 0)
      order_.barrier();
    write(step, pass, old, base);
    order_.barrier();
    read(step, pass, old[0]->getType(), base, result);
  }
  return result;
}

Registers ExchangeEmitter::run(const std::vector<ConversionStep> &steps, Registers registers) {
  for (const ConversionStep &step : steps)
    registers = std::visit([&](const auto &s) { return emit(s, registers); }, step);
  return registers;
}

Registers ExchangeEmitter::convert(const Registers &registers, const LinearLayout &from,
                                   const LinearLayout &to) {
  if (from.shape() != to.shape() || from.bits(Space::Lane) != to.bits(Space::Lane) ||
      from.waves() != to.waves())
    context_.fail(*context_.current(),
                  fmt::format("{}: a tile laid out as {} is wanted as {}",
                              ir::facts(context_.current()->opcode).name, from.text(), to.text()),
                  "this is a defect of Nereid; please report it with the kernel");
  const ConversionOptions options =
      conversion_options(context_.function().options, context_.wave_split_loop() != nullptr);
  Result<ConversionPlan> plan = plan_conversion(from, to, bits_of(registers[0]->getType()), options);
  if (!plan)
    fail(plan.error());
  return run(plan->steps, registers);
}

} // namespace nereid::codegen
