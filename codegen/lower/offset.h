#pragma once

#include <map>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "codegen/analysis/value_ranges.h"

namespace nereid::codegen {

/// A number as the sum of what differs between threads, what does not, and a constant. `varying` is an i64,
/// or, with a limit, an i32 that is not negative and less than the limit; null parts are zero.
struct Offset {
  static constexpr uint64_t narrow_limit = uint64_t(1) << 31;

  llvm::Value *varying = nullptr;
  uint64_t limit = 0;
  llvm::Value *uniform = nullptr; ///< i64
  Interval range{0, 0};           ///< of `uniform`
  int64_t constant = 0;

  static Offset of(int64_t constant) { return {nullptr, 0, nullptr, {0, 0}, constant}; }
};

/// By register of a tile's layout.
using Offsets = std::vector<Offset>;

/// Sums and products of offsets; equal pairs of parts, of which a tile's registers have many, are combined
/// once.
class OffsetMath {
public:
  explicit OffsetMath(llvm::IRBuilder<> &builder) : builder_(builder) {}

  Offset add(const Offset &x, const Offset &y);
  Offset negate(const Offset &x);
  Offset multiply(const Offset &x, const Offset &y);
  /// All but the varying part.
  llvm::Value *uniform(const Offset &x);

private:
  using Pair = std::pair<llvm::Value *, llvm::Value *>;
  using Cache = std::map<Pair, llvm::Value *>;

  llvm::Value *wide(llvm::Value *value);
  llvm::Value *whole(const Offset &x);
  llvm::Value *add(llvm::Value *a, llvm::Value *b);
  llvm::Value *multiply(llvm::Value *a, llvm::Value *b);
  llvm::Value *negate(llvm::Value *a);
  Offset scale(const Offset &x, const Offset &factor);
  template <class Make> llvm::Value *once(Cache &cache, Pair key, const Make &make);

  llvm::IRBuilder<> &builder_;
  Cache extensions_, truncations_, sums_, products_, negations_;
};

} // namespace nereid::codegen
