// Which loads of a loop are issued iterations ahead, and how far.
#include "codegen/schedule/prefetch_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/assign/buffer_access.h"
#include "codegen/assign/offset_bounds.h"
#include "codegen/target/cost_model.h"

namespace nereid::codegen {

namespace {

using gfx950::vgprs;

bool may_overlap(const ir::Op &op) {
  const ir::OpFacts &facts = ir::facts(op.opcode);
  return op.blocks.empty() && (facts.effect != ir::OpEffect::Effect || op.opcode == ir::Opcode::Assume);
}

bool is_address_operation(const ir::Op &op) {
  const ir::OpClass op_class = ir::facts(op.opcode).op_class;
  return op.opcode != ir::Opcode::InlineAsm &&
         (ir::is_elementwise(op.opcode) || op_class == ir::OpClass::Source || op_class == ir::OpClass::Shape);
}

/// 32-bit registers of a lane.
unsigned dwords(const ir::Type &type, const LinearLayout &layout) {
  const unsigned bits = type.pointer ? 64 : std::max(8U, ir::facts(type.element).bits);
  return (layout.registers() * bits + 31) / 32;
}

class PrefetchPlanner {
public:
  PrefetchPlanner(const FunctionIndex &index, const AxisAnalysis &axes, const ValueRanges &ranges,
                  const LayoutChoice &layouts, const ir::Op &loop)
      : index_(index), function_(index.function()), axes_(axes), layouts_(layouts),
        body_(loop.blocks.front()), loop_(loop), bounds_(index, ranges) {}

  Decision<PrefetchPlan> run();

private:
  bool is_early(const ir::Op &op) const {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](ir::ValueId v) { return late_.count(v) == 0; });
  }
  void find_early_values(PrefetchPlan &plan);
  std::optional<Objection> branches(const ir::Op &load);
  void note_addresses(const std::vector<const ir::Op *> &loads, PrefetchPlan &plan) const;
  unsigned depth(const std::vector<const ir::Op *> &loads) const;
  void write_out(PrefetchPlan &plan) const;
  int64_t iterations_of_wave() const;
  unsigned dwords_of(ir::ValueId value) const {
    return dwords(function_.type(value), layouts_.layout(value));
  }
  unsigned registers_of_a_lane() const;
  unsigned available_registers() const;

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
  const ir::Block &body_;
  const ir::Op &loop_;
  OffsetBounds bounds_;
  std::unordered_set<ir::ValueId> late_;
};

Decision<PrefetchPlan> PrefetchPlanner::run() {
  if (loop_.integer("stages") < 2)
    return Objection{&loop_, "it does not ask for stages"};
  for (const ir::Op &op : body_.ops)
    if (!may_overlap(op))
      return Objection{&op, fmt::format("its body has a {}", ir::facts(op.opcode).name)};
  PrefetchPlan plan;
  find_early_values(plan);
  std::vector<const ir::Op *> early;
  for (const ir::Op &op : body_.ops) {
    if (op.opcode != ir::Opcode::Load || function_.type(op.result()).rank() == 0)
      continue;
    if (!is_early(op)) {
      plan.kept.push_back({&op, "its address or mask is not known before its iteration"});
      continue;
    }
    early.push_back(&op);
    if (std::optional<Objection> objection = branches(op))
      plan.kept.push_back(*std::move(objection));
    else
      plan.loads.push_back(&op);
  }
  if (plan.loads.empty())
    return plan.kept.empty() ? Objection{&loop_, "its body loads no tile"} : plan.kept.front();
  plan.depth = depth(early);
  if (plan.kept.empty())
    write_out(plan);
  if (plan.depth < 2 && plan.written_out == 0)
    return Objection{&loop_, "accumulators and loads of two iterations exceed a lane's registers"};
  note_addresses(early, plan);
  return plan;
}

/// Values of the body either are early (known from the index alone) or late.
void PrefetchPlanner::find_early_values(PrefetchPlan &plan) {
  plan.iteration_values.insert(body_.arguments[0]);
  late_.insert(body_.arguments.begin() + 1, body_.arguments.end());
  for (const ir::Op &op : body_.ops) {
    const bool early = is_address_operation(op) && is_early(op);
    const bool varies =
        std::any_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId v) { return plan.varies(v); });
    for (ir::ValueId result : op.results) {
      if (!early)
        late_.insert(result);
      if (varies)
        plan.iteration_values.insert(result);
    }
  }
}

/// Why a load takes branches, if it does.
std::optional<Objection> PrefetchPlanner::branches(const ir::Op &load) {
  if (!mask_operand(load))
    return std::nullopt;
  const LinearLayout leaders = access_leaders(index_, axes_, load, layouts_.layout(load.result()));
  const std::optional<NoDescriptor> objection = bounds_.objection(load.operands[0], leaders);
  if (!objection)
    return std::nullopt;
  return Objection{&load, "its mask takes branches: " + objection->reason, objection->remedy};
}

