// The instructions of a kernel, and the loops among them.
#include "inspect/machine_code.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "jit/compile/inspection.h"
#include "jit/compile/large_stack.h"
#include "sim/decode/program.h"

namespace nereid::inspect {
namespace {

/// The name of a category in reports.
const char *kind_name(sim::Category category) {
  switch (category) {
  case sim::Category::Mfma:
    return "mfma";
  case sim::Category::Valu:
    return "valu";
  case sim::Category::Salu:
    return "salu";
  case sim::Category::Smem:
    return "smem";
  case sim::Category::Lds:
    return "lds";
  case sim::Category::VmemLoad:
    return "vmem_load";
  case sim::Category::VmemStore:
    return "vmem_store";
  case sim::Category::VmemAtomic:
    return "vmem_atomic";
  case sim::Category::Barrier:
    return "barrier";
  case sim::Category::Waitcnt:
    return "waitcnt";
  case sim::Category::Branch:
    return "branch";
  case sim::Category::Other:
    break;
  }
  return "other";
}

/// The function in which a kernel's execution starts.
Result<jit::MachineFunction> function_of(std::span<const uint8_t> elf, const sim::KernelInfo &kernel) {
  NEREID_TRY(std::vector<jit::MachineFunction> functions,
             jit::on_large_stack([&] { return jit::read_functions(elf); }));
  for (jit::MachineFunction &function : functions) {
    const auto starts = [&](const jit::MachineInstruction &instruction) {
      return instruction.address == kernel.entry;
    };
    if (std::any_of(function.instructions.begin(), function.instructions.end(), starts))
      return std::move(function);
  }
  return user_error(fmt::format("the code object has no symbol of a function for kernel '{}'", kernel.name),
                    "do not strip it; in assembly, give .type NAME,@function and .size");
}

/// Backward branches; outer loops before inner ones.
std::vector<Loop> loops_of(const std::vector<Instruction> &code) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < code.size(); ++i) {
    const int target = code[i].target;
    if (target < 0 || target > static_cast<int>(i))
      continue;
    Loop loop{static_cast<unsigned>(target), static_cast<unsigned>(i)};
    for (unsigned k = loop.first; k <= loop.last; ++k)
      ++loop.mix[code[k].kind];
    loops.push_back(std::move(loop));
  }
  std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  return loops;
}

/// Of the innermost loops the one with the most matrix instructions, of these the longest; -1: there is none.
int hot_loop_of(const std::vector<Loop> &loops) {
  const auto products = [](const Loop &loop) {
    const auto found = loop.mix.find("mfma");
    return found == loop.mix.end() ? 0 : found->second;
  };
  int hot = -1;
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop &loop = loops[i];
    const bool inner = std::none_of(loops.begin(), loops.end(), [&](const Loop &other) {
      return &other != &loop && other.first >= loop.first && other.last <= loop.last;
    });
    if (!inner)
      continue;
    const auto weight = [&](const Loop &of) { return std::pair(products(of), of.last - of.first); };
    if (hot < 0 || weight(loop) > weight(loops[static_cast<size_t>(hot)]))
      hot = static_cast<int>(i);
  }
  return hot;
}

} // namespace

Result<MachineCode> add_code(Report &report, std::span<const uint8_t> elf, const sim::CodeObject &code,
                             const sim::KernelInfo &kernel, SourceFiles &files, const OriginOf &origin_of) {
  NEREID_TRY(const jit::MachineFunction function, function_of(elf, kernel));
  const sim::Program &program = code.program();
  MachineCode machine;
  machine.report_index.assign(program.size(), -1);
  for (const jit::MachineInstruction &decoded : function.instructions) {
    const uint32_t index = program.index_at(decoded.address);
    if (index == sim::Program::no_instruction)
      return nereid_error(fmt::format("the simulator sees no instruction at {:#x}", decoded.address));
    const Origin origin = origin_of(decoded.address, decoded.position.line);
    Instruction instruction{decoded.address, decoded.text, kind_name(program[index].category),
                            origin.operation, files.place(origin.line)};
    machine.report_index[index] = static_cast<int>(report.code.size());
    machine.program_index.push_back(index);
    report.code.push_back(std::move(instruction));
  }
  for (size_t i = 0; i < report.code.size(); ++i) {
    const sim::Instruction &instruction = program[machine.program_index[i]];
    const std::string_view text = report.code[i].text;
    const bool jumps = text.starts_with("s_branch") || text.starts_with("s_cbranch");
    if (jumps && instruction.target < machine.report_index.size())
      report.code[i].target = machine.report_index[instruction.target];
  }
  report.loops = loops_of(report.code);
  report.hot_loop = hot_loop_of(report.loops);
  return machine;
}

} // namespace nereid::inspect
