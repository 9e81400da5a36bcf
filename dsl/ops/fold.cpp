// Tracing of combining functions.
#include "dsl/ops/fold.h"

namespace nereid::detail {

FoldTrace::FoldTrace(Where where, ir::Opcode opcode, std::span<const ir::ValueId> values, int axis)
    : where_(where), trace_(tracer().serial()), vars_(tracer().live_vars()) {
  before_ = held();
  arguments_ = at(where).begin_fold(opcode, values, axis);
}

FoldTrace::~FoldTrace() {
  Tracer *current = Tracer::current();
  if (!ended_ && current != nullptr && current->serial() == trace_)
    current->defer(user_error("a combining function is left by an exception",
                              "It is traced once and must run to its end", SourceLine::from(where_)));
}

std::vector<ir::ValueId> FoldTrace::held() const {
  std::vector<ir::ValueId> values;
  for (unsigned slot : vars_)
    values.push_back(tracer().var(slot));
  return values;
}

std::vector<ir::ValueId> FoldTrace::end(std::span<const ir::ValueId> combined) {
  ir::Builder &builder = at(where_);
  if (held() != before_)
    builder.fail("a combining function assigns to a Var", "It only returns what two elements are together");
  std::vector<ir::ValueId> results = builder.end_fold(combined);
  ended_ = true;
  return results;
}

} // namespace nereid::detail
