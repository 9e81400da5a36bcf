// Resolves the taint columns of the instruction tables for the registers and modifiers of each instruction of
// a program.

#include "sim/decode/taint_rule.h"

#include <algorithm>

#include "sim/decode/program.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

using TaintKind = Taint::Kind;
using Elements = Taint::Elements;

constexpr uint32_t all_bits = ~uint32_t{0}, low_half = 0xFFFF, high_half = 0xFFFF0000;

const uint32_t zero_lanes[2 * lane_count] = {};

void set_bits(std::array<uint64_t, 2> &bits, const RegisterRange &range) {
  for (unsigned k = 0; k < range.count && range.first + k < scalar_registers; ++k)
    bits[(range.first + k) / 64] |= uint64_t{1} << (range.first + k) % 64;
}

class Resolver {
public:
  Resolver(const Instruction &instruction, const Effects &effects)
      : instruction_(instruction), operation_(*instruction.operation), effects_(effects),
        rule_{operation_.taint} {}

  TaintRule resolve() {
    registers();
    switch (rule_.kind) {
    case TaintKind::Arithmetic:
      if (operation_.is_vector_alu())
        vector_arithmetic();
      else if (!has_effects())
        rule_.kind = TaintKind::None;
      break;
    case TaintKind::Move:
      vector_result();
      break;
    case TaintKind::Logic:
      if (operation_.has(Operation::TruthTable))
        rule_.truth_table = static_cast<uint8_t>(instruction_.immediate);
      same_sources();
      vector_result();
      break;
    case TaintKind::Matrix:
      rule_.all_lanes = true;
      break;
    case TaintKind::Memory:
      operation_.is_scalar() ? scalar_memory() : vector_memory();
      break;
    case TaintKind::None:
    case TaintKind::BitTest:
    case TaintKind::BranchOnScc:
    case TaintKind::BranchOnVcc:
    case TaintKind::Branch:
      break;
    }
    shadow_instruction();
    if (rule_.kind == TaintKind::Arithmetic && operation_.is_vector_alu())
      unnamed_sources();
    return std::move(rule_);
  }

private:
  bool has_effects() const {
    return !effects_.reads.empty() || !effects_.writes.empty() || effects_.reads_scc || effects_.writes_scc;
  }

  void registers() {
    for (const RegisterRange &range : effects_.reads)
      if (range.vector)
        rule_.reads.push_back(range);
      else
        set_bits(rule_.scalar_reads, range);
    for (const RegisterRange &range : effects_.writes)
      if (range.vector)
        rule_.writes.push_back(range);
      else
        set_bits(rule_.scalar_writes, range);
    rule_.reads_scc = effects_.reads_scc;
    rule_.writes_scc = effects_.writes_scc;
    rule_.writes_exec = rule_.scalar_writes[1] >> (scalar::exec - 64) != 0;
    rule_.all_lanes = rule_.keeps_lanes = rule_.crosses_lanes;
    for (unsigned k = 0; k < 3; ++k)
      if (rule_.control >> k & 1)
        rule_.used[k] = rule_.control_bits;
  }

  void same_sources() {
    const Source &x = instruction_.source[0], &y = instruction_.source[1];
    rule_.same_sources = !rule_.shifts_first && x.kind == y.kind &&
                         (x.kind == Source::Kind::Vector || x.kind == Source::Kind::Scalar) &&
                         x.index == y.index && !x.modified && !y.modified;
  }

  void vector_arithmetic() {
    const OperandType result = operation_.result, first = operation_.source[0];
    if (rule_.elements == Elements::Whole && is_half_pair(result) && is_half_pair(first))
      rule_.elements = Elements::Halves;
    else if (result == OperandType::PackedFloat32 && first == OperandType::PackedFloat32)
      rule_.elements = Elements::Words;
    for (unsigned k = 0; k < 3; ++k)
      if (is_16_bit(operation_.source[k]))
        rule_.used[k] &= low_half;
    vector_result();
    if (rule_.source_part != RegisterPart::Whole)
      rule_.used[0] = part_bits(rule_.source_part, instruction_.op_sel & 3u, instruction_.op_sel & 1u);
    if (rule_.result_part != RegisterPart::Whole)
      rule_.results = rule_.replaced =
          part_bits(rule_.result_part, instruction_.op_sel >> 2 & 3u, instruction_.op_sel >> 3 & 1u);
  }

  /// The bits of a part; `byte` and `half` are what op_sel names.
  static uint32_t part_bits(RegisterPart part, unsigned byte, unsigned half) {
    switch (part) {
    case RegisterPart::Whole:
      return all_bits;
    case RegisterPart::LowHalf:
      return low_half;
    case RegisterPart::HighHalf:
      return high_half;
    case RegisterPart::SelectedHalf:
      return low_half << 16 * half;
    case RegisterPart::SelectedByte:
      return 0xFFu << 8 * byte;
    }
    return all_bits;
  }

  /// Which bits of its destination a vector instruction replaces, and which of those hold a value.
  void vector_result() {
    rule_.keeps_lanes |= instruction_.permuted;
    const OperandType result = operation_.result;
    if (instruction_.sdwa_select < 6) {
      const unsigned select = instruction_.sdwa_select;
      const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
      const uint32_t part = (select < 4 ? 0xFFu : 0xFFFFu) << shift;
      rule_.results = instruction_.sdwa_unused == 1 ? all_bits << shift : part;
      rule_.replaced = instruction_.sdwa_unused == 2 ? part : all_bits;
    } else if (is_16_bit(result)) {
      const bool high = instruction_.op_sel & 8;
      rule_.results = high ? high_half : low_half;
      rule_.replaced = high || operation_.has(Operation::PreservesHigh) ? rule_.results : all_bits;
    }
  }