void PrefetchPlanner::note_addresses(const std::vector<const ir::Op *> &loads, PrefetchPlan &plan) const {
  std::vector<ir::ValueId> open;
  for (const ir::Op *load : loads)
    open.insert(open.end(), load->operands.begin(), load->operands.end());
  while (!open.empty()) {
    const ir::Op *op = index_.definition(open.back());
    open.pop_back();
    if (op && index_.block(*op) == &body_ && plan.addresses.insert(op).second)
      open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
}

/// AGPRs included.
unsigned PrefetchPlanner::registers_of_a_lane() const {
  const int spread = function_.options.waves / static_cast<int>(gfx950::simds);
  return gfx950::registers_of_wave(
      static_cast<unsigned>(std::max({1, function_.options.waves_per_eu, spread})));
}

/// Vector registers of a lane for accumulators and loads. Where there are no accumulation registers, nothing
/// can go there for a while.
unsigned PrefetchPlanner::available_registers() const {
  const unsigned file = registers_of_a_lane();
  unsigned working = file <= vgprs ? 2 * cost::working_registers : cost::working_registers;
  for (const ir::Op &op : body_.ops)
    if (layouts_.shared_quantizes.count(&op) != 0)
      working += dwords(function_.type(op.results[0]), layouts_.layout(op.results[0]));
  const unsigned room = std::min(file, vgprs);
  return room - std::min(room, working);
}

/// Many accumulators live in accumulation registers, as far as there are any; what is in flight, and what is
/// computed, needs vector registers. Loads that take branches count, as their iteration holds them too.
unsigned PrefetchPlanner::depth(const std::vector<const ir::Op *> &loads) const {
  unsigned accumulators = 0, in_flight = 0;
  for (size_t i = 0; i < loop_.results.size(); ++i) {
    const ir::ValueId carried = body_.arguments[i + 1];
    if (layouts_.assigned[carried])
      accumulators += dwords(function_.type(carried), layouts_.layout(carried));
  }
  for (const ir::Op *load : loads)
    in_flight += dwords(function_.type(load->result()), layouts_.layout(load->result()));
  const unsigned file = registers_of_a_lane();
  const unsigned agprs = file > vgprs ? file - vgprs : 0;
  if (accumulators > vgprs / 2)
    accumulators -= std::min(accumulators, agprs);
  auto depth = static_cast<unsigned>(loop_.integer("stages"));
  while (depth > 1 && accumulators + depth * in_flight > available_registers())
    --depth;
  return depth;
}

/// Zero if that is not known at compile time, or differs between the waves.
int64_t PrefetchPlanner::iterations_of_wave() const {
  if (!layouts_.wave_split.contains(body_))
    return 0;
  const auto bound = [&](unsigned operand) { return axes_[loop_.operands[operand]].constant; };
  if (!bound(0) || !bound(1) || !bound(2))
    return 0;
  const int64_t first = *bound(0), last = *bound(1), step = *bound(2), waves = function_.options.waves;
  if (step <= 0 || last <= first || first < 0)
    return 0;
  const int64_t iterations = (last - first + step - 1) / step;
  return iterations % waves == 0 ? iterations / waves : 0;
}

/// While iterations are quantised one after the other, what they hold becomes less and the other loads are
/// started, so that most registers are taken before the first or after the last.
void PrefetchPlanner::write_out(PrefetchPlan &plan) const {
  const int64_t iterations = iterations_of_wave();
  if (iterations == 0 || iterations > cost::max_written_out_iterations)
    return;
  unsigned to_quantize = 0, others = 0, accumulators = 0;
  for (const ir::Op &op : body_.ops) {
    if (op.opcode != ir::Opcode::Quantize)
      continue;
    const ir::Op *load = index_.definition(op.operands[0]);
    if (std::find(plan.loads.begin(), plan.loads.end(), load) == plan.loads.end())
      continue;
    plan.quantizes.push_back(&op);
    to_quantize += dwords_of(load->result());
    for (const ir::ValueId result : op.results)
      others += dwords_of(result);
  }
  for (const ir::Op *load : plan.loads)
    others += dwords_of(load->result());
  others -= to_quantize;
  for (size_t i = 0; i < loop_.results.size(); ++i)
    if (layouts_.assigned[body_.arguments[i + 1]])
      accumulators += dwords_of(body_.arguments[i + 1]);
  const auto count = static_cast<unsigned>(iterations);
  if (std::max(count * to_quantize, count * others + accumulators) <= available_registers())
    plan.written_out = count;
}

} // namespace

Decision<PrefetchPlan> plan_prefetch(const FunctionIndex &index, const AxisAnalysis &axes,
                                     const ValueRanges &ranges, const LayoutChoice &layouts,
                                     const ir::Op &loop) {
  return PrefetchPlanner(index, axes, ranges, layouts, loop).run();
}

} // namespace nereid::codegen
