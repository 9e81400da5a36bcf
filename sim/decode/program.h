#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/state/effects.h"
#include "sim/state/instruction.h"

namespace nereid::sim {

struct TaintRules;

/// The row for a mnemonic, or null.
const Operation *find_operation(std::string_view mnemonic);
/// All mnemonics that the simulator executes, sorted.
std::vector<std::string> supported_operations();

/// A text section as decoded instructions.
class Program {
public:
  static constexpr uint32_t no_instruction = ~uint32_t{0};

  /// Decodes `code`, which lies at `address`. Words that are no instruction become ones that fault when
  /// executed.
  Program(std::span<const std::byte> code, uint64_t address);
  ~Program();

  const Instruction &operator[](uint32_t index) const { return instructions_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(instructions_.size()); }
  /// The index of the instruction that starts at an address, or no_instruction.
  uint32_t index_at(uint64_t address) const;
  uint64_t address() const { return address_; }
  /// Assembler text of an instruction.
  std::string text(const Instruction &instruction) const;
  /// The registers of the instruction at an index. The first call finds those of all instructions.
  const Effects &effects(uint32_t index) const;
  /// How taint propagates through the instructions (sim/decode/taint_rule.h). The first call resolves all
  /// rules.
  const TaintRules &taint_rules() const;
  bool has_float_atomics() const { return has_float_atomics_; }
  /// True when some instruction reads its own address (s_getpc, s_call).
  bool reads_pc() const { return reads_pc_; }

private:
  friend class Decoder;
  const uint32_t *constant_lanes(uint64_t value);

  std::vector<std::byte> code_;
  uint64_t address_;
  std::vector<Instruction> instructions_;
  std::vector<uint32_t> index_of_word_;
  mutable std::once_flag effects_found_;
  mutable std::vector<Effects> effects_;
  mutable std::once_flag taint_rules_found_;
  mutable std::unique_ptr<const TaintRules> taint_rules_;
  std::map<uint64_t, std::unique_ptr<uint32_t[]>> constants_;
  bool has_float_atomics_ = false;
  bool reads_pc_ = false;
};

} // namespace nereid::sim
