// The parts of the state of a wave that are not trivial: the lane mask of EXEC, special operands, faults and
// their text.

#include "sim/state/wave.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "sim/state/checker.h"

namespace nereid::sim {

namespace {

/// Distance from a buffer from which on an access out of bounds has nothing to do with it.
constexpr uint64_t max_miss = uint64_t{1} << 40;

} // namespace

void Wave::update_exec_mask() {
  static constexpr auto single = [] {
    std::array<uint32_t, 32> bits{};
    for (unsigned lane = 0; lane < 32; ++lane)
      bits[lane] = 1u << lane;
    return bits;
  }();
  for (unsigned half = 0; half < 2; ++half) {
    const uint32_t bits = sgpr[scalar::exec + half];
    uint32_t *mask = exec_mask.word + 32 * half;
    for (unsigned lane = 0; lane < 32; ++lane)
      mask[lane] = bits & single[lane] ? ~0u : 0u;
  }
}

void Wave::set_mode(uint32_t value) {
  mode = value;
  constexpr uint32_t float_fields = 0xFF | Wave::half_overflow;
  default_float = (value & float_fields) == 0xF0;
  ordinary = default_float && !(value >> 27 & 3);
}

uint64_t Wave::scalar_value(const Source &source, bool wide) const {
  switch (source.kind) {
  case Source::Kind::Constant:
    return wide ? source.value : static_cast<uint32_t>(source.value);
  case Source::Kind::Scalar:
    return wide ? scalar_pair(source.index % scalar_registers) : sgpr[source.index % scalar_registers];
  case Source::Kind::Special:
    switch (source.index) {
    case 235:
      return wide ? uint64_t{shared_aperture} << 32 : shared_aperture;
    case 236:
      return 0xFFFFFFFF;
    case 237:
      return wide ? uint64_t{private_aperture} << 32 : private_aperture;
    case 238:
      return 0xFFFFFFFF;
    case 251:
      return scalar_pair(scalar::vcc) == 0;
    case 252:
      return exec() == 0;
    case 253:
      return scc;
    default:
      return 0;
    }
  default:
    return 0;
  }
}

void Wave::raise(FaultKind kind, int lane, std::string text) {
  if (fault)
    return;
  fault = RaisedFault{kind, lane, std::move(text)};
  state = State::Faulted;
}

std::byte *Wave::find_global(uint64_t address, size_t bytes) {
  const Block *block = memory->find(address, bytes);
  if (!block)
    return nullptr;
  recent = block;
  return block->data() + (address - block->address());
}

bool Wave::show(const Instruction &instruction, const MemoryAccess &access) {
  if (checker)
    checker->access(*this, instruction, access);
  return !fault;
}

void Wave::raise_out_of_bounds(uint64_t address, size_t bytes, int lane, const char *access) {
  std::string text = fmt::format("{} of {} is outside every allocation", access, byte_text(bytes));
  const Block *below = memory->before(address), *above = memory->after(address);
  // Of the two neighbours the nearer one is probably meant; far from both the address is no address.
  const uint64_t beyond = below ? address - below->address() - below->size() : max_miss;
  const uint64_t ahead = above ? above->address() - address : max_miss;
  if (below && address + bytes > below->address() + below->size() &&
      address < below->address() + below->size())
    text += fmt::format(": at offset {} of the {} byte buffer it reaches {} beyond the end",
                        address - below->address(), below->size(),
                        byte_text(address + bytes - below->address() - below->size()));
  else if (below && beyond < max_miss && beyond <= ahead)
    text += fmt::format(": offset {} of the {} byte buffer is {} beyond the end", address - below->address(),
                        below->size(), byte_text(beyond));
  else if (ahead < max_miss)
    text += fmt::format(": it starts {} before the {} byte buffer", byte_text(ahead), above->size());
  raise(FaultKind::OutOfBounds, lane, std::move(text));
  fault->memory = address;
}

} // namespace nereid::sim
