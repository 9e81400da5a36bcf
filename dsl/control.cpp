// Tracing of loops and branches: which Vars they change, and what is said of a body that does not run to its
// end.
#include "dsl/control.h"

#include <fmt/format.h>

namespace nereid::detail {

LoopTrace::LoopTrace(Where where, ir::ValueId first, ir::ValueId last, ir::ValueId step, LoopOptions options)
    : where_(where), trace_(tracer().serial()), first_(first), last_(last), step_(step), options_(options) {
  at(where);
}

LoopTrace::~LoopTrace() {
  Tracer *current = Tracer::current();
  if (state_ == State::Open && current != nullptr && current->serial() == trace_)
    current->defer(
        user_error("a range loop is left by break, return or an exception",
                   "The body is traced once and must run to its end: use when(condition, [&]{ ... }) "
                   "for what runs conditionally",
                   SourceLine::from(where_)));
}

bool LoopTrace::begin() {
  ir::Builder &builder = at(where_);
  if (state_ != State::Fresh)
    builder.fail("one range is used for two loops", "Write range(...) in the head of each loop");
  constexpr int max_unroll = 1024;
  if (options_.unroll < 0 || options_.unroll > max_unroll)
    builder.fail(fmt::format("range: unroll is {}", options_.unroll),
                 fmt::format("At most 0 to {} iterations are written out", max_unroll));
  if (options_.stages != 0)
    builder.check_stages(options_.stages);
  iterations_ = unrolled_iterations(builder);
  state_ = iterations_ == 0 ? State::Closed : State::Open;
  if (!iterations_)
    begin_loop(builder);
  else if (*iterations_ > 0)
    begin_unrolled(builder);
  return state_ == State::Open;
}

bool LoopTrace::next() {
  ir::Builder &builder = at(where_);
  if (iterations_ && ++iteration_ < *iterations_) {
    begin_unrolled(builder);
    return true;
  }
  if (!iterations_)
    end_loop(builder);
  state_ = State::Closed;
  return false;
}

std::optional<uint64_t> LoopTrace::unrolled_iterations(ir::Builder &builder) const {
  const std::optional<int64_t> first = builder.constant_of(first_), last = builder.constant_of(last_),
                               step = builder.constant_of(step_);
  if (options_.unroll == 0 || !first || !last || !step || *step <= 0)
    return std::nullopt;
  for (ir::ValueId bound : {first_, last_, step_})
    if (builder.type(bound).rank() != 0)
      return std::nullopt;
  if (*first >= *last)
    return 0;
  const uint64_t iterations =
      (static_cast<uint64_t>(*last) - static_cast<uint64_t>(*first) - 1) / static_cast<uint64_t>(*step) + 1;
  return iterations <= static_cast<uint64_t>(options_.unroll) ? std::optional(iterations) : std::nullopt;
}

void LoopTrace::begin_unrolled(ir::Builder &builder) {
  const int64_t step = *builder.constant_of(step_);
  // As an argument's value: a division by it stays an operation, for a branch of the kernel may guard it.
  index_ = builder.argument_constant(builder.type(first_).element,
                                     *builder.constant_of(first_) + static_cast<int64_t>(iteration_) * step);
}

void LoopTrace::begin_loop(ir::Builder &builder) {
  Tracer &tracer = *Tracer::current();
  vars_ = tracer.live_vars();
  std::vector<ir::ValueId> inits;
  for (unsigned slot : vars_)
    inits.push_back(tracer.var(slot));
  const int stages = options_.stages != 0 ? options_.stages : tracer.default_stages;
  const ir::Builder::Loop loop = builder.begin_for(first_, last_, step_, stages, inits);
  for (size_t i = 0; i < vars_.size(); ++i)
    tracer.set_var(vars_[i], loop.carried[i]);
  index_ = loop.index;
}

void LoopTrace::end_loop(ir::Builder &builder) {
  Tracer &tracer = *Tracer::current();
  std::vector<ir::ValueId> yields;
  for (unsigned slot : vars_)
    yields.push_back(tracer.var(slot));
  const std::vector<ir::ValueId> results = builder.end_for(yields);
  for (size_t i = 0; i < vars_.size(); ++i)
    tracer.set_var(vars_[i], results[i]);
}

BranchTrace::BranchTrace(Where where, ir::ValueId condition) : where_(where), trace_(tracer().serial()) {
  ir::Builder &builder = at(where);
  vars_ = Tracer::current()->live_vars();
  before_ = values();
  builder.begin_if(condition);
}

BranchTrace::~BranchTrace() {
  Tracer *current = Tracer::current();
  if (!ended_ && current != nullptr && current->serial() == trace_)
    current->defer(user_error("a branch of when is left by an exception",
                              "A branch is traced once and must run to its end", SourceLine::from(where_)));
}

std::vector<ir::ValueId> BranchTrace::values() const {
  std::vector<ir::ValueId> held;
  for (unsigned slot : vars_)
    held.push_back(Tracer::current()->var(slot));
  return held;
}

void BranchTrace::begin_else() {
  ir::Builder &builder = at(where_);
  then_ = values();
  for (size_t i = 0; i < vars_.size(); ++i)
    Tracer::current()->set_var(vars_[i], before_[i]);
  builder.begin_else();
}

void BranchTrace::end() {
  ir::Builder &builder = at(where_);
  std::vector<ir::ValueId> otherwise = values();
  std::vector<std::pair<ir::ValueId, ir::ValueId>> yields;
  std::vector<unsigned> changed;
  for (size_t i = 0; i < vars_.size(); ++i) {
    if (then_[i] == before_[i] && otherwise[i] == before_[i])
      continue;
    changed.push_back(vars_[i]);
    yields.emplace_back(then_[i], otherwise[i]);
  }
  std::vector<ir::ValueId> results = builder.end_if(yields);
  for (size_t i = 0; i < changed.size(); ++i)
    Tracer::current()->set_var(changed[i], results[i]);
  ended_ = true;
}

} // namespace nereid::detail
