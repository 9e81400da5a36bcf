// The order in which a kernel's values get their layouts: dots, stores, loads, the rest.
#include "codegen/assign/layout_choice.h"

#include <bit>
#include <tuple>

#include <fmt/format.h>

#include "codegen/assign/buffer_access.h"
#include "codegen/assign/memory_layout.h"
#include "codegen/assign/propagation.h"
#include "codegen/layout/layout_error.h"

namespace nereid::codegen {

namespace {

Status check_waves(const ir::Function &function) {
  const auto waves = static_cast<unsigned>(function.options.waves);
  if (!std::has_single_bit(waves))
    return user_error(fmt::format("kernel {}: {} waves are no power of two", function.name, waves),
                      fmt::format("Use {} or {} waves", std::bit_floor(waves), std::bit_ceil(waves)));
  return {};
}

class Chooser {
public:
  Chooser(const FunctionIndex &index, const AxisAnalysis &axes, const WaveSplitLoops &wave_split,
          ColumnsOfRows columns)
      : index_(index), function_(index.function()), axes_(axes), choice_{.wave_split = wave_split},
        propagation_(index, axes, columns, choice_) {
    ir::for_each_op(function_, [&](const ir::Op &op, unsigned) { ops_.push_back(&op); });
  }

  Result<LayoutChoice> run() {
    NEREID_CHECK(check_waves(function_));
    find_chained_dots();
    NEREID_CHECK(assign_dots());
    suggest_dot_operands();
    propagation_.to_fixpoint();
    suggest_to_stores();
    assign_loads_and_quantizes();
    assign_rest();
    propagation_.assign_butterfly_joins();
    choose_writes();
    return std::move(choice_);
  }

