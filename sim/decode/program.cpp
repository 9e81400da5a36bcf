#include "sim/decode/program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/decode/decode.h"
#include "sim/decode/disassembler.h"
#include "sim/decode/operations.h"
#include "sim/decode/taint_rule.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
using Table = std::unordered_map<std::string, Operation, NameHash, std::equal_to<>>;

const Table &table() {
  static const Table operations = [] {
    Table result;
    for (auto family : operation_families)
      for (Operation &operation : family()) {
        std::string name = operation.name;
        result.emplace(std::move(name), std::move(operation));
      }
    return result;
  }();
  return operations;
}

void run_unknown(Wave &wave, const Instruction &instruction) {
  std::string what = instruction.size ? "the simulator does not execute this instruction"
                                      : "the bytes are no gfx950 instruction";
  wave.raise(FaultKind::Unsupported, -1, what);
}

} // namespace

const Operation *find_operation(std::string_view mnemonic) {
  auto found = table().find(mnemonic);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> supported_operations() {
  std::vector<std::string> names;
  for (const auto &[name, operation] : table())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Program::~Program() = default;

Program::Program(std::span<const std::byte> code, uint64_t address)
    : code_(code.begin(), code.end()), address_(address), index_of_word_(code.size() / 4, no_instruction) {
  Disassembler disassembler;
  Decoder decoder(*this);
  std::vector<std::pair<uint32_t, uint64_t>> branches;
  for (size_t at = 0; at + 4 <= code_.size();) {
    std::array<uint32_t, 4> words{};
    std::memcpy(words.data(), code_.data() + at, std::min<size_t>(16, code_.size() - at));
    index_of_word_[at / 4] = size();
    auto decoded = disassembler.decode(std::span(code_).subspan(at), address + at);
    const Operation *operation = decoded.size ? find_operation(decoded.mnemonic) : nullptr;
    Instruction instruction;
    unsigned length = decoded.size ? decoded.size : 4;
    if (operation) {
      std::fill(words.begin() + length / 4, words.end(), 0);
      instruction = decoder.decode(*operation, words, length);
      if (operation->has(Operation::RelativeTarget))
        branches.emplace_back(size(), address + at + 4 + 4 * static_cast<int64_t>(instruction.immediate));
      has_float_atomics_ |= operation->has(Operation::FloatAtomic);
      reads_pc_ |= operation->has(Operation::ReadsPc);
    } else {
      instruction.run = run_unknown;
      instruction.size = static_cast<uint8_t>(decoded.size);
    }
    instruction.address = address + at;
    instructions_.push_back(instruction);
    at += length;
  }
  // Running past the last instruction is a fault like any other.
  Instruction end;
  end.run = run_unknown;
  end.size = 0;
  end.address = address + code_.size();
  instructions_.push_back(end);
  for (auto [index, target] : branches) {
    uint32_t found = index_at(target);
    instructions_[index].target = found == no_instruction ? size() - 1 : found;
  }
}

uint32_t Program::index_at(uint64_t address) const {
  uint64_t offset = address - address_;
  return address < address_ || offset % 4 || offset / 4 >= index_of_word_.size() ? no_instruction
                                                                                 : index_of_word_[offset / 4];
}

std::string Program::text(const Instruction &instruction) const {
  uint64_t offset = instruction.address - address_;
  if (offset >= code_.size())
    return "the end of the code";
  return Disassembler().text(std::span(code_).subspan(offset), instruction.address);
}

const Effects &Program::effects(uint32_t index) const {
  std::call_once(effects_found_, [this] {
    Disassembler disassembler;
    for (const Instruction &instruction : instructions_) {
      const uint64_t offset = instruction.address - address_;
      effects_.push_back(instruction.operation
                             ? disassembler.effects(std::span(code_).subspan(offset), instruction.address,
                                                    *instruction.operation)
                             : Effects{});
    }
  });
  return effects_[index];
}

const TaintRules &Program::taint_rules() const {
  std::call_once(taint_rules_found_, [this] { taint_rules_ = std::make_unique<TaintRules>(*this); });
  return *taint_rules_;
}

const uint32_t *Program::constant_lanes(uint64_t value) {
  auto &lanes = constants_[value];
  if (!lanes) {
    lanes = std::make_unique<uint32_t[]>(2 * lane_count);
    std::fill_n(lanes.get(), lane_count, static_cast<uint32_t>(value));
    std::fill_n(lanes.get() + lane_count, lane_count, static_cast<uint32_t>(value >> 32));
  }
  return lanes.get();
}

} // namespace nereid::sim
