// Remarks: the reasons that the plan has, as data for the kernel's author.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/byte_text.h"
#include "codegen/assign/buffer_access.h"
#include "codegen/assign/offset_bounds.h"
#include "codegen/plan/conversions.h"
#include "codegen/plan/kernel_plan.h"
#include "codegen/plan/narrow_access.h"

namespace nereid::codegen {
namespace {

class Collector {
public:
  explicit Collector(const KernelPlan &plan)
      : plan_(plan), function_(plan.function()), defined_(plan.index, plan.layouts),
        bounds_(plan.index, plan.ranges) {
    for (const LoopPlan &loop : plan.loops)
      if (const auto *pipeline = std::get_if<LdsPipeline>(&loop.schedule))
        for (const PipelinedLoad &load : pipeline->loads)
          pipelined_.insert(load.op);
      else if (const auto *prefetch = std::get_if<LdsPrefetch>(&loop.schedule))
        for (const PipelinedLoad &load : prefetch->loads)
          pipelined_.insert(load.op);
  }

  std::vector<Remark> run();

private:
  void merge_equal();
  void add(RemarkKind kind, const ir::Op &op, std::string message, std::string remedy = {});
  /// A reason, with its location where that is another than the remark's.
  std::string because(const Objection &objection, const ir::Op &of) const;
  void note_loop(const LoopPlan &loop);
  void note_sequential(const LoopPlan &loop);
  void note_operands(const LoopPlan &loop);
  void note_round_trips(const LoopPlan &loop);
  void note_mask(const ir::Op &op);
  void note_width(const NarrowAccess &access);
  void note_condition(const ir::Op &op);
  std::vector<const ir::Op *> operand_loads(const ir::Block &body) const;

  const KernelPlan &plan_;
  const ir::Function &function_;
  DefinedLayouts defined_;
  OffsetBounds bounds_;
  /// Loads of loops over LDS, all of which go through descriptors.
  std::unordered_set<const ir::Op *> pipelined_;
  std::vector<Remark> remarks_;
};

void Collector::add(RemarkKind kind, const ir::Op &op, std::string message, std::string remedy) {
  remarks_.push_back(
      {kind, function_.location(op), plan_.index.line(op), std::move(message), std::move(remedy)});
}

std::string Collector::because(const Objection &objection, const ir::Op &of) const {
  const SourceLine &location = function_.location(*objection.op);
  if (objection.op == &of || !location.known() || location == function_.location(of))
    return objection.reason;
  return fmt::format("{} ({})", objection.reason, location.text());
}

std::vector<Remark> Collector::run() {
  for (const WholeLoop &whole : plan_.whole_loops)
    add(RemarkKind::NotSplitOverWaves, *whole.loop,
        "all waves run each iteration of the loop together: " + because(whole.objection, *whole.loop));
  for (const LoopPlan &loop : plan_.loops)
    note_loop(loop);
  ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
    note_mask(op);
    note_condition(op);
  });
  for (const NarrowAccess &access : narrow_accesses(plan_))
    note_width(access);
  if (const std::optional<Objection> &fences = plan_.device_order.fences)
    add(RemarkKind::CacheFences, *fences->op,
        "release and acquire write back and invalidate the whole L2: " + fences->reason);
  std::stable_sort(remarks_.begin(), remarks_.end(),
                   [](const Remark &a, const Remark &b) { return a.line < b.line; });
  merge_equal();
  return std::move(remarks_);
}

/// Of equal remarks for one line of the source, which are of operations that the author wrote in it or of one
/// that was written out, the first is kept, with how many they are.
void Collector::merge_equal() {
  std::vector<Remark> merged;
  std::vector<unsigned> times;
  for (Remark &remark : remarks_) {
    const auto equal = std::find_if(merged.begin(), merged.end(), [&](const Remark &other) {
      return remark.where.known() && remark.where == other.where && remark.kind == other.kind &&
             remark.message == other.message && remark.remedy == other.remedy;
    });
    if (equal != merged.end()) {
      ++times[static_cast<size_t>(equal - merged.begin())];
      continue;
    }
    merged.push_back(std::move(remark));
    times.push_back(1);
  }
  for (size_t i = 0; i < merged.size(); ++i)
    if (times[i] > 1)
      merged[i].message += fmt::format(" ({} times)", times[i]);
  remarks_ = std::move(merged);
}