  SourceLine location() const { return propagation_.location(); }

private:
  Status assign_dots();
  Status assign_wave_split_accumulators(const ir::Op &loop);
  LinearLayout layout_of_sum(const LinearLayout &of_dot) const;
  DotSharing sharing_of(const ir::Op &op) const;
  Result<DotPlan> plan_of(const ir::Op &op) const;
  std::optional<unsigned> loaded_scales_of_access(ir::ValueId scale, const LinearLayout &layout) const;
  struct ScaleAccesses {
    unsigned a, b;
  };
  std::optional<ScaleAccesses> scale_accesses(const DotSides &sides, const DotPlan &plan) const;
  void find_chained_dots();
  std::vector<const ir::Op *> products_within(ir::ValueId operand) const;
  void suggest_dot_operands();
  void suggest_to_stores();
  void assign_loads_and_quantizes();
  void assign_rest();
  void choose_writes();
  LinearLayout write_layout(const ir::Op &op) const;
  bool is_wave_split_loop(const ir::Op &op) const {
    return op.opcode == ir::Opcode::For && choice_.wave_split.contains(op.blocks[0]);
  }

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  LayoutChoice choice_;
  Propagation propagation_;
  std::vector<const ir::Op *> ops_;
  std::unordered_set<const ir::Op *> chained_; ///< dots whose A is made of dots, and those dots
};

Status Chooser::assign_dots() {
  for (const ir::Op *op : ops_) {
    propagation_.at(*op);
    if (is_wave_split_loop(*op))
      NEREID_CHECK(assign_wave_split_accumulators(*op));
    if (!ir::is_dot(op->opcode))
      continue;
    NEREID_TRY(DotPlan plan, plan_of(*op));
    propagation_.assign(op->result(), plan.result);
    choice_.dots.emplace(op, std::move(plan));
  }
  return {};
}

/// Of a tile that is summed over the waves. Where there are no column tiles for all waves several would add
/// up the same.
LinearLayout Chooser::layout_of_sum(const LinearLayout &of_dot) const {
  const unsigned neighbours = 1u << of_dot.contiguous_registers(1);
  LinearLayout shared = shared_layout(of_dot.shape(), neighbours, function_.options.waves);
  return shared.registers() < of_dot.registers() ? shared : of_dot;
}

/// In the loop each wave has accumulators of the whole tile; after it, its part of the result.
Status Chooser::assign_wave_split_accumulators(const ir::Op &loop) {
  for (size_t i = 0; i < loop.results.size(); ++i) {
    const ir::Op &dot = *accumulated_dot(index_, loop, i);
    NEREID_TRY(const DotPlan inside, plan_dot(function_, dot, {DotOwner::Wave}));
    NEREID_TRY(const DotPlan after, plan_dot(function_, dot));
    propagation_.assign(loop.blocks[0].arguments[i + 1], inside.result);
    propagation_.assign(loop.results[i], layout_of_sum(after.result));
  }
  return {};
}

/// Outside of loops the results of waves that share K are added once; within, the loop's iterations are what
/// is shared. Lanes are put to use where they spare the quantisation of rows that are not there.
DotSharing Chooser::sharing_of(const ir::Op &op) const {
  DotSharing sharing;
  const ir::CompileOptions &options = function_.options;
  const bool may_share_k =
      options.wave_split == ir::WaveSplit::Auto || options.wave_split == ir::WaveSplit::K;
  if (choice_.wave_split.contains(*index_.block(op)))
    sharing.owner = DotOwner::Wave;
  else if (options.waves > 1 && may_share_k && index_.block(op) == &function_.body &&
           accumulators_are_small(function_, op.result()))
    sharing.owner = DotOwner::Slices;
  else if (options.wave_split == ir::WaveSplit::Auto && chained_.count(&op) != 0)
    sharing.owner = DotOwner::Rows;
  const ir::Op *a = index_.definition(op.operands[0]);
  sharing.idle_rows_take_k = a && a->opcode == ir::Opcode::Quantize;
  return sharing;
}

/// How many scales a lane may load at a time in a layout; nothing where they are not loaded.
std::optional<unsigned> Chooser::loaded_scales_of_access(ir::ValueId scale,
                                                         const LinearLayout &layout) const {
  const ir::Op *load = index_.definition(scale);
  if (!load || load->opcode != ir::Opcode::Load)
    return std::nullopt;
  const std::optional<size_t> mask = mask_operand(*load);
  return vector_access(layout, axes_[load->operands[0]], mask ? &axes_[load->operands[*mask]] : nullptr, 1)
      .elements();
}

/// The same of both sides.
std::optional<Chooser::ScaleAccesses> Chooser::scale_accesses(const DotSides &sides,
                                                              const DotPlan &plan) const {
  const auto a = loaded_scales_of_access(*sides.a.scale, plan.a.scale_layout);
  const auto b = loaded_scales_of_access(*sides.b.scale, plan.b.scale_layout);
  return a && b ? std::optional(ScaleAccesses{*a, *b}) : std::nullopt;
}

/// Scales that lie side by side along K are loaded as such, where that makes no access of either side
/// narrower. Of a step with two groups a lane in instructions of 16 rows, those of 32 take four: a dword.
Result<DotPlan> Chooser::plan_of(const ir::Op &op) const {
  DotSharing sharing = sharing_of(op);
  NEREID_TRY(DotPlan plan, plan_dot(function_, op, sharing));
  const DotSides sides = sides_of_dot(function_, op);
  if (!sides.a.scale || !sides.b.scale)
    return plan;
  std::optional<ScaleAccesses> accesses = scale_accesses(sides, plan);
  const ir::Shape &shape = function_.type(op.result()).shape;
  const bool has_large_tiles = shape[0] / 32 * (shape[1] / 32) >= function_.options.waves;
  for (bool large : {false, true}) {
    if (!accesses || (large && (!has_large_tiles || accesses->a != 2 || accesses->b != 2)))
      break;
    sharing.neighbouring_groups = true;
    sharing.large_instruction = large;
    NEREID_TRY(DotPlan other, plan_dot(function_, op, sharing));
    const std::optional<ScaleAccesses> wider = scale_accesses(sides, other);
    if (!wider || wider->a < accesses->a || wider->b < accesses->b ||
        wider->a + wider->b == accesses->a + accesses->b)
      continue;
    plan = std::move(other);
    accesses = wider;
  }
  return plan;
}

/// The dots that an operand is computed from, element by element.
std::vector<const ir::Op *> Chooser::products_within(ir::ValueId operand) const {
  std::vector<const ir::Op *> products;
  std::vector<ir::ValueId> open = {operand};
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::Op *op = index_.definition(value);
    if (!op || !seen.insert(value).second)
      continue;
    if (ir::is_dot(op->opcode))
      products.push_back(op);
    else if (ir::is_elementwise(op->opcode) || ir::facts(op->opcode).op_class == ir::OpClass::Shape)
      open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
  return products;
}

/// Where a product follows a product, the rows of the first that a wave owns are those that it needs.
void Chooser::find_chained_dots() {
  for (const ir::Op *op : ops_)
    if (ir::is_dot(op->opcode))
      for (const ir::Op *first : products_within(op->operands[0]))
        chained_.insert({first, op});
}

void Chooser::suggest_dot_operands() {
  for (const ir::Op *op : ops_)
    if (const auto dot = choice_.dots.find(op); dot != choice_.dots.end()) {
      propagation_.at(*op);
      const DotSides sides = sides_of_dot(function_, *op);
      const auto pairs = {std::pair{&sides.a, &dot->second.a}, {&sides.b, &dot->second.b}};
      for (auto [side, plan] : pairs)
        if (!plan->facts->has_six_bits())
          propagation_.suggest(side->value, plan->layout);
      for (auto [side, plan] : pairs)
        if (side->scale)
          propagation_.suggest(*side->scale, plan->scale_layout);
    }
}

void Chooser::suggest_to_stores() {
  propagation_.begin_stores();
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op)
    if (is_write(**op) && function_.type((*op)->operands[0]).rank() != 0) {
      propagation_.at(**op);
      const std::optional<LinearLayout> known = propagation_.known((*op)->operands[1]);
      const LinearLayout layout = known ? *known : propagation_.coalesced(**op);
      for (ir::ValueId operand : (*op)->operands)
        propagation_.suggest(operand, layout);
    }
  propagation_.to_fixpoint();
}

void Chooser::assign_loads_and_quantizes() {
  for (const ir::Op *op : ops_) {
    propagation_.at(*op);
    const bool has_old_values = is_write(*op) && !op->results.empty();
    if ((op->opcode == ir::Opcode::Load || has_old_values) && propagation_.is_open(op->result()))
      propagation_.assign(op->result(), propagation_.coalesced(*op));
    else if (op->opcode == ir::Opcode::Quantize && !choice_.quantize_operands.count(op))
      propagation_.assign_quantize(*op);
    propagation_.to_fixpoint();
  }
}

void Chooser::assign_rest() {
  for (const ir::Op *op : ops_) {
    propagation_.at(*op);
    for (ir::ValueId result : op->results)
      if (propagation_.is_open(result))
        propagation_.assign(result, propagation_.for_waves(*op, [&](int waves) {
          return default_layout(function_.type(result).shape, waves);
        }));
    propagation_.to_fixpoint();
  }
}

void Chooser::choose_writes() {
  for (const ir::Op *op : ops_)
    if (is_write(*op)) {
      propagation_.at(*op);
      choice_.writes.emplace(op, write_layout(*op));
    }
}

/// A write takes its value as it lies, unless that makes it move much less at a time. Values of atomics that
/// come back must be owned by one lane each where that is possible.
LinearLayout Chooser::write_layout(const ir::Op &op) const {
  if (!op.results.empty() || index_.is_rematerialisable(op.operands[1]))
    return propagation_.coalesced(op);
  const std::optional<LinearLayout> layout = propagation_.known(op.operands[1]);
  return layout ? propagation_.or_coalesced(op, layout->without_register_broadcast())
                : propagation_.coalesced(op);
}

} // namespace

Result<LayoutChoice> choose_layouts(const FunctionIndex &index, const AxisAnalysis &axes,
                                    const WaveSplitLoops &wave_split, ColumnsOfRows columns) {
  Chooser chooser(index, axes, wave_split, columns);
  try {
    return chooser.run();
  } catch (const LayoutError &error) {
    return error.error(chooser.location());
  }
}

} // namespace nereid::codegen
