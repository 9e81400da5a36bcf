// A plan as text.
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/plan/kernel_plan.h"

namespace nereid::codegen {
namespace {

class Printer {
public:
  explicit Printer(const KernelPlan &plan) : plan_(plan), function_(plan.function()) {}

  std::string run() {
    const ir::CompileOptions &options = function_.options;
    append("plan of {}: {} waves, wave_split {}, {} accumulation registers (AGPRs)\n", function_.name,
           options.waves, ir::wave_split_names[static_cast<size_t>(options.wave_split)],
           plan_.has_agprs ? "may use" : "without");
    layouts();
    dots();
    loops();
    device_order();
    remarks();
    return std::move(out_);
  }

private:
  template <class... Args> void append(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  /// "line 12 (kernel.h:41)".
  std::string location(const ir::Op &op) const;
  /// A heading and what add() prints below it, or "none".
  template <class Add> void section(std::string_view title, Add add) {
    append("\n{}\n", title);
    const size_t empty = out_.size();
    add();
    if (out_.size() == empty)
      append("  none\n");
  }
  void layouts();
  void layout(ir::ValueId value);
  void dots();
  void dot(const ir::Op &op, const DotPlan &plan);
  void loops();
  void loop(const LoopPlan &plan);
  void schedule(const PrefetchPlan &plan);
  void schedule(const LdsPrefetch &plan);
  void schedule(const LdsPipeline &plan);
  void schedule(const SequentialLoop &) { append("one iteration after the other\n"); }
  void device_order();
  void remarks();

  const KernelPlan &plan_;
  const ir::Function &function_;
  std::string out_;
};

std::string Printer::location(const ir::Op &op) const {
  SourceLine source = function_.location(op);
  source.file.erase(0, source.file.find_last_of('/') + 1);
  const unsigned line = plan_.index.line(op);
  return source.known() ? fmt::format("line {} ({})", line, source.text()) : fmt::format("line {}", line);
}

void Printer::layouts() {
  section("layouts: what each bit of the register, lane and wave number adds to an element's coordinates",
          [&] {
            ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
              for (ir::ValueId result : op.results)
                layout(result);
              for (const ir::Block &block : op.blocks)
                for (ir::ValueId argument : block.arguments)
                  layout(argument);
            });
          });
}

void Printer::layout(ir::ValueId value) {
  if (!plan_.layouts.assigned[value])
    return;
  const LinearLayout &layout = plan_.layouts.layout(value);
  const size_t shape = ir::text(layout.shape()).size(); // the type has it
  append("  %{} {}{}\n", value, function_.type(value).text(), layout.text().substr(shape));
}

void Printer::dots() {
  section("dots", [&] {
    ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
      if (auto found = plan_.layouts.dots.find(&op); found != plan_.layouts.dots.end())
        dot(op, found->second);
    });
  });
}

/// How the waves share the result, from the bases of the waves' bits.
std::string waves_of(const LinearLayout &result) {
  unsigned rows = 1, columns = 1, copies = 1;
  for (uint64_t basis : result.bases(Space::Wave)) {
    const Coordinates at = result.unflatten(basis);
    (at[0] != 0 ? rows : at[1] != 0 ? columns : copies) *= 2;
  }
  const std::string parts = fmt::format("{} along M, {} along N", rows, columns);
  return copies == 1 ? parts : fmt::format("{}; {} waves compute the same part", parts, copies);
}

void Printer::dot(const ir::Op &op, const DotPlan &plan) {
  const ir::Shape &shape = function_.type(op.result()).shape;
  append("  {}: {} {} x {}, {}x{}x{}; each wave has {} x {} tiles, {} instructions along K\n", location(op),
         ir::facts(op.opcode).name, shape[0], shape[1], plan.mfma->size(), plan.mfma->size(), plan.mfma->k(),
         plan.a.row_tiles(), plan.b.row_tiles(), plan.k_instructions);
  append("    {}\n", plan.mfma->intrinsic);
  if (plan_.layouts.wave_split.contains(*plan_.index.block(op)))
    append("    waves: each computes the whole tile, in iterations of its own\n");
  else if (plan.partial)
    append("    waves: each has a part of K, their results are added once\n");
  else
    append("    waves: {}\n", waves_of(plan.result));
  if (plan.a.k_lane_bits != 0)
    append("    lanes of rows that A lacks take {} steps along K\n", 1u << plan.a.k_lane_bits);
  if (plan.scales_accumulators)
    append("    scales multiply the partial dots of 32 values along K\n");
  for (ir::ValueId operand : {op.operands[0], op.operands[1]})
    if (const ir::Op *quantize = plan_.index.definition(operand);
        quantize && plan_.layouts.shared_quantizes.count(quantize) != 0)
      append("    each wave quantises a part of the operand of {}\n", location(*quantize));
}

