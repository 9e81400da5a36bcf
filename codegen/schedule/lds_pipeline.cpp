#include "codegen/schedule/lds_pipeline.h"

#include <algorithm>
#include <bit>

#include "codegen/assign/memory_layout.h"
#include "codegen/assign/register_groups.h"

namespace nereid::codegen {

namespace {

constexpr unsigned copy_bytes = 16; ///< of a lane, in one copy to LDS
constexpr unsigned cache_line_bytes = 128;

class Finder {
public:
  Finder(const FunctionIndex &index, const AxisAnalysis &axes, const LayoutChoice &layouts,
         const ir::Op &loop)
      : index_(index), function_(index.function()), axes_(axes), layouts_(layouts), loop_(loop),
        body_(loop.blocks.front()), change_(index, axes, loop) {}

  std::optional<LdsPipeline> find();

private:
  std::optional<PipelineAccumulator> sum(size_t number) const;
  bool only_loads_and_computes(const LdsPipeline &found) const;
  std::optional<PipelinedLoad> load(const ir::Op &op);
  bool split_mask(ir::ValueId mask, PipelinedLoad &load);
  bool is_zero(ir::ValueId value) const { return axes_[value].constant == 0; }
  bool has_scalar_base(ir::ValueId pointer) const;
  unsigned wave_run(const ir::Op &op) const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
  const ir::Op &loop_;
  const ir::Block &body_;
  LoopInduction change_;
  std::vector<std::pair<ir::ValueId, LoopInduction::Condition>> conditions_;
};

/// Carried value `number` goes through additions of products of this body to the yield.
std::optional<PipelineAccumulator> Finder::sum(size_t number) const {
  ir::ValueId value = body_.arguments[number + 1];
  PipelineAccumulator result;
  while (index_.uses(value) == 1) {
    const ir::Op &user = *index_.user(value);
    if (index_.block(user) != &body_)
      return std::nullopt;
    if (user.opcode == ir::Opcode::Yield)
      return user.operands[number] == value && !result.dots.empty() ? std::optional(result) : std::nullopt;
    if (user.opcode != ir::Opcode::Add)
      return std::nullopt;
    const ir::Op *product = index_.definition(user.operands[user.operands[0] == value ? 1 : 0]);
    if (!product || !is_dot(*product) || index_.block(*product) != &body_ ||
        index_.uses(product->result()) != 1)
      return std::nullopt;
    const DotPlan &plan = layouts_.dots.at(product);
    if (layouts_.assigned[body_.arguments[number + 1]] != plan.result ||
        1u << plan.result_bits != plan.mfma->result_registers() || plan.a.k_lane_bits != 0 ||
        plan.scales_accumulators || plan.a.facts->has_six_bits() || plan.b.facts->has_six_bits())
      return std::nullopt;
    result.dots.push_back(product);
    value = user.result();
  }
  return std::nullopt;
}

bool Finder::has_scalar_base(ir::ValueId pointer) const {
  while (function_.type(pointer).rank() != 0) {
    const ir::Op *op = index_.definition(pointer);
    if (!op || !index_.is_rematerialisable(pointer) ||
        (op->opcode != ir::Opcode::PtrAdd && !is_view(index_, pointer)) || op->results.size() != 1)
      return false;
    pointer = op->operands[0];
  }
  return true;
}

/// Bytes in a row that one load instruction of a wave covers.
unsigned Finder::wave_run(const ir::Op &op) const {
  const LinearLayout &home = layouts_.layout(op.result());
  unsigned bytes = ir::byte_size(function_.type(op.result()).element);
  const AxisInfo *mask = op.operands.size() > 1 ? &axes_[op.operands[1]] : nullptr;
  unsigned run = vector_access(home, axes_[op.operands[0]], mask, bytes).elements();
  const std::vector<uint64_t> &lanes = home.bases(Space::Lane);
  int64_t contiguity = axes_[op.operands[0]].contiguity.back();
  while (run < contiguity && std::find(lanes.begin(), lanes.end(), run) != lanes.end())
    run *= 2;
  return run * bytes;
}

bool Finder::split_mask(ir::ValueId mask, PipelinedLoad &load) {
  if (!change_.varies(mask)) {
    load.fixed_masks.push_back(mask);
    return true;
  }
  const ir::Op *op = index_.definition(mask);
  if (op->opcode == ir::Opcode::And)
    return split_mask(op->operands[0], load) && split_mask(op->operands[1], load);
  if (const std::optional<ir::ValueId> source = viewed_value(index_, mask))
    return split_mask(*source, load);
  load.has_iteration_mask = true;
  return std::any_of(conditions_.begin(), conditions_.end(),
                     [&](const auto &condition) { return condition.first == mask; });
}

std::optional<PipelinedLoad> Finder::load(const ir::Op &op) {
  ir::ValueId pointer = op.operands[0];
  const ir::Type &type = function_.type(op.result());
  if (type.rank() == 0 || !layouts_.assigned[op.result()] || !has_scalar_base(pointer) ||
      type.element == ir::Element::I1)
    return std::nullopt;
  std::optional<int64_t> change = change_.change(pointer);
  if (!change || *change < 0 || *change >= int64_t(1) << 30)
    return std::nullopt;
  PipelinedLoad load{&op, *change, false, {}, false};
  bool masked = op.operands.size() > 1;
  if (masked && !split_mask(op.operands[1], load))
    return std::nullopt;
  if (op.operands.size() > 2 && !is_zero(op.operands[2]))
    return std::nullopt;
  const LinearLayout &home = layouts_.layout(op.result());
  unsigned bytes = ir::byte_size(type.element);
  const AxisInfo *mask = masked ? &axes_[op.operands[1]] : nullptr;
  unsigned access = vector_access(home, axes_[pointer], mask, bytes).elements() * bytes;
  if (access != 4 && access != 8 && access != 16)
    return std::nullopt;
  load.through_lds = access == copy_bytes && home.free_mask(Space::Wave) != 0 &&
                     wave_run(op) < cache_line_bytes && lds_copy_layout(function_, axes_, op);
  return load;
}

/// Besides loads, products and their sums the body has pure operations only.
bool Finder::only_loads_and_computes(const LdsPipeline &found) const {
  return std::all_of(body_.ops.begin(), body_.ops.end(), [&](const ir::Op &op) {
    switch (op.opcode) {
    case ir::Opcode::Load:
    case ir::Opcode::Yield:
      return true;
    case ir::Opcode::Dot:
    case ir::Opcode::DotScaled:
      return std::any_of(found.accumulators.begin(), found.accumulators.end(),
                         [&](const PipelineAccumulator &sum) {
                           return std::find(sum.dots.begin(), sum.dots.end(), &op) != sum.dots.end();
                         });
    default: {
      ir::OpClass op_class = ir::facts(op.opcode).op_class;
      return ir::is_elementwise(op.opcode) || op_class == ir::OpClass::Source ||
             op_class == ir::OpClass::Shape;
    }
    }
  });
}

std::optional<LdsPipeline> Finder::find() {
  if (!loop_.has("stages") || loop_.integer("stages") < 2 || !change_.step() || loop_.results.empty() ||
      layouts_.wave_split.contains(body_) ||
      index_.function().type(body_.arguments[0]).element != ir::Element::I32)
    return std::nullopt;
  LdsPipeline result{&loop_, *change_.step(), loop_.integer("stages"), {}, {}, {}};
  for (size_t i = 0; i < loop_.results.size(); ++i) {
    std::optional<PipelineAccumulator> found = sum(i);
    if (!found)
      return std::nullopt;
    result.accumulators.push_back(std::move(*found));
  }
  if (!only_loads_and_computes(result))
    return std::nullopt;
  for (const ir::Op &op : body_.ops)
    if (op.results.size() == 1 && ir::facts(op.opcode).op_class == ir::OpClass::Compare &&
        change_.varies(op.result()))
      if (auto condition = change_.condition(op.result()))
        conditions_.push_back({op.result(), *condition});
  for (const ir::Op &op : body_.ops)
    if (op.opcode == ir::Opcode::Load) {
      std::optional<PipelinedLoad> found = load(op);
      if (!found)
        return std::nullopt;
      result.loads.push_back(std::move(*found));
    }
  result.conditions = std::move(conditions_);
  bool uses_lds = std::any_of(result.loads.begin(), result.loads.end(),
                              [](const PipelinedLoad &load) { return load.through_lds; });
  return uses_lds ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace

size_t LdsPipeline::number_of(const ir::Op &load) const {
  auto found =
      std::find_if(loads.begin(), loads.end(), [&](const PipelinedLoad &l) { return l.op == &load; });
  return static_cast<size_t>(found - loads.begin());
}

std::optional<LdsPipeline> find_lds_pipeline(const FunctionIndex &index, const AxisAnalysis &axes,
                                             const LayoutChoice &layouts, const ir::Op &loop) {
  return Finder(index, axes, layouts, loop).find();
}

std::optional<LinearLayout> lds_copy_layout(const ir::Function &function, const AxisAnalysis &axes,
                                            const ir::Op &load) {
  const ir::Type &type = function.type(load.result());
  unsigned bytes = ir::byte_size(type.element);
  const AxisInfo *mask = load.operands.size() > 1 ? &axes[load.operands[1]] : nullptr;
  const AxisInfo &pointer = axes[load.operands[0]];
  if (type.rank() != 2 || pointer.contiguity[1] < pointer.contiguity[0])
    return std::nullopt;
  auto row_bytes = static_cast<uint64_t>(type.shape[1]) * bytes;
  if (!std::has_single_bit(row_bytes) || row_bytes < 64 || row_bytes > 1024)
    return std::nullopt;
  LinearLayout layout = coalesced_layout(type.shape, pointer, mask, bytes, function.options.waves);
  if (vector_access(layout, pointer, mask, bytes).elements() * bytes != copy_bytes ||
      layout.free_mask(Space::Lane) != 0 || layout.free_mask(Space::Wave) != 0)
    return std::nullopt;
  unsigned elements = copy_bytes / bytes;
  for (unsigned bit = 0; bit < layout.bits(Space::Lane); ++bit)
    if (layout.flat_basis(Space::Lane, bit) != uint64_t(elements) << bit)
      return std::nullopt;
  for (unsigned bit = 0; (1u << bit) < elements; ++bit)
    if (layout.flat_basis(Space::Register, bit) != uint64_t(1) << bit)
      return std::nullopt;
  for (const Repeat &repeat : layout.repeats())
    if (repeat.owner != Space::Register || repeat.dim != 0)
      return std::nullopt;
  return layout;
}

} // namespace nereid::codegen
