#pragma once

#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "codegen/analysis/function_index.h"
#include "codegen/analysis/objection.h"

namespace nereid::codegen {

/// The bodies of the loops whose iterations are split over the waves of the workgroup: wave w runs iterations
/// w, w + waves, ... on whole tiles, and the waves' accumulators are added after the loop (split K by waves).
class WaveSplitLoops {
public:
  bool empty() const { return bodies_.empty(); }
  bool contains(const ir::Block &body) const { return bodies_.count(&body) != 0; }
  void add(const ir::Block &body) { bodies_.insert(&body); }
  void remove(const ir::Block &body) { bodies_.erase(&body); }
  bool operator==(const WaveSplitLoops &) const = default;

private:
  std::unordered_set<const ir::Block *> bodies_;
};

/// A loop whose iterations all waves run together, although splitting them was thought of.
struct WholeLoop {
  const ir::Op *loop;
  Objection objection;
};

struct WaveSplitCandidates {
  WaveSplitLoops loops;
  std::vector<WholeLoop> refused; ///< loops with dots
};

/// Whether it pays that each wave has an accumulator of the whole tile: at most 32 rows, at most 64 KiB over
/// all waves.
bool accumulators_are_small(const ir::Function &function, ir::ValueId sum);

/// The first dot of accumulator `number` of a loop: carried value `number` is used only as the addend of dots
/// of the body, and the last of these is yielded. Null if it is something else.
const ir::Op *accumulated_dot(const FunctionIndex &index, const ir::Op &loop, size_t number);

/// The loops that the function's wave_split would split over the waves. A loop can be split when all that it
/// carries are accumulators of dots and its body only loads and computes. With wave_split auto it also has to
/// pay: tiles of at most 32 rows, accumulators of at most 64 KiB over all waves. Whether the body can do
/// without the other waves depends on layouts. Error: the user's, when wave_split is k and no loop can be
/// split.
Result<WaveSplitCandidates> find_wave_split_loops(const FunctionIndex &index);

/// The user's error where wave_split=k asks for what an objection forbids.
Error wave_split_error(const ir::Function &function, const WholeLoop &whole);

} // namespace nereid::codegen