void Printer::loops() {
  section("loops", [&] {
    ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
      if (op.opcode == ir::Opcode::For)
        loop(plan_.loop(op));
      else if (op.opcode == ir::Opcode::While)
        append("  {}: ends by a condition; one iteration after the other\n", location(op));
    });
  });
}

void Printer::loop(const LoopPlan &plan) {
  append("  {}: {}", location(*plan.op), plan.is_split_over_waves ? "split over the waves; " : "");
  std::visit([&](const auto &kind) { schedule(kind); }, plan.schedule);
}

void Printer::schedule(const PrefetchPlan &plan) {
  if (plan.written_out != 0)
    append("register prefetch, all {} iterations of a wave in flight\n", plan.written_out);
  else
    append("register prefetch, {} iterations ahead\n", plan.depth);
  for (const ir::Op *load : plan.loads)
    append("    {}: load of {}\n", location(*load), function_.type(load->result()).text());
  for (const Objection &kept : plan.kept)
    append("    {}: not ahead: {}\n", location(*kept.op), kept.reason);
}

void Printer::schedule(const LdsPrefetch &plan) {
  append("LDS prefetch, {} buffers of {} bytes\n", plan.buffers, plan.lds_bytes());
  for (const PipelinedLoad &load : plan.loads)
    if (load.source)
      append("    {}: {} from the copies of {}\n", location(*load.op),
             function_.type(load.op->result()).text(), location(*plan.loads[*load.source].op));
    else
      append("    {}: {} through LDS, {} async copies (global to LDS) of each wave, {} iterations ahead\n",
             location(*load.op), function_.type(load.op->result()).text(), load.copy_count(),
             plan.buffers - 1);
}

void Printer::schedule(const LdsPipeline &plan) {
  const LdsPipelineSchedule &schedule = plan.schedule;
  append("LDS pipeline, {} buffers of {} bytes, accumulators in {}\n", schedule.buffers,
         plan.demand.lds_bytes, schedule.accumulators_in_agprs ? "AGPRs" : "VGPRs");
  append("    an iteration's matrix instructions in {} groups, each before the LDS reads of the next; "
         "instruction order by {}\n",
         schedule.chunks, schedule.group_barriers ? "sched_group_barrier" : "sched_barrier");
  for (const PipelinedLoad &load : plan.loads)
    if (load.through_lds())
      append("    {}: {} through LDS, {} async copies (global to LDS) of each wave, {} iterations ahead\n",
             location(*load.op), function_.type(load.op->result()).text(), load.copies.first.size(),
             schedule.buffers);
    else
      append("    {}: {} to registers, {} loads of each lane, {} iterations ahead\n", location(*load.op),
             function_.type(load.op->result()).text(), load.groups.first.size(), schedule.load_distance());
  if (!plan.loop.conditions.empty())
    append("    iterations in which a mask differs between elements follow one at a time\n");
}

void Printer::device_order() {
  const DeviceOrder &order = plan_.device_order;
  if (!order.has_atomics)
    return;
  append("\norder towards other programs, by {}\n", order.fences ? "fences of the L2" : "waits");
  ir::for_each_op(function_, [&](const ir::Op &op, unsigned) {
    if (order.accesses.count(&op) != 0)
      append("  {}: {} at device scope\n", location(op), ir::facts(op.opcode).name);
  });
}

void Printer::remarks() {
  section("remarks", [&] {
    for (const Remark &remark : plan_.remarks())
      append("  {}\n", remark.text());
  });
}

} // namespace

std::string KernelPlan::text() const { return Printer(*this).run(); }

} // namespace nereid::codegen