void Collector::note_loop(const LoopPlan &loop) {
  const int64_t stages = loop.op->integer("stages");
  if (loop.is_split_over_waves)
    add(RemarkKind::SplitOverWaves, *loop.op,
        fmt::format(
            "each of {} waves runs iterations of its own; their accumulators are added after the loop",
            function_.options.waves));
  if (const auto *pipeline = std::get_if<LdsPipeline>(&loop.schedule)) {
    if (pipeline->schedule.buffers < stages)
      add(RemarkKind::FewerStages, *loop.op,
          fmt::format("the LDS pipeline has {} stages of {}: {}", pipeline->schedule.buffers, stages,
                      text_of(pipeline->limit)));
  } else if (const auto *lds = std::get_if<LdsPrefetch>(&loop.schedule)) {
    if (lds->buffers < stages)
      add(RemarkKind::FewerStages, *loop.op,
          fmt::format("LDS prefetch has {} stages of {}: {}", lds->buffers, stages, text_of(lds->limit)));
  } else if (const auto *prefetch = std::get_if<PrefetchPlan>(&loop.schedule)) {
    if (prefetch->written_out == 0 && prefetch->depth < stages)
      add(RemarkKind::FewerStages, *loop.op,
          fmt::format("loads are issued {} iterations ahead, not {}: accumulators and loads of more exceed a "
                      "lane's registers",
                      prefetch->depth, stages));
    for (const Objection &kept : prefetch->kept)
      add(RemarkKind::NotPipelined, *kept.op, "the load is not issued ahead: " + kept.reason, kept.remedy);
  } else if (stages > 1) {
    note_sequential(loop);
  }
  if (stages > 1 && !loop.is_split_over_waves && !std::holds_alternative<LdsPrefetch>(loop.schedule))
    note_operands(loop);
  note_round_trips(loop);
}

void Collector::note_sequential(const LoopPlan &loop) {
  // The config's stages are those of all loops, and meant for the inner ones, which have remarks of their
  // own.
  const ir::Op &obstacle = *loop.no_prefetch->op;
  if (&obstacle != loop.op && obstacle.opcode == ir::Opcode::For && obstacle.integer("stages") > 1)
    return;
  const std::vector<ir::Op> &body = loop.op->blocks.front().ops;
  std::string message = fmt::format("stages = {} has no effect: no load is issued ahead, as {}",
                                    loop.op->integer("stages"), because(*loop.no_prefetch, *loop.op));
  if (std::any_of(body.begin(), body.end(), [](const ir::Op &op) { return ir::is_dot(op.opcode); }))
    message += "; it is no LDS pipeline, as " + because(*loop.no_lds_pipeline, *loop.op);
  add(RemarkKind::NotPipelined, *loop.op, message, loop.no_prefetch->remedy);
}

/// The loads of a body that operands of its dots are computed from.
std::vector<const ir::Op *> Collector::operand_loads(const ir::Block &body) const {
  std::vector<ir::ValueId> open;
  for (const ir::Op &op : body.ops)
    if (ir::is_dot(op.opcode)) {
      const DotSides sides = sides_of_dot(function_, op);
      open.insert(open.end(), {sides.b.value, sides.a.value});
    }
  std::vector<const ir::Op *> loads;
  std::unordered_set<ir::ValueId> seen;
  while (!open.empty()) {
    const ir::ValueId value = open.back();
    open.pop_back();
    const ir::Op *op = plan_.index.definition(value);
    if (!op || !seen.insert(value).second || plan_.index.block(*op) != &body)
      continue;
    if (op->opcode == ir::Opcode::Load)
      loads.push_back(op);
    else if (!ir::is_dot(op->opcode))
      open.insert(open.end(), op->operands.begin(), op->operands.end());
  }
  return loads;
}

