#pragma once

#include <unordered_set>

#include "base/result.h"
#include "codegen/analysis/function_index.h"

namespace nereid::codegen {

/// The bodies of the loops whose rounds are dealt to the waves of the workgroup: wave w runs rounds w,
/// w + waves, ... on whole tiles, and the waves' sums are added after the loop.
class WaveSplitLoops {
public:
  bool empty() const { return bodies_.empty(); }
  bool contains(const ir::Block &body) const { return bodies_.count(&body) != 0; }
  void add(const ir::Block &body) { bodies_.insert(&body); }
  void remove(const ir::Block &body) { bodies_.erase(&body); }

private:
  std::unordered_set<const ir::Block *> bodies_;
};

/// Whether it pays that each wave has a sum of the whole tile: at most 32 rows, at most 64 KiB over all
/// waves.
bool accumulators_are_small(const ir::Function &function, ir::ValueId sum);

/// The product that starts the sum `number` of a loop: carried value `number` has no other use than to be the
/// addend of products made in the body, and the last sum is yielded. Null if it is something else.
const ir::Op *accumulated_dot(const FunctionIndex &index, const ir::Op &loop, size_t number);

/// The loops that the function's wave_split deals to the waves. A loop can be dealt when all that it carries
/// are sums of products and its body only loads and computes. With wave_split auto it also has to pay: tiles
/// of at most 32 rows, sums of at most 64 KiB over all waves. Whether the body can do without the other waves
/// shows when it is lowered. Error: the user's, when wave_split is k and no loop can be dealt.
Result<WaveSplitLoops> find_wave_split_loops(const FunctionIndex &index);

} // namespace nereid::codegen
