// Reductions along an axis, and over waves.
#include "codegen/lower/reduce.h"

#include <bit>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/reduction_axis.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/lower/casts.h"
#include "codegen/lower/elementwise.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/pairs.h"
#include "codegen/lower/thread_position.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

/// The layout with one more dimension, the innermost, of 2^count elements, along which nothing walks.
struct Extended {
  ir::Shape shape;
  std::array<std::vector<uint64_t>, 3> bases;
  std::vector<Repeat> repeats;

  Extended(const LinearLayout &layout, unsigned count) : shape(layout.shape()), repeats(layout.repeats()) {
    shape.push_back(int64_t(1) << count);
    for (Space space : all_spaces)
      for (uint64_t flat_basis : layout.bases(space))
        bases[static_cast<unsigned>(space)].push_back(flat_basis << count);
  }
  LinearLayout layout() const { return LinearLayout::from_flat_bases(shape, bases, repeats); }
};

/// The tiles of waves, whose numbers differ in the bits `waves`, side by side along one more dimension.
LinearLayout along_waves(const LinearLayout &layout, uint32_t waves) {
  Extended result(layout, static_cast<unsigned>(std::popcount(waves)));
  unsigned next = 0;
  for (unsigned bit = 0; bit < layout.bits(Space::Wave); ++bit)
    if (waves >> bit & 1)
      result.bases[2][bit] = uint64_t(1) << next++;
  return result.layout();
}

/// 2^count tiles side by side in a lane's lowest registers.
LinearLayout along_registers(const LinearLayout &layout, unsigned count) {
  Extended result(layout, count);
  for (unsigned bit = 0; bit < count; ++bit)
    result.bases[0].insert(result.bases[0].begin() + bit, uint64_t(1) << bit);
  return result.layout();
}

/// Leaves one or two sums of all.
void sum_in_pairs(llvm::IRBuilder<> &builder, Registers &values) {
  if (values.size() < 4 || values.size() % 2 != 0)
    return;
  Registers pairs;
  for (size_t i = 0; i < values.size(); i += 2)
    pairs.push_back(pair_of(builder, values[i], values[i + 1]));
  while (pairs.size() > 1) {
    const size_t half = (pairs.size() + 1) / 2;
    for (size_t i = 0; i + half < pairs.size(); ++i)
      pairs[i] = builder.CreateFAdd(pairs[i], pairs[i + half]);
    pairs.resize(half);
  }
  values = {builder.CreateExtractElement(pairs[0], uint64_t{0}),
            builder.CreateExtractElement(pairs[0], uint64_t{1})};
}

} // namespace

Registers sum_over_waves(llvm::IRBuilder<> &builder, ExchangeEmitter &exchange, const Registers &accumulators,
                         const LinearLayout &layout, const LinearLayout &result) {
  const unsigned count = layout.bits(Space::Wave);
  const Registers parts =
      exchange.convert(accumulators, along_waves(layout, (1u << count) - 1), along_registers(result, count));
  // Pairs of f32 are added by one instruction.
  const size_t waves = size_t(1) << count, sums = parts.size() / waves;
  const bool in_pairs = parts[0]->getType()->isFloatTy() && sums % 2 == 0;
  const size_t width = in_pairs ? 2 : 1;
  const auto part = [&](size_t sum, size_t wave) {
    if (!in_pairs)
      return parts[sum * waves + wave];
    llvm::Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getFloatTy(), 2));
    for (size_t i = 0; i < width; ++i)
      pair = builder.CreateInsertElement(pair, parts[(sum + i) * waves + wave], i);
    return pair;
  };
  Registers totals;
  for (size_t sum = 0; sum < sums; sum += width) {
    llvm::Value *total = part(sum, 0);
    for (size_t wave = 1; wave < waves; ++wave)
      total = in_pairs ? builder.CreateFAdd(total, part(sum, wave))
                       : add_numbers(builder, total, part(sum, wave));
    for (size_t i = 0; i < width; ++i)
      totals.push_back(in_pairs ? builder.CreateExtractElement(total, i) : total);
  }
  return totals;
}

