// What the MODE register changes of an instruction: rounding, denormals, indexed registers, skipping.

#include "sim/state/mode.h"

#include <xmmintrin.h>

namespace nereid::sim {

namespace {

/// Puts the wave's float mode into the host's control register while one instruction runs.
class HostFloatMode {
public:
  HostFloatMode(uint32_t mode, unsigned group) : saved_(_mm_getcsr()) {
    unsigned rounding = group == 1 ? mode & 3 : mode >> 2 & 3;
    unsigned denormals = group == 1 ? mode >> 4 & 3 : mode >> 6 & 3;
    constexpr unsigned host_rounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                          _MM_ROUND_TOWARD_ZERO};
    constexpr unsigned denormals_are_zero = 0x40, flush_to_zero = 0x8000;
    unsigned control = (saved_ & ~(_MM_ROUND_MASK | denormals_are_zero | flush_to_zero)) |
                       host_rounding[rounding] | (denormals & 1 ? 0 : denormals_are_zero) |
                       (denormals & 2 ? 0 : flush_to_zero);
    _mm_setcsr(control);
  }
  ~HostFloatMode() { _mm_setcsr(saved_); }
  HostFloatMode(const HostFloatMode &) = delete;
  HostFloatMode &operator=(const HostFloatMode &) = delete;

private:
  unsigned saved_;
};

constexpr uint32_t indexed = 1u << 27, skipping = 1u << 28;

bool is_vector(Category category) {
  switch (category) {
  case Category::Mfma:
  case Category::Valu:
  case Category::Lds:
  case Category::VmemLoad:
  case Category::VmemStore:
  case Category::VmemAtomic:
    return true;
  default:
    return false;
  }
}

} // namespace

bool is_skipped(const Wave &wave, const Instruction &instruction) {
  return wave.mode & skipping && is_vector(instruction.category);
}

bool is_indexed(const Wave &wave, const Instruction &instruction) {
  return wave.mode & indexed && instruction.category == Category::Valu;
}

// M0 holds the index in bits 7:0 and in bits 15:12 what it is added to: the three sources and the
// destination. A source beyond the last register reads the first one.
bool add_index(const Wave &wave, Instruction &instruction) {
  const uint32_t m0 = wave.sgpr[scalar::m0], enabled = m0 >> 12 & 15;
  const uint16_t index = m0 & 0xFF;
  const Operation &operation = *instruction.operation;
  const bool accumulates = operation.has(Operation::Accumulates);
  const unsigned last = operation.source[2] == OperandType::None ? 1 : 2;
  for (unsigned k = 0; k < 3; ++k) {
    Source &source = instruction.source[k];
    const unsigned enabler = accumulates && k == last ? 3 : k;
    if (source.kind != Source::Kind::Vector || !(enabled >> enabler & 1))
      continue;
    source.index = static_cast<uint16_t>(source.index + index);
    if (source.index >= accumulation_base)
      source.index = 0;
  }
  if (!(enabled & 8) || operation.has(Operation::ScalarResult) || operation.result == OperandType::LaneBit)
    return true;
  instruction.destination = static_cast<uint16_t>(instruction.destination + index);
  return instruction.destination < accumulation_base;
}

void run_in_mode(Wave &wave, const Instruction &instruction) {
  if (is_skipped(wave, instruction))
    return;
  if (is_indexed(wave, instruction)) {
    Instruction moved = instruction;
    if (!add_index(wave, moved))
      return;
    HostFloatMode mode(wave.mode, moved.float_group);
    return moved.run(wave, moved);
  }
  if (wave.default_float || !instruction.float_group)
    return instruction.run(wave, instruction);
  HostFloatMode mode(wave.mode, instruction.float_group);
  instruction.run(wave, instruction);
}

} // namespace nereid::sim
