// The global address space: allocation with guard distances, and host access to it.

#include "sim/state/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <sys/mman.h>

#include "sim/state/filled_pages.h"

namespace nereid::sim {

namespace {

/// Between two blocks: twice what an i32 offset in elements of 8 bytes reaches, in either direction.
constexpr uint64_t max_guard = uint64_t{1} << 35;
constexpr uint64_t min_guard = uint64_t{1} << 12;

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

/// There are no mappings of nothing.
size_t mapped(size_t size) { return std::max<size_t>(size, 1); }

bool fits(AddressRange range, uint64_t address, size_t size, uint64_t guard) {
  return address < range.end && size + guard <= range.end - address;
}

/// The first gap that takes `size` bytes with a guard on both sides, from the lowest address on. 0 when there
/// is none.
uint64_t first_fit(const Memory::Blocks &blocks, AddressRange range, size_t size, size_t align,
                   uint64_t guard) {
  uint64_t candidate = align_up(range.first, align);
  for (auto at = blocks.lower_bound(range.first); at != blocks.end(); ++at) {
    if (candidate + size + guard <= at->first)
      break;
    candidate = align_up(at->first + at->second->size() + guard, align);
  }
  return fits(range, candidate, size, guard) ? candidate : 0;
}

/// A gap with the widest guard that there is room for. 0 when there is none at all.
uint64_t fit_with_max_guard(const Memory::Blocks &blocks, AddressRange range, size_t size, size_t align) {
  for (uint64_t guard = max_guard; guard >= min_guard; guard /= 8)
    if (uint64_t address = first_fit(blocks, range, size, align, guard))
      return address;
  return 0;
}

} // namespace

std::shared_ptr<Block> Block::map(uint64_t address, size_t size) {
  void *data = ::mmap(nullptr, mapped(size), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return nullptr;
  return std::shared_ptr<Block>(new Block(address, size, static_cast<std::byte *>(data), true));
}

std::shared_ptr<Block> Block::over(std::byte *host, size_t size) {
  std::shared_ptr<Block> block(new Block(reinterpret_cast<uint64_t>(host), size, host, false));
  block->definedness().define_all();
  return block;
}

std::shared_ptr<const Block> Block::undefined_bits() const {
  std::byte *bits = definedness_.bits();
  return bits ? std::shared_ptr<const Block>(new Block(address_, size_, bits, false)) : nullptr;
}

bool Block::fill(std::byte value) const {
  if (!map_filled(data_, size_, value))
    return false;
  background_ = value;
  return true;
}

Block::~Block() {
  if (owned_)
    ::munmap(data_, mapped(size_));
}

const Block *Memory::View::before(uint64_t address) const {
  auto after = blocks_->upper_bound(address);
  return after == blocks_->begin() ? nullptr : std::prev(after)->second.get();
}

const Block *Memory::View::after(uint64_t address) const {
  auto after = blocks_->upper_bound(address);
  return after == blocks_->end() ? nullptr : after->second.get();
}

const Block *Memory::View::find(uint64_t address, size_t bytes) const {
  const Block *block = before(address);
  return block && block->holds(address, bytes) ? block : nullptr;
}

Memory::Memory(uint64_t capacity, AddressRange range)
    : blocks_(std::make_shared<Blocks>()), capacity_(capacity), range_(range), next_(range.first) {}

Status Memory::check_capacity(size_t size) const {
  if (size > capacity_ - used_)
    return user_error(fmt::format("out of simulated device memory: {} bytes asked, {} of {} in use", size,
                                  used_, capacity_),
                      "Free buffers or use smaller ones");
  return {};
}

Result<uint64_t> Memory::allocate(size_t size, size_t align) {
  if (!std::has_single_bit(align) || align > (size_t{1} << 30))
    return user_error(
        fmt::format("alignment {} of a simulator buffer is not a power of two up to 2^30", align));
  align = std::max<size_t>(align, 256); // device and host addresses agree in their low bits
  std::unique_lock lock(mutex_);
  NEREID_CHECK(check_capacity(size));
  uint64_t address = align_up(next_, align);
  if (!fits(range_, address, size, max_guard))
    address = fit_with_max_guard(*blocks_, range_, size, align);
  if (!address)
    return user_error("the simulated address space is full", "Free buffers");
  std::shared_ptr<const Block> block = Block::map(address, size);
  if (!block)
    return environment_error(fmt::format("the host refused to map {} bytes for the simulator", size));
  auto changed = std::make_shared<Blocks>(*blocks_);
  changed->emplace(address, std::move(block));
  blocks_ = std::move(changed);
  used_ += size;
  next_ = std::max(next_, address + size + max_guard);
  return address;
}

Status Memory::adopt(std::byte *host, size_t size) {
  std::unique_lock lock(mutex_);
  NEREID_CHECK(check_capacity(size));
  const auto address = reinterpret_cast<uint64_t>(host);
  const auto after = blocks_->lower_bound(address);
  const bool taken =
      (after != blocks_->end() && after->first - address < size) ||
      (after != blocks_->begin() && std::prev(after)->second->size() > address - std::prev(after)->first) ||
      (address < range_.end && address + size > range_.first);
  if (taken)
    return user_error(fmt::format("{} bytes at {:#x} are part of the address space already", size, address));
  auto changed = std::make_shared<Blocks>(*blocks_);
  changed->emplace(address, Block::over(host, size));
  blocks_ = std::move(changed);
  used_ += size;
  return {};
}

Status Memory::free(uint64_t address) {
  std::unique_lock lock(mutex_);
  auto found = blocks_->find(address);
  if (found == blocks_->end())
    return user_error(fmt::format("free of {:#x}, which is not the start of a simulator buffer", address));
  auto changed = std::make_shared<Blocks>(*blocks_);
  changed->erase(address);
  used_ -= found->second->size();
  blocks_ = std::move(changed);
  return {};
}

Memory::View Memory::view() const {
  std::shared_lock lock(mutex_);
  View view;
  view.blocks_ = blocks_;
  return view;
}

void Memory::define_all() {
  const View snapshot = view();
  for (const auto &[address, block] : *snapshot.blocks_)
    block->definedness().define_all();
}

Memory::View Memory::View::undefined_bits() const {
  auto blocks = std::make_shared<Blocks>();
  for (const auto &[address, block] : *blocks_)
    if (auto bits = block->undefined_bits())
      blocks->emplace(address, std::move(bits));
  View result;
  result.blocks_ = std::move(blocks);
  return result;
}

Result<const Block *> Memory::find(uint64_t address, size_t bytes, const char *what) const {
  const View snapshot = view();
  const Block *block = snapshot.find(address, bytes);
  if (!block)
    return user_error(
        fmt::format("{} of {} bytes at {:#x} is not inside one simulator buffer", what, bytes, address));
  return block;
}

Status Memory::read(uint64_t address, void *to, size_t bytes) const {
  NEREID_TRY(const Block *block, find(address, bytes, "read"));
  if (bytes > 0) // nothing may come from or go to a null pointer
    std::memcpy(to, block->data() + (address - block->address()), bytes);
  return {};
}

Status Memory::write(uint64_t address, const void *from, size_t bytes) {
  NEREID_TRY(const Block *block, find(address, bytes, "write"));
  const size_t offset = address - block->address();
  if (bytes > 0)
    std::memcpy(block->data() + offset, from, bytes);
  block->definedness().define(offset, bytes);
  return {};
}

Status Memory::fill(uint64_t address, std::byte value, size_t bytes) {
  NEREID_TRY(const Block *block, find(address, bytes, "fill"));
  const size_t offset = address - block->address();
  Definedness &definedness = block->definedness();
  // New pages are zero: a fill with 0 need not touch them, nor need one of a whole large block.
  constexpr size_t large = size_t{1} << 20;
  const bool filled = (value == std::byte{0} && definedness.untouched()) ||
                      (bytes == block->size() && bytes >= large && block->fill(value));
  if (!filled)
    std::memset(block->data() + offset, static_cast<int>(value), bytes);
  definedness.define(offset, bytes);
  return {};
}

} // namespace nereid::sim
