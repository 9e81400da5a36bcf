// Tile IR, plan and LLVM IR of a compiled kernel.
#include "inspect/tile_code.h"

#include <map>

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

#include "codegen/plan/kernel_plan.h"
#include "jit/compile/large_stack.h"

namespace nereid::inspect {
namespace {

using codegen::KernelPlan;
using codegen::LinearLayout;

std::vector<llvm::StringRef> lines_of(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  return {lines.begin(), lines.end()};
}

/// Lines of the printed IR that are operations, in their order; the others open the kernel or close a region.
std::vector<IrLine> tile_ir_lines(const CompiledKernel &kernel, SourceFiles &files) {
  std::vector<IrLine> lines;
  unsigned operation = 0;
  const std::string text = kernel.ir();
  for (const llvm::StringRef line : lines_of(text)) {
    IrLine entry{line.str()};
    const llvm::StringRef content = line.ltrim();
    if (!content.empty() && !content.starts_with("}") && !content.starts_with("kernel ")) {
      entry.operation = ++operation;
      entry.place = files.place(kernel.source_line(operation));
    }
    lines.push_back(std::move(entry));
  }
  return lines;
}

/// The number behind "!dbg !" of a line, or -1.
int debug_number(llvm::StringRef line) {
  int number = -1;
  const auto [before, behind] = line.rsplit("!dbg !");
  if (behind.empty() || behind.take_while(llvm::isDigit).getAsInteger(10, number))
    return -1;
  return number;
}

/// "!9 = !DILocation(line: 1, ...": operations by number.
std::map<int, unsigned> debug_locations(const std::vector<llvm::StringRef> &lines) {
  std::map<int, unsigned> operations;
  for (const llvm::StringRef line : lines) {
    const auto [name, location] = line.split(" = !DILocation(line: ");
    int number = 0;
    unsigned operation = 0;
    if (!location.empty() && !name.drop_front().getAsInteger(10, number) &&
        !location.take_while(llvm::isDigit).getAsInteger(10, operation))
      operations[number] = operation;
  }
  return operations;
}

std::vector<IrLine> llvm_ir_lines(const CompiledKernel &kernel, const std::string &text, SourceFiles &files) {
  const std::vector<llvm::StringRef> lines = lines_of(text);
  const std::map<int, unsigned> operations = debug_locations(lines);
  std::vector<IrLine> result;
  for (const llvm::StringRef line : lines) {
    if (line.starts_with("!") || line.starts_with("source_filename"))
      continue;
    const int number = debug_number(line);
    const auto found = operations.find(number);
    // The kernel's own line says nothing that its instructions do not.
    if (found == operations.end() || line.starts_with("define")) {
      result.push_back({line.rsplit(", !dbg !").first.str()});
      continue;
    }
    result.push_back(
        {line.rsplit(", !dbg !").first.str(), found->second, files.place(kernel.source_line(found->second))});
  }
  return result;
}

LayoutFacts layout_facts(std::string name, std::string type, const LinearLayout &layout, Place place) {
  LayoutFacts facts{std::move(name), std::move(type), layout.text(), place};
  for (unsigned d = 0; d < layout.rank(); ++d)
    facts.shape.push_back(layout.dim(d).size());
  for (const codegen::Space space : codegen::all_spaces)
    for (unsigned bit = 0; bit < layout.bits(space); ++bit)
      facts.bases[static_cast<size_t>(space)].push_back(layout.basis(space, bit));
  for (const codegen::Repeat &repeat : layout.repeats())
    facts.repeats.push_back({static_cast<unsigned>(repeat.owner), repeat.count, repeat.dim});
  return facts;
}

void add_layouts(Report &report, const KernelPlan &plan, SourceFiles &files) {
  const ir::Function &function = plan.function();
  const auto add = [&](ir::ValueId value, const Place &place) {
    if (plan.layouts.assigned[value])
      report.layouts.push_back(layout_facts(fmt::format("%{}", value), function.type(value).text(),
                                            plan.layouts.layout(value), place));
  };
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    const Place place = files.place(function.location(op));
    for (const ir::ValueId result : op.results)
      add(result, place);
    for (const ir::Block &block : op.blocks)
      for (const ir::ValueId argument : block.arguments)
        add(argument, place);
  });
}

void add_dots(Report &report, const KernelPlan &plan, SourceFiles &files) {
  const ir::Function &function = plan.function();
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    const auto found = plan.layouts.dots.find(&op);
    if (found == plan.layouts.dots.end())
      return;
    const codegen::MfmaFacts &mfma = *found->second.mfma;
    const ir::Shape &shape = function.type(op.result()).shape;
    DotFacts dot;
    dot.place = files.place(function.location(op));
    dot.text = fmt::format("{} {} x {}", ir::facts(op.opcode).name, shape[0], shape[1]);
    dot.instruction = fmt::format("{}x{}x{} {}", mfma.size(), mfma.size(), mfma.k(), mfma.intrinsic);
    dot.operands = {layout_facts("A", "[rows, K]", mfma.a_layout, dot.place),
                    layout_facts("B", "[K, columns]", mfma.b_layout, dot.place),
                    layout_facts("result", "f32 [rows, columns]", mfma.result_layout, dot.place)};
    report.dots.push_back(std::move(dot));
  });
}

Status add_plan(Report &report, const CompiledKernel &kernel, SourceFiles &files) {
  return jit::on_large_stack([&]() -> Status {
    NEREID_TRY(const auto plan, codegen::plan_kernel(kernel.function()));
    report.plan = plan->text();
    add_layouts(report, *plan, files);
    add_dots(report, *plan, files);
    return {};
  });
}

} // namespace

void add_tile_code(Report &report, const CompiledKernel &kernel, SourceFiles &files) {
  report.tile_ir = tile_ir_lines(kernel, files);
  if (const Status planned = add_plan(report, kernel, files); !planned)
    report.notes.push_back("there is no plan: " + planned.error().message);
  if (const auto remarks = kernel.remarks())
    for (const Remark &remark : *remarks)
      report.remarks.push_back(
          {remark_name(remark.kind), remark.message, remark.remedy, files.place(remark.where)});
  if (const auto text = kernel.llvm_ir())
    report.llvm_ir = llvm_ir_lines(kernel, *text, files);
  else
    report.notes.push_back("there is no LLVM IR: " + text.error().message);
}

} // namespace nereid::inspect
