// Machine code as the steps that waits are about: what LLVM's disassembler prints, sorted by mnemonic.
#include "jit/verify/machine_steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace nereid::jit {
namespace {

using codegen::CodeTag;

template <size_t N>
bool starts_with_one_of(std::string_view text, const std::array<std::string_view, N> &starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

constexpr std::array<std::string_view, 5> vector_memory = {"buffer_", "global_", "flat_", "scratch_",
                                                           "tbuffer_"};
constexpr std::array<std::string_view, 2> cache_control = {"buffer_inv", "buffer_wbl2"};
constexpr std::array<std::string_view, 2> scalar_memory = {"s_load", "s_buffer_load"};
constexpr std::array<std::string_view, 2> branches = {"s_branch", "s_cbranch"};
constexpr std::array<std::string_view, 3> computed_jumps = {"s_setpc", "s_swappc", "s_call"};

std::optional<unsigned> counter(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos)
    return std::nullopt;
  unsigned value = 0;
  std::from_chars(text.data() + at + name.size(), text.data() + text.size(), value);
  return value;
}

class Reader {
public:
  Reader(const MachineFunction &function, const codegen::PipelineContract &contract)
      : function_(function), contract_(contract) {
    for (size_t i = 0; i < function.instructions.size(); ++i)
      number_[function.instructions[i].address] = i;
  }

  Result<std::vector<MachineStep>> read() const {
    std::vector<MachineStep> steps;
    for (const MachineInstruction &instruction : function_.instructions) {
      const std::optional<MachineStep> read = step(instruction);
      if (!read)
        return nereid_error("the wait verifier does not understand an instruction (" + text_of(instruction) +
                            ")");
      steps.push_back(*read);
    }
    return steps;
  }

private:
  bool is_in_contract(const SourcePosition &position) const {
    const bool is_first = contract_.tag == CodeTag::Pipeline && tag_of(position) == CodeTag::FirstCopy;
    return position.line == contract_.line && (tag_of(position) == contract_.tag || is_first);
  }
  static CodeTag tag_of(const SourcePosition &position) { return static_cast<CodeTag>(position.column); }

  std::optional<MachineStep> step(const MachineInstruction &instruction) const;
  StepKind memory_kind(const MachineInstruction &instruction) const;
  static std::optional<MachineStep> wait(std::string_view text);
  std::optional<MachineStep> branch(const MachineInstruction &instruction) const;

  const MachineFunction &function_;
  const codegen::PipelineContract &contract_;
  std::map<uint64_t, size_t> number_; ///< of the instruction at an address
};

std::optional<MachineStep> Reader::step(const MachineInstruction &instruction) const {
  const std::string_view text = instruction.text;
  if (starts_with_one_of(text, vector_memory) && !starts_with_one_of(text, cache_control))
    return MachineStep{memory_kind(instruction)};
  if (text.starts_with("ds_")) {
    const bool reads = text.starts_with("ds_read") && is_in_contract(instruction.position);
    return MachineStep{reads ? StepKind::PipelineRead : StepKind::Lds};
  }
  if (starts_with_one_of(text, scalar_memory))
    return MachineStep{StepKind::ScalarMemory};
  if (text.starts_with("s_waitcnt "))
    return wait(text);
  if (text.starts_with("s_barrier"))
    return MachineStep{StepKind::Barrier};
  if (starts_with_one_of(text, branches))
    return branch(instruction);
  if (starts_with_one_of(text, computed_jumps))
    return std::nullopt;
  MachineStep other;
  other.falls_through = !text.starts_with("s_endpgm");
  return other;
}

StepKind Reader::memory_kind(const MachineInstruction &instruction) const {
  if (!is_async_copy(instruction) || !is_in_contract(instruction.position))
    return StepKind::VectorMemory;
  return tag_of(instruction.position) == CodeTag::FirstCopy ? StepKind::FirstCopy : StepKind::Copy;
}

std::optional<MachineStep> Reader::wait(std::string_view text) {
  const bool names_counters = text.find('(') != std::string_view::npos;
  if (!names_counters && text != "s_waitcnt 0")
    return std::nullopt;
  MachineStep step{StepKind::Wait, 0, 0};
  if (names_counters) {
    step.vector_wait = counter(text, "vmcnt(").value_or(max_outstanding);
    step.lds_wait = counter(text, "lgkmcnt(").value_or(~0u);
  }
  return step;
}

std::optional<MachineStep> Reader::branch(const MachineInstruction &instruction) const {
  const std::string_view text = instruction.text;
  int words = 0; // from the next instruction, as 16 bits
  const size_t operand = text.find_last_of(' ') + 1;
  std::from_chars(text.data() + operand, text.data() + text.size(), words);
  const int64_t bytes = int64_t(static_cast<int16_t>(words)) * 4;
  const auto target = number_.find(instruction.address + instruction.size + static_cast<uint64_t>(bytes));
  if (target == number_.end())
    return std::nullopt;
  MachineStep step{StepKind::Branch};
  step.target = target->second;
  step.falls_through = text.starts_with("s_cbranch");
  return step;
}

} // namespace

Result<std::vector<MachineStep>> read_steps(const MachineFunction &function,
                                            const codegen::PipelineContract &contract) {
  return Reader(function, contract).read();
}

bool is_async_copy(const MachineInstruction &instruction) {
  const std::string_view text = instruction.text;
  return starts_with_one_of(text, vector_memory) && text.ends_with(" lds");
}

std::string text_of(const MachineInstruction &instruction) {
  return fmt::format("at {:#x}, {}", instruction.address, instruction.text);
}

} // namespace nereid::jit
