#pragma once

#include <utility>
#include <vector>

#include "codegen/layout/linear_layout.h"
#include "dsl/ir/op.h"

/// Chains of operations are as long as the author makes them, stacks are not: what a value takes is worked
/// off from a list, in the order of a recursion.
namespace nereid::codegen {

/// A value that is wanted in a layout, and what has to be there before it can be made.
template <class Result> struct Demand {
  ir::ValueId value;
  LinearLayout layout;
  std::vector<std::pair<ir::ValueId, LinearLayout>> inputs{};
  std::vector<Result> results{}; ///< of the inputs, in order, as far as they are there
};

/// `find(value, layout)` gives what was made before (a pointer or an optional); `open(value, layout)` the
/// Demand of what was not, or a struct derived from it; `finish(demand)`, once all inputs are there, makes
/// the value and keeps it for `find`.
template <class Find, class Open, class Finish>
auto make_in_post_order(ir::ValueId value, const LinearLayout &layout, const Find &find, const Open &open,
                        const Finish &finish) {
  std::vector<decltype(open(value, layout))> waiting;
  waiting.push_back(open(value, layout));
  for (;;) {
    auto &demand = waiting.back();
    if (demand.results.size() < demand.inputs.size()) {
      const auto &[input, input_layout] = demand.inputs[demand.results.size()];
      if (auto known = find(input, input_layout))
        demand.results.push_back(*std::move(known));
      else
        waiting.push_back(open(input, input_layout));
      continue;
    }
    auto result = finish(demand);
    waiting.pop_back();
    if (waiting.empty())
      return result;
    waiting.back().results.push_back(std::move(result));
  }
}

} // namespace nereid::codegen
