#include "jit/verify/wait_verifier.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace nereid::jit {
namespace {

constexpr unsigned max_outstanding = 63; // vector memory stalls beyond

enum class Kind {
  Copy,
  FirstCopy,
  VectorMemory,
  PipelineRead,
  Lds,
  ScalarMemory,
  Wait,
  Barrier,
  Branch,
  Other
};

struct Step {
  Kind kind = Kind::Other;
  unsigned vector_wait = max_outstanding, lds_wait = ~0u; ///< of a Wait
  std::optional<size_t> target;                           ///< of a Branch
  bool falls_through = true;
};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::optional<unsigned> counter(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos)
    return std::nullopt;
  unsigned value = 0;
  std::from_chars(text.data() + at + name.size(), text.data() + text.size(), value);
  return value;
}

/// The whole code as steps; nothing if something is not understood.
class Reader {
public:
  Reader(const MachineFunction &function, const codegen::PipelineContract &contract)
      : function_(function), contract_(contract) {
    for (size_t i = 0; i < function.instructions.size(); ++i)
      at_[function.instructions[i].address] = i;
  }

  std::optional<std::vector<Step>> read() const {
    std::vector<Step> steps;
    for (const MachineInstruction &instruction : function_.instructions) {
      std::optional<Step> made = step(instruction);
      if (!made)
        return std::nullopt;
      steps.push_back(*made);
    }
    return steps;
  }

private:
  bool is_in_contract(const SourcePosition &position) const {
    const bool first =
        contract_.column == codegen::pipeline_column && position.column == codegen::first_copy_column;
    return position.line == contract_.line && (position.column == contract_.column || first);
  }

  std::optional<Step> step(const MachineInstruction &instruction) const {
    const std::string_view text = instruction.text;
    Step made;
    const bool memory = starts_with(text, "buffer_") || starts_with(text, "global_") ||
                        starts_with(text, "flat_") || starts_with(text, "scratch_") ||
                        starts_with(text, "tbuffer_");
    if (memory && !starts_with(text, "buffer_inv") && !starts_with(text, "buffer_wbl2")) {
      const bool copies = text.size() > 4 && text.substr(text.size() - 4) == " lds";
      const bool in_contract = copies && is_in_contract(instruction.position);
      const bool first = instruction.position.column == codegen::first_copy_column;
      made.kind = !in_contract ? Kind::VectorMemory : first ? Kind::FirstCopy : Kind::Copy;
      return made;
    }
    if (starts_with(text, "ds_")) {
      const bool reads = starts_with(text, "ds_read") && is_in_contract(instruction.position);
      made.kind = reads ? Kind::PipelineRead : Kind::Lds;
      return made;
    }
    if (starts_with(text, "s_load") || starts_with(text, "s_buffer_load")) {
      made.kind = Kind::ScalarMemory;
      return made;
    }
    if (starts_with(text, "s_waitcnt ")) {
      made.kind = Kind::Wait;
      const auto vector = counter(text, "vmcnt("), lds = counter(text, "lgkmcnt(");
      const bool named = text.find('(') != std::string_view::npos;
      if (!named && text != "s_waitcnt 0")
        return std::nullopt;
      made.vector_wait = named ? vector.value_or(max_outstanding) : 0;
      made.lds_wait = named ? lds.value_or(~0u) : 0;
      return made;
    }
    if (starts_with(text, "s_barrier")) {
      made.kind = Kind::Barrier;
      return made;
    }
    if (starts_with(text, "s_endpgm")) {
      made.falls_through = false;
      return made;
    }
    if (starts_with(text, "s_branch") || starts_with(text, "s_cbranch")) {
      made.kind = Kind::Branch;
      made.falls_through = starts_with(text, "s_cbranch");
      int words = 0;
      const size_t number = text.find_last_of(' ') + 1;
      std::from_chars(text.data() + number, text.data() + text.size(), words);
      const auto target = at_.find(instruction.address + instruction.size +
                                   static_cast<uint64_t>(int64_t(static_cast<int16_t>(words)) * 4));
      if (target == at_.end())
        return std::nullopt;
      made.target = target->second;
      return made;
    }
    if (starts_with(text, "s_setpc") || starts_with(text, "s_swappc") || starts_with(text, "s_call"))
      return std::nullopt;
    return made;
  }

  const MachineFunction &function_;
  const codegen::PipelineContract &contract_;
  std::map<uint64_t, size_t> at_;
};

/// What a wave has done. Copies and groups of reads are counted from the stage that is being read.
struct State {
  std::string outstanding; ///< vector memory, oldest first: 'c' a copy of the promise, '.' another
  bool reads_pending = false, scalar_pending = false;
  unsigned lds_pending = 0; ///< LDS instructions
  int copied = 0;           ///< copies issued
  int arrived = 0;          ///< of these, before the last barrier
  int read = 0;             ///< reads of the stage
  int free = 0;             ///< stages before this one are read and were so at a barrier

