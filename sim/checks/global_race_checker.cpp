#include "sim/checks/global_race_checker.h"

#include <bit>

#include <fmt/format.h>

#include "sim/decode/program.h"

namespace nereid::sim {

namespace {

constexpr unsigned widest_atomic = 8;

} // namespace

GlobalRaceChecker::GlobalRaceChecker(const Program &program)
    : program_(program), facts_(program.size()), stamps_(1) {
  for (uint32_t index = 0; index < program.size(); ++index) {
    const Instruction &instruction = program[index];
    Facts &facts = facts_[index];
    facts.counter = counter_of(instruction);
    facts.waits = instruction.category == Category::Waitcnt;
    if (!instruction.operation)
      continue;
    const MemoryForm::Kind kind = instruction.operation->memory.kind;
    facts.scalar = facts.counter == WaitCounter::Scalar;
    facts.device = instruction.device_scope;
    facts.writes_back = kind == MemoryForm::Kind::WriteBack && facts.device;
    facts.invalidates = kind == MemoryForm::Kind::Invalidate && facts.device;
  }
}

void GlobalRaceChecker::begin(Workgroup &group, std::span<const std::unique_ptr<Wave>> waves) {
  workgroup_ = group.linear_id;
  orders_.clear();
  for (unsigned k = 0; k < waves.size(); ++k)
    orders_.emplace_back(k);
}

void GlobalRaceChecker::before(Wave &wave, const Instruction &instruction) {
  const Facts &facts = facts_[wave.current];
  GlobalOrder &order = orders_[wave.index];
  if (facts.counter != WaitCounter::None) {
    number_ = order.issue(facts.counter);
    if (facts.writes_back)
      order.write_back(number_);
  } else if (facts.waits)
    order.wait(WaitCounts(static_cast<uint32_t>(instruction.immediate)));
  else if (facts.invalidates)
    order.invalidate();
}

std::unique_ptr<Checker> GlobalRaceChecker::fork(LaunchState &) const {
  auto twin = std::make_unique<GlobalRaceChecker>(*this);
  twin->page_ = nullptr;
  return twin;
}

GlobalRaceChecker::Page &GlobalRaceChecker::page(uint64_t address) {
  const uint64_t number = address / Page::size;
  if (!page_ || number != page_number_) {
    page_ = &pages_[number];
    page_number_ = number;
  }
  return *page_;
}

bool GlobalRaceChecker::changed_by_atomics(const MemoryAccess &access) const {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1)
    if (locations_.contains(access.address[std::countr_zero(lanes)]))
      return true;
  return false;
}

void GlobalRaceChecker::synchronise(Wave &wave, const MemoryAccess &access, bool returns) {
  GlobalOrder &order = orders_[wave.index];
  std::shared_ptr<const Published> published;
  Knowledge seen;
  uint64_t previous = ~uint64_t{0};
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const uint64_t address = access.address[std::countr_zero(lanes)];
    if (address == previous)
      continue;
    previous = address;
    if (access.kind != MemoryAccess::Kind::Atomic && !locations_.contains(address))
      continue;
    Location &location =
        locations_.try_emplace(address, Location{static_cast<uint32_t>(locations_.size()), 0, {}})
            .first->second;
    if (returns) {
      seen.join(location.known);
      seen.add(location.number, location.releases);
    }
    if (!access.writes())
      continue;
    if (!published)
      published = std::make_shared<const Published>(order.published());
    location.known.join(order.observed());
    releases_[workgroup_].push_back({location.number, ++location.releases, published});
  }
  if (returns)
    order.observe(number_, std::move(seen));
}

bool GlobalRaceChecker::happened_before(const Stamp &stamp, bool is_load, const Knowledge &knowledge) const {
  auto found = releases_.find(stamp.workgroup);
  if (found == releases_.end())
    return false;
  for (const Release &release : found->second) {
    const WaveClock &clock =
        is_load || stamp.device ? release.published->complete : release.published->written_back;
    if (clock[stamp.wave] >= stamp.number && knowledge.has(release.location, release.position))
      return true;
  }
  return false;
}

bool GlobalRaceChecker::ordered(Wave &wave, const MemoryAccess &access, unsigned lane, uint64_t byte,
                                const Stamp &now, uint32_t earlier, bool earlier_writes) {
  if (earlier == 0 || earlier == last_ordered_)
    return true;
  const Stamp &stamp = stamps_[earlier];
  const GlobalOrder &order = orders_[wave.index];
  const bool cached_load = access.kind == MemoryAccess::Kind::Load && !now.device;
  const Knowledge &knowledge = cached_load ? order.acquired() : order.observed();
  const bool both_atomic =
      (stamp.atomic && (now.atomic || now.may_be_atomic)) || (now.atomic && stamp.may_be_atomic);
  if (stamp.workgroup == workgroup_ || both_atomic || happened_before(stamp, !earlier_writes, knowledge)) {
    last_ordered_ = earlier;
    return true;
  }
  const Instruction &other = program_[stamp.instruction];
  wave.raise(
      FaultKind::RaceGlobal, now.number ? static_cast<int>(lane) : -1,
      fmt::format("this {} the byte at {:#x}, which '{}' at {:#x} in wave {} of workgroup {} {}: no atomic "
                  "orders them",
                  access.kind == MemoryAccess::Kind::Load    ? "reads"
                  : access.kind == MemoryAccess::Kind::Store ? "writes"
                                                             : "changes atomically",
                  byte, program_.text(other), other.address, stamp.wave, stamp.workgroup,
                  earlier_writes ? "writes" : "reads"));
  return false;
}

void GlobalRaceChecker::access(Wave &wave, const Instruction &instruction, const MemoryAccess &access) {
  using Kind = MemoryAccess::Kind;
  if (access.space != MemoryAccess::Space::Global || access.lanes == 0)
    return;
  const Facts &facts = facts_[wave.current];
  Stamp now{workgroup_,
            facts.scalar ? 0 : number_,
            wave.current,
            static_cast<uint8_t>(wave.index),
            facts.device,
            access.kind == Kind::Atomic,
            facts.device && access.bytes <= widest_atomic};
  if (now.may_be_atomic && changed_by_atomics(access))
    now.atomic = true;
  // What an atomic leaves is where all see it.
  if (now.atomic)
    now.device = true;
  const auto stamp = static_cast<uint32_t>(stamps_.size());
  last_ordered_ = 0;
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    for (unsigned k = 0; k < access.bytes; ++k) {
      if (access.partial && !(access.dwords[lane] >> k / 4 & 1))
        continue;
      const uint64_t byte = access.address[lane] + k;
      Page &at = page(byte);
      uint32_t &writer = at.writer[byte % Page::size], &reader = at.reader[byte % Page::size];
      if (!ordered(wave, access, lane, byte, now, writer == stamp ? 0 : writer, true))
        return;
      if (access.writes() && !ordered(wave, access, lane, byte, now, reader, false))
        return;
      if (access.writes()) {
        writer = stamp;
        reader = 0;
      } else if (!facts.scalar)
        reader = stamp;
    }
  }
  stamps_.push_back(now);
  if (now.atomic)
    synchronise(wave, access,
                access.kind == Kind::Load || (access.kind == Kind::Atomic && instruction.returns));
}

} // namespace nereid::sim
