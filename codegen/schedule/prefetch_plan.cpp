#include "codegen/schedule/prefetch_plan.h"

#include <algorithm>

namespace nereid::codegen {

namespace {

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

class Planner {
public:
  Planner(const FunctionIndex &index, const LayoutChoice &layouts, const ir::Op &loop)
      : index_(index), function_(index.function()), layouts_(layouts), body_(loop.blocks.front()),
        loop_(loop) {}

  PrefetchPlan run() {
    PrefetchPlan plan;
    if (loop_.integer("stages") < 2 || !std::all_of(body_.ops.begin(), body_.ops.end(), may_overlap))
      return plan;
    find_early_values(plan);
    for (const ir::Op &op : body_.ops)
      if (op.opcode == ir::Opcode::Load && is_early(op) && function_.type(op.result()).rank() != 0) {
        plan.loads.push_back(&op);
        for (ir::ValueId operand : op.operands)
          note_addresses(operand, plan);
      }
    plan.depth = depth(plan);
    return plan;
  }

private:
  bool is_early(const ir::Op &op) const {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](ir::ValueId v) { return late_.count(v) == 0; });
  }

  /// Values of the body either are early (known from the index alone) or late.
  void find_early_values(PrefetchPlan &plan) {
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

  void note_addresses(ir::ValueId value, PrefetchPlan &plan) const {
    const ir::Op *op = index_.definition(value);
    if (!op || index_.block(*op) != &body_ || !plan.addresses.insert(op).second)
      return;
    for (ir::ValueId operand : op->operands)
      note_addresses(operand, plan);
  }

  /// Many sums live in accumulation registers, as far as there are any; what is in flight, and what is
  /// computed, needs vector registers.
  unsigned depth(const PrefetchPlan &plan) const {
    constexpr unsigned vector_registers = 256, whole_file = 512, simds = 4, working_registers = 26;
    unsigned accumulators = 0, in_flight = 0;
    for (size_t i = 0; i < loop_.results.size(); ++i) {
      const ir::ValueId carried = body_.arguments[i + 1];
      if (layouts_.assigned[carried])
        accumulators += dwords(function_.type(carried), layouts_.layout(carried));
    }
    for (const ir::Op *load : plan.loads)
      in_flight += dwords(function_.type(load->result()), layouts_.layout(load->result()));
    const int waves = std::max({1, function_.options.waves_per_eu, function_.options.waves / int(simds)});
    const unsigned file = whole_file / static_cast<unsigned>(waves);
    const unsigned agprs = file > vector_registers ? file - vector_registers : 0;
    if (accumulators > vector_registers / 2)
      accumulators -= std::min(accumulators, agprs);
    // Where there are no accumulation registers, nothing can go there for a while.
    unsigned working = agprs == 0 ? 2 * working_registers : working_registers;
    for (const ir::Op &op : body_.ops)
      if (layouts_.shared_quantizes.count(&op) != 0)
        working += dwords(function_.type(op.results[0]), layouts_.layout(op.results[0]));
    const unsigned room = std::min(file, vector_registers);
    const unsigned available = room - std::min(room, working);
    auto depth = static_cast<unsigned>(loop_.integer("stages"));
    while (depth > 1 && accumulators + depth * in_flight > available)
      --depth;
    return depth;
  }

  const FunctionIndex &index_;
  const ir::Function &function_;
  const LayoutChoice &layouts_;
  const ir::Block &body_;
  const ir::Op &loop_;
  std::unordered_set<ir::ValueId> late_;
};

} // namespace

PrefetchPlan plan_prefetch(const FunctionIndex &index, const LayoutChoice &layouts, const ir::Op &loop) {
  return Planner(index, layouts, loop).run();
}

} // namespace nereid::codegen