  auto key() const {
    return std::tie(outstanding, reads_pending, scalar_pending, lds_pending, copied, arrived, read, free);
  }
  bool operator<(const State &other) const { return key() < other.key(); }
};

class Wave {
public:
  explicit Wave(const codegen::PipelineContract &contract)
      : copies_(static_cast<int>(contract.copies)), reads_(static_cast<int>(contract.reads)),
        buffers_(static_cast<int>(contract.buffers)) {}

  /// What is wrong, else the state after the step.
  std::optional<std::string> run(const Step &step, State &state) const {
    switch (step.kind) {
    case Kind::FirstCopy:
      if (state.outstanding.find('c') != std::string::npos || state.reads_pending)
        return "a pipeline starts while copies or reads of the one before are under way";
      state.copied = state.arrived = state.read = state.free = 0;
      return copy(state);
    case Kind::Copy:
      return copy(state);
    case Kind::VectorMemory:
      issue(state, '.');
      return std::nullopt;
    case Kind::PipelineRead:
      return read(state);
    case Kind::Lds:
      ++state.lds_pending;
      return std::nullopt;
    case Kind::ScalarMemory:
      state.scalar_pending = true;
      return std::nullopt;
    case Kind::Wait:
      wait(step, state);
      return std::nullopt;
    case Kind::Barrier:
      meet(state);
      return std::nullopt;
    case Kind::Branch:
    case Kind::Other:
      return std::nullopt;
    }
    return std::nullopt;
  }

private:
  static void issue(State &state, char what) {
    state.outstanding += what;
    if (state.outstanding.size() > max_outstanding)
      state.outstanding.erase(0, 1);
  }

  std::optional<std::string> copy(State &state) const {
    const int overwritten = state.copied / copies_ - buffers_;
    if (overwritten >= state.free)
      return "a copy overwrites a buffer whose reads may not be over in all waves";
    issue(state, 'c');
    ++state.copied;
    return std::nullopt;
  }

  std::optional<std::string> read(State &state) const {
    if (state.arrived < copies_)
      return "a read may come before the copies of its stage have arrived in all waves";
    ++state.lds_pending;
    state.reads_pending = true;
    if (++state.read == reads_) {
      state.read = 0;
      state.copied -= copies_;
      state.arrived -= copies_;
      --state.free;
    }
    return std::nullopt;
  }

  /// LDS counts down in order, but scalar memory may come between: then only zero says something.
  static void wait(const Step &step, State &state) {
    if (state.outstanding.size() > step.vector_wait)
      state.outstanding.erase(0, state.outstanding.size() - step.vector_wait);
    if (step.lds_wait == 0)
      state.scalar_pending = false;
    if (step.lds_wait == 0 || !state.scalar_pending)
      state.lds_pending = std::min(state.lds_pending, step.lds_wait);
    if (state.lds_pending == 0)
      state.reads_pending = false;
  }

  static void meet(State &state) {
    const auto under_way = std::count(state.outstanding.begin(), state.outstanding.end(), 'c');
    state.arrived = state.copied - static_cast<int>(under_way);
    if (!state.reads_pending)
      state.free = 0;
  }

  int copies_, reads_, buffers_;
};

} // namespace

std::optional<std::string> verify_waits(const MachineFunction &function,
                                        const codegen::PipelineContract &contract) {
  constexpr size_t max_states = 400000;
  const std::optional<std::vector<Step>> steps = Reader(function, contract).read();
  if (!steps || contract.copies == 0 || contract.reads == 0 || contract.buffers == 0)
    return "the code has instructions that the check does not know";
  const Wave wave(contract);
  std::vector<std::set<State>> seen(steps->size());
  std::deque<std::pair<size_t, State>> open = {{0, State()}};
  size_t states = 0;
  bool copies = false, reads = false;
  auto go = [&](size_t to, const State &state) {
    if (to < steps->size() && seen[to].insert(state).second)
      open.emplace_back(to, state);
  };
  while (!open.empty()) {
    auto [at, state] = std::move(open.back());
    open.pop_back();
    if (++states > max_states)
      return "the code has more states than the check follows";
    const Step &step = (*steps)[at];
    copies = copies || step.kind == Kind::Copy || step.kind == Kind::FirstCopy;
    reads = reads || step.kind == Kind::PipelineRead;
    if (auto wrong = wave.run(step, state)) {
      const MachineInstruction &instruction = function.instructions[at];
      return fmt::format("{} (at {:#x}, {})", *wrong, instruction.address, instruction.text);
    }
    if (step.falls_through)
      go(at + 1, state);
    if (step.target)
      go(*step.target, state);
  }
  if (!copies || !reads)
    return "the copies or the reads are not in the code";
  return std::nullopt;
}

} // namespace nereid::jit
