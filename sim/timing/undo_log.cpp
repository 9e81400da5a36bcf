// Keeps what a timed launch overwrites, and puts it back.

#include "sim/timing/undo_log.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nereid::sim::timing {

UndoLog::~UndoLog() {
  for (const Chunk &chunk : chunks_)
    for (size_t word = 0; word < chunk.saved.size(); ++word) {
      const size_t first = word * mask_bits;
      if (chunk.saved[word] == ~uint64_t{0}) {
        std::memcpy(chunk.host + first, &chunk.bytes[first], mask_bits);
        continue;
      }
      for (uint64_t left = chunk.saved[word]; left; left &= left - 1) {
        const size_t at = first + static_cast<size_t>(std::countr_zero(left));
        chunk.host[at] = chunk.bytes[at];
      }
    }
}

void UndoLog::before_write(const MemoryAccess &access) {
  for (uint64_t lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    const auto dwords = static_cast<size_t>(std::popcount(access.dwords[lane]));
    save(access.address[lane], access.partial ? 4 * dwords : access.bytes);
  }
}

UndoLog::Chunk &UndoLog::chunk_at(uint64_t index) {
  if (index == last_index_)
    return *last_;
  uint64_t &number = numbers_[index];
  if (number == 0) {
    const uint64_t offset = index * chunk_bytes - block_->address();
    const uint64_t host = reinterpret_cast<uint64_t>(block_->data()) + offset;
    chunks_.emplace_back().host = reinterpret_cast<std::byte *>(host);
    number = chunks_.size();
  }
  last_index_ = index;
  last_ = &chunks_[number - 1];
  return *last_;
}

void UndoLog::save(uint64_t address, size_t bytes) {
  if (!block_ || !block_->holds(address, bytes))
    block_ = memory_.find(address, bytes);
  if (!block_)
    return;
  while (bytes > 0) {
    Chunk &chunk = chunk_at(address / chunk_bytes);
    const size_t at = address % chunk_bytes, bit = at % mask_bits, count = std::min(bytes, mask_bits - bit);
    const uint64_t wanted = ~uint64_t{0} >> (mask_bits - count) << bit;
    uint64_t &saved = chunk.saved[at / mask_bits];
    if ((saved & wanted) == 0)
      std::memcpy(&chunk.bytes[at], chunk.host + at, count);
    else
      for (uint64_t left = wanted & ~saved; left; left &= left - 1) {
        const size_t byte = at - bit + static_cast<size_t>(std::countr_zero(left));
        chunk.bytes[byte] = chunk.host[byte];
      }
    saved |= wanted;
    address += count;
    bytes -= count;
  }
}

} // namespace nereid::sim::timing
