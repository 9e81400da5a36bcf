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

namespace nereid::codegen {

namespace {

/// a's index is the smaller one where it matters not which is first; equal values keep the smaller index, and
/// a NaN is the largest value.
llvm::Value *second_wins(llvm::IRBuilder<> &builder, bool is_signed, const Registers &a, const Registers &b) {
  llvm::Value *x = a[0], *y = b[0];
  llvm::Value *earlier = builder.CreateICmpSLT(b[1], a[1]);
  if (!x->getType()->isFloatTy()) {
    llvm::Value *greater = is_signed ? builder.CreateICmpSGT(y, x) : builder.CreateICmpUGT(y, x);
    return builder.CreateOr(greater, builder.CreateAnd(builder.CreateICmpEQ(x, y), earlier));
  }
  llvm::Value *x_nan = builder.CreateFCmpUNO(x, x), *y_nan = builder.CreateFCmpUNO(y, y);
  llvm::Value *greater =
      builder.CreateOr(builder.CreateFCmpOGT(y, x), builder.CreateAnd(y_nan, builder.CreateNot(x_nan)));
  llvm::Value *equal = builder.CreateOr(builder.CreateFCmpOEQ(x, y), builder.CreateAnd(x_nan, y_nan));
  return builder.CreateOr(greater, builder.CreateAnd(equal, earlier));
}

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
void sum_in_pairs(llvm::IRBuilder<> &builder, std::vector<Registers> &parts) {
  if (parts.size() < 4 || parts.size() % 2 != 0)
    return;
  Registers pairs;
  for (size_t i = 0; i < parts.size(); i += 2)
    pairs.push_back(pair_of(builder, parts[i][0], parts[i + 1][0]));
  while (pairs.size() > 1) {
    const size_t half = (pairs.size() + 1) / 2;
    for (size_t i = 0; i + half < pairs.size(); ++i)
      pairs[i] = builder.CreateFAdd(pairs[i], pairs[i + half]);
    pairs.resize(half);
  }
  parts = {{builder.CreateExtractElement(pairs[0], uint64_t{0})},
           {builder.CreateExtractElement(pairs[0], uint64_t{1})}};
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

ReduceEmitter::Part ReduceEmitter::combine(const ir::Op &op, const Part &a, const Part &b) {
  const ir::Element element = context_.type(op.operands[0]).element;
  switch (op.opcode) {
  case ir::Opcode::ArgMax: {
    llvm::Value *second = second_wins(builder_, ir::is_signed(element), a, b);
    return {builder_.CreateSelect(second, b[0], a[0]), builder_.CreateSelect(second, b[1], a[1])};
  }
  case ir::Opcode::ReduceAny:
    return {builder_.CreateOr(a[0], b[0])};
  case ir::Opcode::ReduceSum:
    return {add_numbers(builder_, a[0], b[0])};
  default: {
    ir::Opcode pair = op.opcode == ir::Opcode::ReduceMax ? ir::Opcode::Max : ir::Opcode::Min;
    return {ir::is_float(element) ? float_binary(builder_, pair, a[0], b[0])
                                  : integer_binary(builder_, pair, ir::is_signed(element), a[0], b[0])};
  }
  }
}

/// Narrow floats are reduced as f32 and rounded once, at the end.
std::vector<ReduceEmitter::Part> ReduceEmitter::parts_of(const ir::Op &op, const LinearLayout &layout,
                                                         unsigned axis) {
  const Registers values = values_.get(op.operands[0], layout);
  const bool is_float = ir::is_float(context_.type(op.operands[0]).element);
  llvm::Value *thread = op.opcode == ir::Opcode::ArgMax ? thread_coordinate(context_, layout, axis) : nullptr;
  std::vector<Part> parts;
  for (uint32_t r = 0; r < values.size(); ++r) {
    parts.push_back({is_float ? widen(builder_, values[r]) : values[r]});
    if (thread)
      parts.back().push_back(coordinate_of_register(builder_, layout, axis, thread, r));
  }
  return parts;
}

/// Sums in pairs of f32, an instruction for two; the extremes of three floats are one instruction.
ReduceEmitter::Part ReduceEmitter::reduce_registers(const ir::Op &op, std::vector<Part> parts) {
  if (parts[0][0]->getType()->isFloatTy() && op.opcode == ir::Opcode::ReduceSum)
    sum_in_pairs(builder_, parts);
  const bool in_threes = parts[0][0]->getType()->isFloatTy() &&
                         (op.opcode == ir::Opcode::ReduceMax || op.opcode == ir::Opcode::ReduceMin);
  while (in_threes && parts.size() > 2) {
    std::vector<Part> next;
    for (size_t i = 0; i < parts.size(); i += 3) {
      next.push_back(parts[i]);
      for (size_t k = i + 1; k < std::min(i + 3, parts.size()); ++k)
        next.back() = combine(op, next.back(), parts[k]);
    }
    parts = std::move(next);
  }
  while (parts.size() > 1) {
    for (size_t i = 0; 2 * i + 1 < parts.size(); ++i)
      parts[i] = combine(op, parts[2 * i], parts[2 * i + 1]);
    if (parts.size() % 2 != 0)
      parts[parts.size() / 2] = parts.back();
    parts.resize((parts.size() + 1) / 2);
  }
  return parts[0];
}

ReduceEmitter::Part ReduceEmitter::reduce_lanes(const ir::Op &op, Part part, uint32_t lanes) {
  for (unsigned bit = 0; bit < 6; ++bit)
    if (lanes >> bit & 1) {
      Part first, second;
      for (llvm::Value *value : part) {
        // The fields of a part keep one order: the values and indices of an argmax.
        const auto [one, other] = part.size() == 1
                                      ? lane_and_partner(context_, value, bit, lanes & ((1u << bit) - 1))
                                      : std::pair(value, shuffle_xor(context_, value, bit));
        first.push_back(one);
        second.push_back(other);
      }
      part = combine(op, first, second);
    }
  return part;
}

std::vector<ReduceEmitter::Part> ReduceEmitter::reduce_waves(const ir::Op &op, const std::vector<Part> &parts,
                                                             const LinearLayout &layout, uint32_t waves) {
  const auto count = static_cast<unsigned>(std::popcount(waves));
  const LinearLayout from = along_waves(layout, waves), to = along_registers(layout, count);
  std::vector<Registers> fields;
  for (size_t field = 0; field < parts[0].size(); ++field) {
    Registers values;
    for (const Part &part : parts)
      values.push_back(part[field]);
    fields.push_back(exchange_.convert(values, from, to));
  }
  std::vector<Part> result(parts.size());
  for (size_t r = 0; r < parts.size(); ++r)
    for (size_t wave = 0; wave < size_t(1) << count; ++wave) {
      Part part;
      for (const Registers &field : fields)
        part.push_back(field[(r << count) + wave]);
      result[r] = wave == 0 ? part : combine(op, result[r], part);
    }
  return result;
}

void ReduceEmitter::emit(const ir::Op &op) {
  const auto axis = static_cast<unsigned>(op.integer("axis"));
  LinearLayout layout = values_.available_layout(op.operands[0]);
  std::optional<AxisBits> on_axis = axis_bits(layout, axis);
  if (!on_axis) {
    layout = default_layout(context_.type(op.operands[0]).shape, context_.function().options.waves);
    on_axis = axis_bits(layout, axis);
  }
  const std::vector<Part> parts = parts_of(op, layout, axis);
  std::vector<Part> reduced;
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, on_axis->registers)) {
    std::vector<Part> row;
    for (uint32_t r : along)
      row.push_back(parts[r]);
    reduced.push_back(reduce_lanes(op, reduce_registers(op, std::move(row)), on_axis->lanes));
  }
  const LinearLayout result = nereid::codegen::reduce(layout, axis);
  if (on_axis->waves != 0)
    reduced = reduce_waves(op, reduced, result, on_axis->waves);
  const ir::Element element = context_.type(op.result()).element;
  Registers registers;
  for (const Part &part : reduced)
    registers.push_back(ir::is_float(element) ? narrow(builder_, part.back(), element) : part.back());
  values_.define_result(op.result(), result, registers);
}

} // namespace nereid::codegen
