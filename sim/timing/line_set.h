#pragma once

#include <cstdint>
#include <vector>

namespace nereid::sim::timing {

/// A set of numbers of cache lines, which are never ~0.
class LineSet {
public:
  LineSet() : slots_(1024, none) {}

  /// False when the line is there already.
  bool insert(uint64_t line) {
    if (2 * ++size_ > slots_.size())
      grow();
    const bool is_new = place(slots_, line);
    size_ -= !is_new;
    return is_new;
  }
  size_t size() const { return size_; }
  void clear() {
    slots_.assign(1024, none);
    size_ = 0;
  }

private:
  static constexpr uint64_t none = ~uint64_t{0};

  static bool place(std::vector<uint64_t> &slots, uint64_t line) {
    const uint64_t mask = slots.size() - 1;
    // Fibonacci hashing: neighbouring lines fall far apart.
    for (uint64_t at = (line * 0x9E3779B97F4A7C15u) >> 20 & mask;; at = (at + 1) & mask) {
      if (slots[at] == line)
        return false;
      if (slots[at] == none) {
        slots[at] = line;
        return true;
      }
    }
  }
  void grow() {
    std::vector<uint64_t> larger(slots_.size() * 4, none);
    for (const uint64_t line : slots_)
      if (line != none)
        place(larger, line);
    slots_.swap(larger);
  }

  std::vector<uint64_t> slots_;
  size_t size_ = 0;
};

} // namespace nereid::sim::timing
