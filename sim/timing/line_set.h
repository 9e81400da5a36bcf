#pragma once

#include <cstdint>
#include <vector>

namespace nereid::sim::timing {

/// A number for each of a set of cache lines; no line has the number ~0.
class LineMap {
public:
  LineMap() { clear(); }

  /// The value of a line, 0 when it is new.
  uint64_t &operator[](uint64_t line) {
    if (2 * (size_ + 1) > slots_.size())
      grow();
    Slot &slot = find(slots_, line);
    size_ += slot.line == none;
    slot.line = line;
    return slot.value;
  }
  size_t size() const { return size_; }
  void clear() {
    slots_.assign(1024, {});
    size_ = 0;
  }

private:
  static constexpr uint64_t none = ~uint64_t{0};
  struct Slot {
    uint64_t line = none;
    uint64_t value = 0;
  };

  static Slot &find(std::vector<Slot> &slots, uint64_t line) {
    const uint64_t mask = slots.size() - 1;
    // Fibonacci hashing: neighbouring lines fall far apart.
    uint64_t at = (line * 0x9E3779B97F4A7C15u) >> 20 & mask;
    while (slots[at].line != line && slots[at].line != none)
      at = (at + 1) & mask;
    return slots[at];
  }
  void grow() {
    std::vector<Slot> larger(slots_.size() * 4);
    for (const Slot &slot : slots_)
      if (slot.line != none)
        find(larger, slot.line) = slot;
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

/// A set of cache lines.
class LineSet {
public:
  /// False when the line is there already.
  bool insert(uint64_t line) {
    uint64_t &known = lines_[line];
    const bool is_new = known == 0;
    known = 1;
    return is_new;
  }
  size_t size() const { return lines_.size(); }

private:
  LineMap lines_;
};

} // namespace nereid::sim::timing