  void scalar_memory() {
    rule_.loads = operation_.memory.kind == MemoryForm::Kind::Load;
    rule_.is_atomic = operation_.memory.kind == MemoryForm::Kind::Atomic;
    if (!rule_.loads)
      for (const RegisterRange &range : effects_.reads)
        if (range.first == instruction_.destination)
          set_bits(rule_.scalar_data, range);
  }

  void vector_memory() {
    const MemoryForm &form = operation_.memory;
    if (form.kind != MemoryForm::Kind::Load && form.kind != MemoryForm::Kind::Store &&
        form.kind != MemoryForm::Kind::Atomic) {
      rule_.kind = TaintKind::None;
      return;
    }
    rule_.loads = form.kind == MemoryForm::Kind::Load;
    rule_.is_atomic = form.kind == MemoryForm::Kind::Atomic;
    const size_t address = address_index();
    for (size_t k = 0; k < rule_.reads.size(); ++k)
      if (k == address)
        rule_.addresses.push_back(rule_.reads[k]);
      else if (!rule_.loads)
        rule_.data.push_back(rule_.reads[k]);
    const ElementForm &element = form.element;
    const uint32_t half = element.high ? high_half : low_half;
    if (rule_.loads) { // what is kept of a destination is no source
      rule_.reads = rule_.addresses;
      if (element.half && !form.converts)
        rule_.replaced = rule_.results = half;
      return;
    }
    rule_.stored = element.bytes == 1 ? 0xFF : element.bytes == 2 ? low_half : all_bits;
    if (element.high)
      rule_.stored <<= 16;
  }

  /// Which of the reads is the address; past the end when none is. A register that is both address and data
  /// is listed twice: MUBUF lists the data first, others the address.
  size_t address_index() const {
    const bool is_buffer = operation_.memory.addressing == Addressing::Buffer;
    size_t found = rule_.reads.size();
    if (!has_address())
      return found;
    for (size_t k = 0; k < rule_.reads.size(); ++k)
      if (rule_.reads[k].first == instruction_.address_register && (is_buffer || found == rule_.reads.size()))
        found = k;
    return found;
  }

  /// Whether the address comes from a vector register.
  bool has_address() const {
    switch (operation_.memory.addressing) {
    case Addressing::LdsByM0:
      return false;
    case Addressing::Buffer:
      return instruction_.uses_offset || instruction_.uses_index;
    case Addressing::Scratch:
      return instruction_.uses_offset;
    default:
      return true;
    }
  }

  void shadow_instruction() {
    Instruction &plane = rule_.on_plane;
    plane = instruction_;
    plane.clamp = false;
    plane.output_modifier = 0;
    plane.neg_lo = plane.neg_hi = 0;
    if (operation_.shadow_handler)
      plane.run = operation_.shadow_handler;
    for (Source &source : plane.source) {
      source.absolute = source.negative = false;
      const bool is_exec = source.kind == Source::Kind::Scalar && source.index >= scalar::exec;
      if (source.kind == Source::Kind::Constant || source.kind == Source::Kind::Special || is_exec) {
        source.kind = Source::Kind::Constant;
        source.value = 0;
        source.lanes = zero_lanes;
      }
    }
  }

  bool is_source(unsigned reg) const {
    for (const Source &source : instruction_.source) {
      const unsigned words = is_wide(source.type) ? 2 : 1;
      if (source.kind == Source::Kind::Vector && source.type != OperandType::None && reg >= source.index &&
          reg < source.index + words)
        return true;
    }
    return false;
  }

  /// What is kept of a destination is no source; what no source operand names counts whole.
  void unnamed_sources() {
    std::vector<RegisterRange> reads;
    for (const RegisterRange &range : rule_.reads) {
      bool kept = false;
      for (const RegisterRange &written : rule_.writes)
        kept |= range == written && rule_.replaced != all_bits && !rule_.keeps_lanes;
      for (unsigned r = range.first; r < unsigned{range.first} + range.count; ++r)
        if (is_source(r))
          kept = false;
        else if (!kept && !rule_.keeps_lanes)
          rule_.unnamed.push_back({static_cast<uint16_t>(r), 1, true});
      if (!kept)
        reads.push_back(range);
    }
    rule_.reads = std::move(reads);
  }

  const Instruction &instruction_;
  const Operation &operation_;
  const Effects &effects_;
  TaintRule rule_;
};

} // namespace

TaintRules::TaintRules(const Program &program) {
  rules.reserve(program.size());
  for (uint32_t index = 0; index < program.size(); ++index) {
    const Instruction &instruction = program[index];
    if (!instruction.operation) {
      rules.emplace_back().kind = Taint::Kind::None;
      continue;
    }
    rules.push_back(Resolver(instruction, program.effects(index)).resolve());
    for (const auto *ranges : {&rules.back().reads, &rules.back().writes})
      for (const RegisterRange &range : *ranges)
        last_vector = std::max(last_vector, range.first + range.count - 1u);
    if (instruction.operation->has(Operation::IndexesRegisters))
      last_vector = std::max(last_vector, accumulation_base - 1);
  }
  last_vector = std::min(last_vector, vector_registers - 1);
}

} // namespace nereid::sim
