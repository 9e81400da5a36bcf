#include "codegen/assign/layout_choice.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/operand_layout.h"
#include "codegen/layout/layout_error.h"
#include "codegen/layout/layout_transforms.h"

namespace nereid::codegen {

namespace {

bool is_write(const ir::Op &op) {
  return ir::facts(op.opcode).op_class == ir::OpClass::Memory &&
         ir::facts(op.opcode).effect == ir::OpEffect::Effect;
}

LinearLayout default_group_layout(const ir::Shape &x, int waves) {
  ir::Shape groups = x;
  groups.back() /= ir::scale_group;
  return quantize_group_layout(default_layout(groups, waves));
}

/// The groups of x that are broadcast to all waves, split among them; nothing if there are none. Odd factors
/// stay with each wave.
std::optional<LinearLayout> split_groups_by_wave(const LinearLayout &x) {
  LinearLayout result = x;
  for (unsigned wave = 0; wave < x.bits(Space::Wave); ++wave) {
    unsigned bit = result.bits(Space::Register);
    while (bit > 0 && result.flat_basis(Space::Register, bit - 1) < ir::scale_group)
      --bit;
    if (bit > 0 && x.flat_basis(Space::Wave, wave) == 0)
      result = result.move_register(bit - 1, Space::Wave, wave);
  }
  return result == x ? std::nullopt : std::optional(result);
}

class Propagation {
public:
  Propagation(const FunctionIndex &index, const AxisAnalysis &axes, const WaveSplitLoops &wave_split)
      : index_(index), function_(index.function()), axes_(axes) {
    choice_.wave_split = wave_split;
    choice_.assigned.resize(function_.value_types.size());
    ir::for_each_op(function_, [&](const ir::Op &op, unsigned) { ops_.push_back(&op); });
    for (const ir::Op *op : ops_)
      link(*op);
  }