llvm::Value *ReduceEmitter::combine(const Combining &how, llvm::Value *a, llvm::Value *b) {
  switch (how.opcode) {
  case ir::Opcode::ReduceAny:
    return builder_.CreateOr(a, b);
  case ir::Opcode::ReduceSum:
    return add_numbers(builder_, a, b);
  default: {
    const bool is_max = how.opcode == ir::Opcode::ReduceMax;
    const ir::Opcode pair = is_max ? ir::Opcode::Max : ir::Opcode::Min;
    if (how.numbers_only) {
      llvm::CallInst *extreme = llvm::cast<llvm::CallInst>(
          builder_.CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, a, b));
      extreme->setHasNoNaNs(true);
      return extreme;
    }
    return how.is_float() ? float_binary(builder_, pair, a, b)
                          : integer_binary(builder_, pair, ir::is_signed(how.element), a, b);
  }
  }
}

/// Sums in pairs of f32, an instruction for two; the extremes of three floats are one instruction.
llvm::Value *ReduceEmitter::reduce_registers(const Combining &how, Registers values) {
  const bool is_float = values[0]->getType()->isFloatTy();
  if (is_float && how.opcode == ir::Opcode::ReduceSum)
    sum_in_pairs(builder_, values);
  const bool in_threes =
      is_float && (how.opcode == ir::Opcode::ReduceMax || how.opcode == ir::Opcode::ReduceMin);
  while (in_threes && values.size() > 2) {
    Registers next;
    for (size_t i = 0; i < values.size(); ++i)
      if (i % 3 == 0)
        next.push_back(values[i]);
      else
        next.back() = combine(how, next.back(), values[i]);
    values = std::move(next);
  }
  while (values.size() > 1) {
    for (size_t i = 0; 2 * i + 1 < values.size(); ++i)
      values[i] = combine(how, values[2 * i], values[2 * i + 1]);
    if (values.size() % 2 != 0)
      values[values.size() / 2] = values.back();
    values.resize((values.size() + 1) / 2);
  }
  return values[0];
}

llvm::Value *ReduceEmitter::reduce_lanes(const Combining &how, llvm::Value *value, uint32_t lanes) {
  constexpr uint32_t all = gfx950::lanes - 1;
  if (lanes == all && value->getType()->getPrimitiveSizeInBits() == 32)
    return how.is_float() && how.opcode != ir::Opcode::ReduceSum ? extreme_of_lanes(how, value)
                                                                 : reduce_all_lanes(how, value);
  for (unsigned bit = 0; bit < gfx950::log2_lanes; ++bit)
    if (lanes >> bit & 1) {
      const auto [one, other] = lane_and_partner(context_, value, bit, lanes & ((1u << bit) - 1));
      value = combine(how, one, other);
    }
  return value;
}

/// The last lane collects the rows of 16; its result goes to a scalar register.
llvm::Value *ReduceEmitter::reduce_all_lanes(const Combining &how, llvm::Value *value) {
  for (unsigned bit = 0; bit < gfx950::log2_lanes; ++bit) {
    const auto [one, other] = 1u << bit < gfx950::row_lanes
                                  ? lane_and_partner(context_, value, bit, (1u << bit) - 1)
                                  : lane_and_rows_below(context_, value, bit);
    value = combine(how, one, other);
  }
  return of_last_lane(builder_, value);
}

/// v_max_f32 and v_min_f32 take a lane move, as v_maximum3_f32 does not, but let a NaN pass for the other
/// value: whether a lane has one is asked once.
llvm::Value *ReduceEmitter::extreme_of_lanes(const Combining &how, llvm::Value *value) {
  llvm::Value *is_nan = builder_.CreateFCmpUNO(value, value);
  llvm::Value *lanes =
      builder_.CreateIntrinsic(llvm::Intrinsic::amdgcn_ballot, {builder_.getInt64Ty()}, {is_nan});
  llvm::Value *extreme = reduce_all_lanes({how.opcode, how.element, /*numbers_only=*/true}, value);
  // As integers, which scalar instructions combine: any number and these bits are a NaN.
  constexpr uint32_t quiet_nan = 0x7fc00000;
  llvm::Value *nan = builder_.CreateSelect(builder_.CreateICmpEQ(lanes, builder_.getInt64(0)),
                                           builder_.getInt32(0), builder_.getInt32(quiet_nan));
  llvm::Value *bits = builder_.CreateOr(builder_.CreateFreeze(to_bits(builder_, extreme)), nan);
  return from_bits(builder_, bits, value->getType());
}

