#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/state/memory.h"
#include "sim/state/memory_access.h"
#include "sim/timing/line_set.h"

namespace nereid::sim::timing {

/// Keeps the bytes of device memory that accesses overwrite, and puts them back when it ends: a launch that
/// is only timed leaves memory as it was. Costs what was written, not what the memory holds. Writes of other
/// launches in between to the same bytes are lost.
class UndoLog {
public:
  /// `memory` has to live longer.
  explicit UndoLog(const Memory::View &memory) : memory_(memory) {}
  ~UndoLog();
  UndoLog(const UndoLog &) = delete;
  UndoLog &operator=(const UndoLog &) = delete;

  /// Before an access of global memory that writes moves its data; its addresses are valid.
  void before_write(const MemoryAccess &access);

private:
  static constexpr size_t chunk_bytes = 256, mask_bits = 64;

  /// Bytes at a multiple of `chunk_bytes`.
  struct Chunk {
    std::byte *host = nullptr; ///< of the first, which may lie outside of the block
    std::array<uint64_t, chunk_bytes / mask_bits> saved{}; ///< a bit for each byte that is kept
    std::array<std::byte, chunk_bytes> bytes;
  };

  void save(uint64_t address, size_t bytes);
  Chunk &chunk_at(uint64_t index);

  const Memory::View &memory_;
  const Block *block_ = nullptr; ///< of the last write
  std::deque<Chunk> chunks_;
  LineMap numbers_; ///< of chunks by address over `chunk_bytes`: the place in `chunks_` from 1 on
  uint64_t last_index_ = ~uint64_t{0};
  Chunk *last_ = nullptr;
};

} // namespace nereid::sim::timing