  Result<LayoutChoice> run();
  /// Of the operation at which the walk is.
  SourceLine place() const { return current_ ? function_.place(*current_) : SourceLine{}; }

private:
  Status check_waves() const;
  Status pin_dots();
  DotSharing sharing_of(const ir::Op &op) const;
  Status pin_wave_split_accumulators(const ir::Op &loop);
  bool is_wave_split(const ir::Op &op) const { return choice_.wave_split.contains(*index_.block(op)); }
  /// `make(waves)` for all waves, or for each alone where rounds are dealt.
  template <class Make> LinearLayout for_waves(const ir::Op &op, Make make) const {
    int waves = function_.options.waves;
    return is_wave_split(op) ? in_every_wave(make(1), waves) : make(waves);
  }
  void link(const ir::Op &op);
  void suggest(ir::ValueId value, const LinearLayout &layout);
  void assign(ir::ValueId value, const LinearLayout &layout);
  std::optional<LinearLayout> known(ir::ValueId value) const;
  void backward(const ir::Op &op);
  void forward(const ir::Op &op);
  void propagate_to_fixpoint();
  bool waves_may_share(const LinearLayout &groups) const;
  void decide_quantize(const ir::Op &op);
  void decide_six_bit_quantize(const ir::Op &op);
  LinearLayout write_layout(const ir::Op &op) const;
  LinearLayout coalesced(const ir::Op &op, ir::ValueId pointer) const;
  const AxisInfo *mask_of(const ir::Op &op) const;
  bool needs_layout(ir::ValueId value) const {
    return !index_.is_rematerialisable(value) && !is_view(index_, value) && !choice_.assigned[value];
  }

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  LayoutChoice choice_;
  std::vector<const ir::Op *> ops_;
  /// Values that must share a home (a loop's argument and result), and values that should (what is yielded).
  std::unordered_map<ir::ValueId, std::vector<ir::ValueId>> must_match_, prefer_match_;
  bool changed_ = false;
  bool from_stores_ = false;        ///< suggestions come from stores and neighbours, not from dots
  const ir::Op *current_ = nullptr; ///< at which the walk is
};

void Propagation::link(const ir::Op &op) {
  if (op.opcode != ir::Opcode::For && op.opcode != ir::Opcode::If)
    return;
  for (size_t i = 0; i < op.results.size(); ++i) {
    for (const ir::Block &block : op.blocks)
      if (!choice_.wave_split.contains(block))
        prefer_match_[op.results[i]].push_back(block.ops.back().operands[i]);
    if (op.opcode == ir::Opcode::For && !choice_.wave_split.contains(op.blocks[0])) {
      ir::ValueId carried = op.blocks[0].arguments[i + 1];
      must_match_[op.results[i]].push_back(carried);
      must_match_[carried].push_back(op.results[i]);
      prefer_match_[op.results[i]].push_back(op.operands[i + 3]);
    }
  }
}

void Propagation::assign(ir::ValueId value, const LinearLayout &layout) {
  choice_.assigned[value] = layout;
  changed_ = true;
  for (ir::ValueId other : must_match_[value])
    if (needs_layout(other))
      assign(other, layout);
  for (ir::ValueId other : prefer_match_[value])
    suggest(other, layout);
}

const AxisInfo *Propagation::mask_of(const ir::Op &op) const {
  size_t position = op.opcode == ir::Opcode::Load                    ? 1
                    : op.opcode == ir::Opcode::AtomicCompareExchange ? 3
                                                                     : 2;
  return op.operands.size() > position ? &axes_[op.operands[position]] : nullptr;
}

LinearLayout Propagation::coalesced(const ir::Op &op, ir::ValueId pointer) const {
  const ir::Type &type = function_.type(pointer);
  return for_waves(op, [&](int waves) {
    return coalesced_layout(type.shape, axes_[pointer], mask_of(op), ir::byte_size(type.element), waves);
  });
}

/// A value whose home is open takes the layout; a renaming passes it on to its operands. Loads refuse a
/// layout in which they would move much less at a time than in their own.
void Propagation::suggest(ir::ValueId value, const LinearLayout &wanted) {
  if (index_.is_rematerialisable(value))
    return;
  const ir::Op *op = index_.definition(value);
  if (is_view(index_, value)) {
    for (unsigned i = 0; i < op->operands.size(); ++i)
      suggest(op->operands[i], operand_layout(function_, *op, i, wanted));
    return;
  }
  if (choice_.assigned[value])
    return;
  LinearLayout layout = wanted.without_register_broadcast();
  if (op && is_write(*op)) {
    assign(value, coalesced(*op, op->operands[0]));
    return;
  }
  if (op && ir::facts(op->opcode).op_class == ir::OpClass::Reduce) {
    if (!from_stores_) {
      auto axis = static_cast<unsigned>(op->integer("axis"));
      suggest(op->operands[0], reduce_operand(layout, axis, function_.type(op->operands[0]).shape[axis]));
    }
    return;
  }
  if (op && op->opcode == ir::Opcode::Load) {
    unsigned bytes = ir::byte_size(function_.type(value).element);
    const AxisInfo &pointer = axes_[op->operands[0]];
    LinearLayout own = coalesced(*op, op->operands[0]);
    unsigned got = vector_access(layout, pointer, mask_of(*op), bytes).elements() * bytes;
    unsigned best = vector_access(own, pointer, mask_of(*op), bytes).elements() * bytes;
    if (got < 4 && best >= 4 * got)
      layout = own;
  }
  assign(value, layout);
}

std::optional<LinearLayout> Propagation::known(ir::ValueId value) const {
  if (choice_.assigned[value])
    return choice_.assigned[value];
  if (!is_view(index_, value))
    return std::nullopt;
  const ir::Op &op = *index_.definition(value);
  std::optional<LinearLayout> operand = known(op.operands[0]);
  return operand ? result_layout(function_, op, *operand) : std::nullopt;
}

/// Whether waves that need the same groups quantise a part each and exchange codes: a barrier a round for the
/// instructions that it saves. A value takes about 1.7 vector instructions (docs/codegen-quality.md), so that
/// below 64 values a lane a wave is done before the others could have told it.
bool Propagation::waves_may_share(const LinearLayout &groups) const {
  constexpr uint32_t values_of_a_barrier = 64;
  return function_.options.wave_split == ir::WaveSplit::N || groups.registers() > values_of_a_barrier;
}

/// The codes lie as they are wanted if each lane holds whole groups there; else as the groups are anyway.
/// What stores want matters most for the scales: a group's codes are a wide access wherever it lies.
void Propagation::decide_quantize(const ir::Op &op) {
  const ir::Shape &x = function_.type(op.operands[0]).shape;
  const ir::Shape &codes = function_.type(op.results[0]).shape;
  std::optional<LinearLayout> layout;
  if (ir::facts(*ir::format_named(op.string("format"))).bits == 6)
    return decide_six_bit_quantize(op);
  if (const auto &scales = choice_.assigned[op.results[1]]; from_stores_ && scales)
    layout = quantize_group_layout(*scales);
  if (const auto &wanted = choice_.assigned[op.results[0]]; !layout && wanted)
    layout = quantize_operand_layout(*wanted, x);
  if (!layout)
    if (auto operand = known(op.operands[0]))
      layout = quantize_operand_layout(quantize_codes_layout(*operand, codes), x);
  if (!layout)
    layout = for_waves(op, [&](int waves) { return default_group_layout(x, waves); });
  choice_.quantize_operands[&op] = *layout;
  if (waves_may_share(*layout) && !is_wave_split(op))
    if (std::optional<LinearLayout> parts = split_groups_by_wave(*layout)) {
      choice_.quantize_operands[&op] = *parts;
      choice_.shared_quantizes.insert(&op);
    }
  choice_.assigned[op.results[0]] = quantize_codes_layout(*layout, codes);
  choice_.assigned[op.results[1]] = quantize_scales_layout(*layout);
  changed_ = true;
  suggest(op.operands[0], choice_.quantize_operands[&op]);
}

/// The codes lie as they are wanted, or row-major: they come through LDS.
void Propagation::decide_six_bit_quantize(const ir::Op &op) {
  const int waves = function_.options.waves;
  const LinearLayout x = default_group_layout(function_.type(op.operands[0]).shape, waves);
  choice_.quantize_operands[&op] = x;
  std::optional<LinearLayout> &codes = choice_.assigned[op.results[0]];
  if (!codes)
    codes = default_layout(function_.type(op.results[0]).shape, waves);
  choice_.assigned[op.results[1]] = quantize_scales_layout(x);
  changed_ = true;
  suggest(op.operands[0], x);
}

void Propagation::backward(const ir::Op &op) {
  if (op.opcode == ir::Opcode::Quantize) {
    const bool wanted = choice_.assigned[op.results[0]] || (from_stores_ && choice_.assigned[op.results[1]]);
    if (!choice_.quantize_operands.count(&op) && wanted)
      decide_quantize(op);
    return;
  }
  if (op.results.size() != 1 || !choice_.assigned[op.result()])
    return;
  const LinearLayout home = choice_.layout(op.result());
  bool memory = ir::facts(op.opcode).op_class == ir::OpClass::Memory;
  if (memory || ir::is_elementwise(op.opcode) || op.opcode == ir::Opcode::CumSum)
    for (ir::ValueId operand : op.operands)
      suggest(operand, home);
}

void Propagation::forward(const ir::Op &op) {
  if (ir::facts(op.opcode).op_class == ir::OpClass::Reduce && needs_layout(op.result())) {
    if (auto operand = known(op.operands[0]))
      assign(op.result(), reduce(*operand, static_cast<unsigned>(op.integer("axis"))));
    return;
  }
  if ((ir::is_elementwise(op.opcode) || op.opcode == ir::Opcode::CumSum) && needs_layout(op.result())) {
    for (ir::ValueId operand : op.operands)
      if (auto layout = known(operand)) {
        assign(op.result(), *layout);
        return;
      }
    return;
  }
  for (ir::ValueId result : op.results)
    if (needs_layout(result))
      for (ir::ValueId value : prefer_match_[result])
        if (auto layout = known(value)) {
          assign(result, *layout);
          break;
        }
}

void Propagation::propagate_to_fixpoint() {
  do {
    changed_ = false;
    for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) {
      current_ = *op;
      backward(**op);
    }
    for (const ir::Op *op : ops_) {
      current_ = op;
      forward(*op);
    }
  } while (changed_);
}

/// A write takes its value as it lies, unless that makes it move single bytes where it could move dwords.
/// Values of atomics that come back must be owned by one lane each where that is possible.
LinearLayout Propagation::write_layout(const ir::Op &op) const {
  const ir::Type &pointer = function_.type(op.operands[0]);
  LinearLayout own = coalesced(op, op.operands[0]);
  if (!op.results.empty() || index_.is_rematerialisable(op.operands[1]))
    return own;
  std::optional<LinearLayout> layout = known(op.operands[1]);
  if (!layout)
    return own;
  LinearLayout lying = layout->without_register_broadcast();
  unsigned bytes = ir::byte_size(pointer.element);
  unsigned got = vector_access(lying, axes_[op.operands[0]], mask_of(op), bytes).elements() * bytes;
  unsigned best = vector_access(own, axes_[op.operands[0]], mask_of(op), bytes).elements() * bytes;
  return got < 4 && best >= 4 * got ? own : lying;
}

Status Propagation::check_waves() const {
  const auto waves = static_cast<unsigned>(function_.options.waves);
  if (!std::has_single_bit(waves))
    return user_error(fmt::format("kernel {}: {} waves are no power of two", function_.name, waves),
                      fmt::format("Use {} or {} waves", std::bit_floor(waves), std::bit_ceil(waves)));
  return {};
}

/// In the loop each wave has a sum of the whole tile; after it, its part of the product.
Status Propagation::pin_wave_split_accumulators(const ir::Op &loop) {
  for (size_t i = 0; i < loop.results.size(); ++i) {
    const ir::Op &product = *accumulated_dot(index_, loop, i);
    Result<DotPlan> inside = plan_dot(function_, product, {DotOwner::Wave});
    Result<DotPlan> after = plan_dot(function_, product);
    if (!inside)
      return inside.error();
    if (!after)
      return after.error();
    assign(loop.blocks[0].arguments[i + 1], inside->result);
    assign(loop.results[i], after->result);
  }
  return {};
}

/// Outside of loops waves that share K meet once; within, the loop's rounds are what is shared. Lanes are put
/// to use where they spare the quantisation of rows that are not there.
DotSharing Propagation::sharing_of(const ir::Op &op) const {
  DotSharing sharing;
  const ir::CompileOptions &options = function_.options;
  const bool k_may_be_shared =
      options.wave_split == ir::WaveSplit::Auto || options.wave_split == ir::WaveSplit::K;
  if (is_wave_split(op))
    sharing.owner = DotOwner::Wave;
  else if (options.waves > 1 && k_may_be_shared && index_.block(op) == &function_.body &&
           accumulators_are_small(function_, op.result()))
    sharing.owner = DotOwner::Slices;
  const ir::Op *a = index_.definition(op.operands[0]);
  sharing.idle_rows_take_k = a && a->opcode == ir::Opcode::Quantize;
  return sharing;
}

Status Propagation::pin_dots() {
  for (const ir::Op *op : ops_) {
    current_ = op;
    if (op->opcode == ir::Opcode::For && choice_.wave_split.contains(op->blocks[0]))
      if (Status pinned = pin_wave_split_accumulators(*op); !pinned)
        return pinned;
    if (op->opcode != ir::Opcode::Dot && op->opcode != ir::Opcode::DotScaled)
      continue;
    Result<DotPlan> plan = plan_dot(function_, *op, sharing_of(*op));
    if (!plan)
      return plan.error();
    assign(op->result(), plan->result);
    choice_.dots.emplace(op, std::move(*plan));
  }
  for (const ir::Op *op : ops_)
    if (auto dot = choice_.dots.find(op); dot != choice_.dots.end()) {
      current_ = op;
      const DotSides sides = sides_of_dot(function_, *op);
      if (!dot->second.a.facts->has_six_bits())
        suggest(sides.a.value, dot->second.a.layout);
      if (!dot->second.b.facts->has_six_bits())
        suggest(sides.b.value, dot->second.b.layout);
      if (sides.a.scale)
        suggest(*sides.a.scale, dot->second.a.scale_layout);
      if (sides.b.scale)
        suggest(*sides.b.scale, dot->second.b.scale_layout);
    }
  return {};
}

Result<LayoutChoice> Propagation::run() {
  if (Status waves = check_waves(); !waves)
    return waves.error();
  if (Status dots = pin_dots(); !dots)
    return dots.error();
  propagate_to_fixpoint();
  from_stores_ = true;
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op)
    if (is_write(**op) && function_.type((*op)->operands[0]).rank() != 0) {
      current_ = *op;
      LinearLayout layout = known((*op)->operands[1]).value_or(coalesced(**op, (*op)->operands[0]));
      for (ir::ValueId operand : (*op)->operands)
        suggest(operand, layout);
    }
  propagate_to_fixpoint();
  for (const ir::Op *op : ops_) {
    current_ = op;
    bool memory = op->opcode == ir::Opcode::Load || (is_write(*op) && !op->results.empty());
    if (memory && needs_layout(op->result()))
      assign(op->result(), coalesced(*op, op->operands[0]));
    else if (op->opcode == ir::Opcode::Quantize && !choice_.quantize_operands.count(op))
      decide_quantize(*op);
    else
      continue;
    propagate_to_fixpoint();
  }
  for (const ir::Op *op : ops_) {
    for (ir::ValueId result : op->results)
      if (needs_layout(result))
        assign(result, for_waves(*op, [&](int waves) {
                 return default_layout(function_.type(result).shape, waves);
               }));
    propagate_to_fixpoint();
  }
  for (const ir::Op *op : ops_)
    if (is_write(*op)) {
      current_ = op;
      choice_.writes.emplace(op, write_layout(*op));
    }
  return std::move(choice_);
}

} // namespace

Result<LayoutChoice> choose_layouts(const FunctionIndex &index, const AxisAnalysis &axes,
                                    const WaveSplitLoops &wave_split) {
  Propagation propagation(index, axes, wave_split);
  try {
    return propagation.run();
  } catch (const LayoutError &error) {
    return error.error(propagation.place());
  }
}

} // namespace nereid::codegen
