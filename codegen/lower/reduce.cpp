#include <bit>

#include "codegen/assign/reduction_axis.h"
#include "codegen/layout/layout_transforms.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// a's index is the smaller one where it matters not which is first; equal values keep the smaller index, and
/// a NaN is the largest value.
static llvm::Value *second_wins(llvm::IRBuilder<> &builder, bool is_signed, const Registers &a,
                                const Registers &b) {
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

Lowering::Part Lowering::combine(const ir::Op &op, const Part &a, const Part &b) {
  ir::Element element = context_.type(op.operands[0]).element;
  bool is_float = ir::is_float(element);
  switch (op.opcode) {
  case ir::Opcode::ArgMax: {
    llvm::Value *second = second_wins(builder_, ir::is_signed(element), a, b);
    return {builder_.CreateSelect(second, b[0], a[0]), builder_.CreateSelect(second, b[1], a[1])};
  }
  case ir::Opcode::ReduceAny:
    return {builder_.CreateOr(a[0], b[0])};
  case ir::Opcode::ReduceSum:
    return {is_float ? builder_.CreateFAdd(a[0], b[0]) : builder_.CreateAdd(a[0], b[0])};
  default: {
    ir::Opcode pair = op.opcode == ir::Opcode::ReduceMax ? ir::Opcode::Max : ir::Opcode::Min;
    return {is_float ? float_binary(builder_, pair, a[0], b[0])
                     : integer_binary(builder_, pair, ir::is_signed(element), a[0], b[0])};
  }
  }
}

/// Narrow floats are summed as f32 and rounded once, at the end.
std::vector<Lowering::Part> Lowering::parts_of(const ir::Op &op, const LinearLayout &layout, unsigned axis) {
  Registers values = values_.get(op.operands[0], layout);
  bool is_float = ir::is_float(context_.type(op.operands[0]).element);
  llvm::Value *thread = op.opcode == ir::Opcode::ArgMax ? thread_coordinate(context_, layout, axis) : nullptr;
  std::vector<Part> parts;
  for (uint32_t r = 0; r < values.size(); ++r) {
    parts.push_back({is_float ? widen(builder_, values[r]) : values[r]});
    if (thread)
      parts.back().push_back(coordinate_of_register(builder_, layout, axis, thread, r));
  }
  return parts;
}

Lowering::Part Lowering::reduce_lanes(const ir::Op &op, Part part, uint32_t lanes) {
  for (unsigned bit = 0; bit < 6; ++bit)
    if (lanes >> bit & 1) {
      Part other;
      for (llvm::Value *value : part)
        other.push_back(shuffle_xor(context_, value, bit));
      part = combine(op, part, other);
    }
  return part;
}

/// The waves' results side by side as a tile with one more dimension, which then comes to lie in registers.
std::vector<Lowering::Part> Lowering::reduce_waves(const ir::Op &op, std::vector<Part> parts,
                                                   const LinearLayout &layout, uint32_t waves) {
  auto count = static_cast<unsigned>(std::popcount(waves));
  ir::Shape shape = layout.shape();
  shape.push_back(int64_t(1) << count);
  std::array<std::vector<uint64_t>, 3> from;
  for (Space space : all_spaces)
    for (uint64_t flat_basis : layout.bases(space))
      from[static_cast<unsigned>(space)].push_back(flat_basis << count);
  std::array<std::vector<uint64_t>, 3> to = from;
  unsigned next = 0;
  for (unsigned bit = 0; bit < layout.bits(Space::Wave); ++bit)
    if (waves >> bit & 1)
      from[2][bit] = uint64_t(1) << next++;
  for (unsigned bit = 0; bit < count; ++bit)
    to[0].insert(to[0].begin() + bit, uint64_t(1) << bit);
  std::vector<Part> result(parts.size());
  std::vector<Registers> fields;
  for (size_t field = 0; field < parts[0].size(); ++field) {
    Registers values;
    for (const Part &part : parts)
      values.push_back(part[field]);
    fields.push_back(exchange_.convert(values, LinearLayout::from_flat_bases(shape, from, layout.repeats()),
                                       LinearLayout::from_flat_bases(shape, to, layout.repeats())));
  }
  for (size_t r = 0; r < parts.size(); ++r)
    for (size_t wave = 0; wave < size_t(1) << count; ++wave) {
      Part part;
      for (const Registers &field : fields)
        part.push_back(field[(r << count) + wave]);
      result[r] = wave == 0 ? part : combine(op, result[r], part);
    }
  return result;
}

/// Each wave holds a sum of the whole tile in `layout`; the waves' sums are added in their order. The wave is
/// one more dimension, which comes to lie in registers.
Registers Lowering::sum_over_waves(const Registers &accumulators, const LinearLayout &layout,
                                   const LinearLayout &result) {
  unsigned count = layout.bits(Space::Wave);
  ir::Shape shape = layout.shape();
  shape.push_back(int64_t(1) << count);
  std::array<std::vector<uint64_t>, 3> from, to;
  for (Space space : all_spaces) {
    auto at = static_cast<unsigned>(space);
    for (uint64_t flat_basis : layout.bases(space))
      from[at].push_back(flat_basis << count);
    for (uint64_t flat_basis : result.bases(space))
      to[at].push_back(flat_basis << count);
  }
  for (unsigned bit = 0; bit < count; ++bit) {
    from[2][bit] = uint64_t(1) << bit;
    to[0].insert(to[0].begin() + bit, uint64_t(1) << bit);
  }
  Registers parts =
      exchange_.convert(accumulators, LinearLayout::from_flat_bases(shape, from, layout.repeats()),
                        LinearLayout::from_flat_bases(shape, to, result.repeats()));
  Registers totals;
  for (size_t first = 0; first < parts.size(); first += size_t(1) << count) {
    llvm::Value *total = parts[first];
    for (size_t wave = 1; wave < size_t(1) << count; ++wave)
      total = total->getType()->isFloatTy() ? builder_.CreateFAdd(total, parts[first + wave])
                                            : builder_.CreateAdd(total, parts[first + wave]);
    totals.push_back(total);
  }
  return totals;
}

void Lowering::lower_reduce(const ir::Op &op) {
  auto axis = static_cast<unsigned>(op.integer("axis"));
  LinearLayout layout = values_.available_layout(op.operands[0]);
  std::optional<AxisBits> on_axis = axis_bits(layout, axis);
  if (!on_axis) {
    layout = default_layout(context_.type(op.operands[0]).shape, function_.options.waves);
    on_axis = axis_bits(layout, axis);
  }
  std::vector<Part> parts = parts_of(op, layout, axis);
  std::vector<Part> reduced;
  for (const std::vector<uint32_t> &along : registers_along(layout, axis, on_axis->registers)) {
    std::vector<Part> row;
    row.reserve(along.size());
    for (uint32_t r : along)
      row.push_back(parts[r]);
    while (row.size() > 1) {
      for (size_t i = 0; 2 * i + 1 < row.size(); ++i)
        row[i] = combine(op, row[2 * i], row[2 * i + 1]);
      if (row.size() % 2 != 0)
        row[row.size() / 2] = row.back();
      row.resize((row.size() + 1) / 2);
    }
    reduced.push_back(reduce_lanes(op, row[0], on_axis->lanes));
  }
  LinearLayout result = reduce(layout, axis);
  if (on_axis->waves != 0)
    reduced = reduce_waves(op, std::move(reduced), result, on_axis->waves);
  Registers registers;
  for (const Part &part : reduced) {
    llvm::Value *value = part.back();
    ir::Element element = context_.type(op.result()).element;
    registers.push_back(ir::is_float(element) ? narrow(builder_, value, element) : value);
  }
  values_.define_result(op.result(), result, registers);
}

} // namespace nereid::codegen
