// The race detector of LDS: each byte knows its writers and readers since the last barrier, and accesses in
// flight outlive a barrier.

#include "sim/checks/lds_race_checker.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/decode/program.h"

namespace nereid::sim {

namespace {

/// Accesses of a wave that are kept for the text of a fault when they need not be kept any more.
constexpr size_t remembered = 2048;

} // namespace

LdsRaceChecker::LdsRaceChecker(const Program &program) : program_(program) {
  for (uint32_t index = 0; index < program.size(); ++index) {
    counters_.push_back(counter_of(program[index]));
    waits_.push_back(program[index].category == Category::Waitcnt);
  }
}

void LdsRaceChecker::begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  states_.clear();
  states_.resize(waves.size());
  if (writer_.size() != group.lds.size()) {
    writer_.assign(group.lds.size(), 0);
    readers_.assign(group.lds.size(), 0);
    used_.assign(group.lds.size() / page + 1, false);
  }
  forget();
}

void LdsRaceChecker::before(Wave &wave, const Instruction &instruction) {
  State &state = states_[wave.index];
  if (counters_[wave.current] != WaitCounter::None)
    state.last = state.outstanding.issue(counters_[wave.current]);
  else if (waits_[wave.current])
    state.outstanding.wait(WaitCounts(static_cast<uint32_t>(instruction.immediate)));
}

bool LdsRaceChecker::Record::touches(uint32_t byte) const {
  for (uint64_t left = lanes; left; left &= left - 1) {
    const uint32_t begin = address[std::countr_zero(left)];
    if (byte >= begin && byte < begin + bytes)
      return true;
  }
  return false;
}

template <unsigned Bytes>
bool LdsRaceChecker::update(uint32_t address, MemoryAccess::Kind kind, unsigned wave) {
  uint8_t *writer = writer_.data() + address;
  uint16_t *readers = readers_.data() + address;
  const auto own = static_cast<uint8_t>(wave + 1);
  const auto bit = static_cast<uint16_t>(1u << wave);
  const auto others = static_cast<uint16_t>(~bit);
  unsigned conflicts = 0;
  if (kind == MemoryAccess::Kind::Load) {
    for (unsigned k = 0; k < Bytes; ++k) {
      conflicts |= (writer[k] != 0) & (writer[k] != own) & (writer[k] != (own | atomic));
      readers[k] |= bit;
    }
  } else if (kind == MemoryAccess::Kind::Store) {
    for (unsigned k = 0; k < Bytes; ++k) {
      conflicts |= (writer[k] != 0) & (writer[k] != own) & (writer[k] != (own | atomic));
      conflicts |= (readers[k] & others) != 0;
      writer[k] = own;
    }
  } else {
    for (unsigned k = 0; k < Bytes; ++k) {
      const bool others_atomic = writer[k] & atomic && writer[k] != (own | atomic);
      conflicts |= writer[k] != 0 && writer[k] != own && !(writer[k] & atomic);
      conflicts |= (readers[k] & others) != 0;
      // A plain write of the wave itself stays: it is what others must not touch.
      if (writer[k] != own)
        writer[k] = others_atomic ? several : own | atomic;
    }
  }
  return conflicts != 0;
}

template <unsigned Bytes> uint64_t LdsRaceChecker::update_lanes(const Record &record, unsigned wave) {
  uint64_t conflicts = 0;
  for (uint64_t left = record.lanes; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const uint32_t address = record.address[lane];
    conflicts |= uint64_t{update<Bytes>(address, record.kind, wave)} << lane;
    used_[address / page] = used_[(address + Bytes - 1) / page] = true;
  }
  return conflicts;
}

uint64_t LdsRaceChecker::update_bytes(const Record &record, unsigned wave) {
  switch (record.bytes) {
  case 1:
    return update_lanes<1>(record, wave);
  case 2:
    return update_lanes<2>(record, wave);
  case 4:
    return update_lanes<4>(record, wave);
  case 8:
    return update_lanes<8>(record, wave);
  case 12:
    return update_lanes<12>(record, wave);
  default:
    return update_lanes<16>(record, wave);
  }
}