void Collector::note_operands(const LoopPlan &loop) {
  const auto *pipeline = std::get_if<LdsPipeline>(&loop.schedule);
  for (const ir::Op *load : operand_loads(loop.op->blocks.front())) {
    if (!plan_.layouts.assigned[load->result()] || !wants_lds(plan_.index, plan_.axes, plan_.layouts, *load))
      continue;
    const Decision<LdsImage> image = choose_lds_image(plan_.index, plan_.axes, plan_.layouts, *load);
    if (pipeline && image)
      continue;
    const Objection &objection = image ? *loop.no_lds_pipeline : image.objection();
    add(RemarkKind::NotThroughLds, *load,
        "several waves load the operand, each in short runs: " + because(objection, *load));
  }
}

/// Conversions of the operations in a loop's body, without inner loops.
void Collector::note_round_trips(const LoopPlan &loop) {
  ConversionWalk walk(plan_.index, plan_.axes, plan_.layouts, defined_);
  walk.visit(loop.op->blocks.front());
  for (const Conversion &conversion : walk.conversions()) {
    const Result<ConversionPlan> plan =
        plan_of(function_, conversion, conversion_options(function_.options, loop.is_split_over_waves));
    if (plan && plan->kind == ConversionKind::Lds)
      add(RemarkKind::LdsRoundTrip, *conversion.user,
          fmt::format("in each iteration %{}, {}, goes through {} bytes of LDS to where a {} wants it",
                      conversion.wanted.value, function_.type(conversion.wanted.value).text(),
                      plan->lds_bytes(), ir::facts(conversion.user->opcode).name));
  }
}

void Collector::note_mask(const ir::Op &op) {
  const bool is_load = op.opcode == ir::Opcode::Load;
  if ((!is_load && op.opcode != ir::Opcode::Store) || !mask_operand(op) ||
      function_.type(op.operands[0]).rank() == 0 || pipelined_.count(&op) != 0)
    return;
  const LinearLayout &layout = is_load ? plan_.layouts.layout(op.result()) : plan_.layouts.writes.at(&op);
  const LinearLayout leaders = access_leaders(plan_.index, plan_.axes, op, layout);
  if (const auto objection = bounds_.objection(op.operands[0], leaders))
    add(RemarkKind::MaskBranches, op,
        fmt::format(
            "the mask of the {} becomes branches, as its address does not fit a buffer descriptor: {}",
            ir::facts(op.opcode).name, objection->reason),
        objection->remedy);
}

void Collector::note_condition(const ir::Op &op) {
  if (op.opcode != ir::Opcode::While)
    return;
  bool loads = false;
  for (const ir::Block &block : op.blocks)
    loads = loads || std::any_of(block.ops.begin(), block.ops.end(),
                                 [](const ir::Op &each) { return each.opcode == ir::Opcode::Load; });
  if (loads)
    add(RemarkKind::NotPipelined, op,
        "no load is issued ahead, as a condition ends the loop: whether there is another iteration is not "
        "known "
        "before",
        "If the number of iterations is known before the loop, use range without break_when");
}

void Collector::note_width(const NarrowAccess &access) {
  if (pipelined_.count(access.op) != 0)
    return;
  std::vector<std::string> names;
  for (const size_t i : access.arguments) {
    const bool named = i < function_.argument_names.size() && !function_.argument_names[i].empty();
    names.push_back(named ? function_.argument_names[i] : fmt::format("argument {}", i));
  }
  add(RemarkKind::NarrowAccess, *access.op,
      fmt::format("a lane moves {} at a time, not {}, as {} may be no multiple of {}",
                  byte_text(access.bytes), access.possible, fmt::join(names, " or "), wanted_divisibility),
      "Launch with multiples of 16: pad rows, align buffers to 16 bytes");
}

} // namespace

std::vector<Remark> KernelPlan::remarks() const { return Collector(*this).run(); }

} // namespace nereid::codegen
