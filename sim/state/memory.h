#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>

#include "base/result.h"
#include "sim/state/definedness.h"

namespace nereid::sim {

/// One allocation: `size` bytes at device address `address`, kept at `data` on the host. Unmapped with its
/// last owner.
class Block {
public:
  static std::shared_ptr<Block> map(uint64_t address, size_t size);
  /// Host memory as a block at its own address, of defined content; it stays the caller's.
  static std::shared_ptr<Block> over(std::byte *host, size_t size);
  /// The same addresses over the undefined bits of this block, which has to live longer. Null when the host
  /// has no memory for them.
  std::shared_ptr<const Block> undefined_bits() const;
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  uint64_t address() const { return address_; }
  size_t size() const { return size_; }
  std::byte *data() const { return data_; }
  Definedness &definedness() const { return definedness_; }
  /// The value of all bytes that nothing has written.
  std::byte background() const { return background_; }
  /// Makes all bytes have that value without touching them; false when the host refuses.
  bool fill(std::byte value) const;
  bool holds(uint64_t address, size_t bytes) const {
    return address >= address_ && address - address_ <= size_ && bytes <= size_ - (address - address_);
  }

private:
  Block(uint64_t address, size_t size, std::byte *data, bool owned)
      : address_(address), size_(size), data_(data), owned_(owned), definedness_(size) {}
  uint64_t address_;
  size_t size_;
  std::byte *data_;
  bool owned_;
  mutable std::byte background_{0};
  mutable Definedness definedness_;
};

/// Addresses that an allocation may get.
struct AddressRange {
  uint64_t first = uint64_t{1} << 44;
  uint64_t end = uint64_t{1} << 47;
};

/// The global address space of the simulated device. Pages are mapped when they are first touched, so a large
/// buffer costs what is used of it. All members may be called from several threads at once.
class Memory {
public:
  using Blocks = std::map<uint64_t, std::shared_ptr<const Block>>;

  /// What was allocated at one moment. A launch works on such a snapshot: looking up needs no lock, and a
  /// block freed meanwhile stays mapped until the snapshot is gone.
  class View {
  public:
    /// The block that holds all of [address, address + bytes), or null.
    const Block *find(uint64_t address, size_t bytes) const;
    /// The same blocks with their undefined bits as content; this snapshot has to live longer.
    View undefined_bits() const;
    /// The nearest block that starts at or before `address`, or null.
    const Block *before(uint64_t address) const;
    /// The nearest block that starts after `address`, or null.
    const Block *after(uint64_t address) const;

  private:
    friend class Memory;
    std::shared_ptr<const Blocks> blocks_;
  };

  /// Capacity in bytes; the default is that of a MI355X (288 GB).
  explicit Memory(uint64_t capacity = uint64_t{288} << 30, AddressRange range = {});

  /// Reserves `size` bytes of undefined content, perhaps none, at a multiple of `align`, a power of two.
  /// Blocks lie at least 32 GiB apart, so that a wrong 32-bit offset, in elements of 8 bytes too, hits
  /// nothing; closer when thousands of them fill the address space. Errors: out of memory, bad alignment.
  Result<uint64_t> allocate(size_t size, size_t align = 256);
  /// Makes host memory a block at its own address, outside the range of allocations; it counts against the
  /// capacity, its content as defined. It has to live until it is freed here. Errors: out of memory,
  /// addresses that are taken.
  Status adopt(std::byte *host, size_t size);
  /// Releases the block that starts at `address`.
  Status free(uint64_t address);
  Status read(uint64_t address, void *to, size_t bytes) const;
  Status write(uint64_t address, const void *from, size_t bytes);
  Status fill(uint64_t address, std::byte value, size_t bytes);
  View view() const;
  /// From now on all content counts as defined: somebody may have written it without telling.
  void define_all();
  /// An independent memory with the same buffers at the same addresses, as defined as here. Costs what was
  /// touched of them. Not while a launch writes.
  Result<std::unique_ptr<Memory>> fork() const;

private:
  Status check_capacity(size_t size) const;
  Result<const Block *> find(uint64_t address, size_t bytes, const char *what) const;

  mutable std::shared_mutex mutex_;
  std::shared_ptr<const Blocks> blocks_;
  uint64_t capacity_;
  AddressRange range_;
  uint64_t used_ = 0;
  uint64_t next_;
};

} // namespace nereid::sim