uint64_t LdsRaceChecker::repeated_values(const Wave &wave, const Instruction &instruction,
                                         const Record &record) const {
  const MemoryForm &form = instruction.operation->memory;
  if (form.kind != MemoryForm::Kind::Store || form.addressing != Addressing::Lds)
    return 0;
  // Of two elements the second is another register's, unless it has the address of the first.
  const uint32_t first_offset = uint32_t{instruction.offset0} * form.offset_scale * record.bytes;
  uint64_t lanes = 0;
  for (uint64_t left = record.lanes; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::array<uint32_t, 4> words{};
    const uint32_t begin = record.address[lane];
    const bool second =
        form.two_elements && begin != wave.vgpr[instruction.address_register].word[lane] + first_offset;
    const unsigned data = second ? instruction.data2 : instruction.data;
    for (unsigned k = 0; 4 * k < record.bytes; ++k)
      words[k] = wave.vgpr[data + k].word[lane] >> (form.element.high ? 16 : 0);
    bool read = false;
    for (uint32_t byte = begin; byte < begin + record.bytes; ++byte)
      read |= (readers_[byte] & ~(1u << wave.index)) != 0;
    const bool same = std::memcmp(words.data(), wave.group->lds.data() + begin, record.bytes) == 0;
    lanes |= uint64_t{same && !read} << lane;
  }
  return lanes;
}

void LdsRaceChecker::access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) {
  if (access.space != MemoryAccess::Space::Lds || states_.size() == 1 || access.lanes == 0)
    return;
  State &state = states_[wave.index];
  if (state.records.size() >= remembered)
    std::erase_if(state.records, [&](const Record &record) { return state.outstanding.done(record.ticket); });
  Record &record = state.records.emplace_back();
  record.ticket = state.last;
  record.instruction = wave.current;
  record.kind = access.kind;
  record.bytes = access.bytes;
  record.before_barrier = false;
  record.lanes = access.lanes;
  std::copy(access.address.begin(), access.address.end(), record.address.begin());
  uint64_t conflicts = update_bytes(record, wave.index);
  if (conflicts)
    conflicts &= ~repeated_values(wave, instruction, record);
  if (conflicts)
    report(wave, record, static_cast<unsigned>(std::countr_zero(conflicts)));
}

void LdsRaceChecker::forget() {
  for (size_t k = 0; k < used_.size(); ++k)
    if (used_[k]) {
      const size_t begin = k * page, end = std::min(begin + page, writer_.size());
      std::fill(writer_.begin() + begin, writer_.begin() + end, uint8_t{0});
      std::fill(readers_.begin() + begin, readers_.begin() + end, uint16_t{0});
      used_[k] = false;
    }
}

void LdsRaceChecker::barrier(Workgroup &) {
  forget();
  for (unsigned wave = 0; wave < states_.size(); ++wave) {
    State &state = states_[wave];
    std::erase_if(state.records, [&](const Record &record) { return state.outstanding.done(record.ticket); });
    for (Record &record : state.records) {
      record.before_barrier = true;
      update_bytes(record, wave);
    }
  }
}

const LdsRaceChecker::Record *LdsRaceChecker::find_other(const Record &record, uint32_t byte,
                                                         const State &other) const {
  for (size_t k = other.records.size(); k-- > 0;) {
    const Record &candidate = other.records[k];
    const bool harmless = candidate.kind == record.kind && record.kind != MemoryAccess::Kind::Store;
    if (!harmless && candidate.touches(byte))
      return &candidate;
  }
  return nullptr;
}

void LdsRaceChecker::report(Wave &wave, const Record &record, unsigned lane) {
  using Kind = MemoryAccess::Kind;
  auto verb = [](Kind kind) {
    return kind == Kind::Load ? "reads" : kind == Kind::Store ? "writes" : "changes atomically";
  };
  const uint32_t begin = record.address[lane];
  for (uint32_t byte = begin; byte < begin + record.bytes; ++byte)
    for (unsigned index = 0; index < states_.size(); ++index) {
      const Record *other = index == wave.index ? nullptr : find_other(record, byte, states_[index]);
      if (!other)
        continue;
      const Instruction &first = program_[other->instruction];
      const std::string why =
          other->before_barrier
              ? fmt::format("its wave did not wait for it ({}) before the barrier",
                            other->ticket.counter == WaitCounter::Lds      ? "lgkmcnt"
                            : other->ticket.counter == WaitCounter::Vector ? "vmcnt"
                                                                           : "both counters")
              : "there is no barrier between them";
      return wave.raise(FaultKind::RaceLds, static_cast<int>(lane),
                        fmt::format("this {} LDS byte {:#x}, which '{}' at {:#x} in wave {} {}: {}",
                                    verb(record.kind), byte, program_.text(first), first.address, index,
                                    verb(other->kind), why));
    }
  wave.raise(
      FaultKind::RaceLds, static_cast<int>(lane),
      fmt::format("this {} LDS bytes {:#x} to {:#x}, which another wave touches without a barrier between",
                  verb(record.kind), begin, begin + record.bytes - 1));
}

} // namespace nereid::sim
