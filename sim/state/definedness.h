#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace nereid::sim {

class TouchedPages;

/// Which bits of a block of memory nothing has written. Costs nothing while all or none of them are
/// undefined; then one bit for each bit, in pages that are mapped when they are touched. All members may be
/// called from several threads at once.
class Definedness {
public:
  /// All of `size` bytes are undefined.
  explicit Definedness(size_t size) : size_(size) {}
  ~Definedness();
  Definedness(const Definedness &) = delete;
  Definedness &operator=(const Definedness &) = delete;

  bool anything_undefined() const { return state_.load(std::memory_order_acquire) != State::Defined; }
  /// True until something was defined.
  bool untouched() const { return state_.load(std::memory_order_acquire) == State::Undefined; }
  void define(size_t offset, size_t bytes);
  void define_all();
  /// Becomes, for a block that is new, what another one of the same size is. False when the host has no
  /// memory for it. Not while the other changes.
  bool copy(const Definedness &other, const TouchedPages &pages);
  /// The block's undefined bits, set where undefined. Who sets some calls `expect_undefined` first. Null when
  /// the host has no memory for them: then all counts as defined.
  std::byte *bits();
  void expect_undefined() { state_.store(State::Mixed, std::memory_order_release); }

private:
  enum class State : unsigned char { Undefined, Mixed, Defined };

  const size_t size_;
  std::atomic<State> state_{State::Undefined};
  std::atomic<std::byte *> bits_{nullptr}; ///< stays mapped once it is
  mutable std::mutex mutex_;
  struct Range {
    size_t offset, size;
  };
  bool began_undefined_ = true; ///< what `bits_` held when it was mapped
  std::vector<Range> cleared_;  ///< parts of it that were mapped anew, without any bit
};

} // namespace nereid::sim