Registers ReduceEmitter::reduce_waves(const Combining &how, const Registers &values,
                                      const LinearLayout &layout, uint32_t waves) {
  const auto count = static_cast<unsigned>(std::popcount(waves));
  const Registers of_waves =
      exchange_.convert(values, along_waves(layout, waves), along_registers(layout, count));
  Registers result;
  for (size_t r = 0; r < values.size(); ++r) {
    llvm::Value *total = of_waves[r << count];
    for (size_t wave = 1; wave < size_t(1) << count; ++wave)
      total = combine(how, total, of_waves[(r << count) + wave]);
    result.push_back(total);
  }
  return result;
}

Registers ReduceEmitter::reduce_axis(const Combining &how, const Registers &values,
                                     const LinearLayout &layout, unsigned axis) {
  const AxisBits on_axis = *axis_bits(layout, axis);
  Registers reduced;
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, on_axis.registers)) {
    Registers row;
    for (uint32_t r : along)
      row.push_back(values[r]);
    reduced.push_back(reduce_lanes(how, reduce_registers(how, std::move(row)), on_axis.lanes));
  }
  return on_axis.waves == 0
             ? reduced
             : reduce_waves(how, reduced, nereid::codegen::reduce(layout, axis), on_axis.waves);
}

/// A NaN is the maximum: where there is one, the maximum is a NaN, to which no other value is equal.
Registers ReduceEmitter::argmax(const Combining &how, const Registers &values, const LinearLayout &layout,
                                unsigned axis) {
  const Registers maxima = reduce_axis({ir::Opcode::ReduceMax, how.element}, values, layout, axis);
  const AxisBits on_axis = *axis_bits(layout, axis);
  const auto rows = registers_along(layout, axis, on_axis.registers);
  llvm::Value *thread = thread_coordinate(context_, layout, axis);
  Registers indices(values.size());
  for (size_t row = 0; row < rows.size(); ++row)
    for (uint32_t r : rows[row]) {
      llvm::Value *is_greatest = how.is_float()
                                     ? builder_.CreateOr(builder_.CreateFCmpOEQ(values[r], maxima[row]),
                                                         builder_.CreateFCmpUNO(values[r], values[r]))
                                     : builder_.CreateICmpEQ(values[r], maxima[row]);
      llvm::Value *index = coordinate_of_register(builder_, layout, axis, thread, r);
      indices[r] = builder_.CreateSelect(is_greatest, index, builder_.getInt32(INT32_MAX));
    }
  return reduce_axis({ir::Opcode::ReduceMin, ir::Element::I32}, indices, layout, axis);
}

/// Narrow floats are reduced as f32 and rounded once, at the end.
void ReduceEmitter::emit(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  LinearLayout layout = values_.available_layout(op.operands[0]);
  if (!axis_bits(layout, axis))
    layout = default_layout(context_.type(op.operands[0]).shape, context_.function().options.waves);
  const Combining how{op.opcode, context_.type(op.operands[0]).element};
  Registers values = values_.get(op.operands[0], layout);
  if (how.is_float())
    for (llvm::Value *&value : values)
      value = widen(builder_, value);
  Registers reduced = op.opcode == ir::Opcode::ArgMax ? argmax(how, values, layout, axis)
                                                      : reduce_axis(how, values, layout, axis);
  const ir::Element element = context_.type(op.result()).element;
  if (ir::is_float(element))
    for (llvm::Value *&value : reduced)
      value = narrow(builder_, value, element);
  values_.define_result(op.result(), nereid::codegen::reduce(layout, axis), reduced);
}

} // namespace nereid::codegen
