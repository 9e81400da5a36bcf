// Copies of a device's memory that cost what was touched of it.

#include <mutex>

#include <fmt/format.h>

#include "sim/state/memory.h"
#include "sim/state/touched_pages.h"

namespace nereid::sim {

namespace {

Error refused(size_t bytes) {
  return environment_error(
      fmt::format("the host refused to map {} bytes for a copy of the simulator's memory", bytes));
}

} // namespace

Result<std::unique_ptr<Memory>> Memory::fork() const {
  std::unique_lock lock(mutex_);
  auto copy = std::make_unique<Memory>(capacity_, range_);
  auto blocks = std::make_shared<Blocks>();
  const TouchedPages pages;
  for (const auto &[address, block] : *blocks_) {
    std::shared_ptr<Block> twin = Block::map(address, block->size());
    if (!twin)
      return refused(block->size());
    if (block->background() != std::byte{0} && !twin->fill(block->background()))
      return refused(block->size());
    pages.copy(block->data(), twin->data(), block->size());
    if (!twin->definedness().copy(block->definedness(), pages))
      return refused(block->size());
    blocks->emplace(address, std::move(twin));
  }
  copy->blocks_ = std::move(blocks);
  copy->used_ = used_;
  copy->next_ = next_;
  return copy;
}

} // namespace nereid::sim
