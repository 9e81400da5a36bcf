// Loops and branches while they are traced: which Vars they carry, and how they are left.
#include "dsl/control.h"

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

ir::ValueId LoopTrace::open() {
  ir::Builder &builder = at(where_);
  if (state_ != State::Fresh)
    builder.fail("one range is used for two loops", "Write range(...) in the head of each loop");
  Tracer &tracer = *Tracer::current();
  vars_ = tracer.live_vars();
  inits_.clear();
  for (unsigned slot : vars_)
    inits_.push_back(tracer.var(slot));
  int stages = options_.stages != 0 ? options_.stages : tracer.default_stages;
  ir::Builder::Loop loop = builder.begin_for(first_, last_, step_, stages, inits_);
  for (size_t i = 0; i < vars_.size(); ++i)
    tracer.set_var(vars_[i], loop.carried[i]);
  state_ = State::Open;
  return loop.index;
}

void LoopTrace::close() {
  ir::Builder &builder = at(where_);
  Tracer &tracer = *Tracer::current();
  std::vector<ir::ValueId> yields;
  for (unsigned slot : vars_)
    yields.push_back(tracer.var(slot));
  std::vector<ir::ValueId> results = builder.end_for(yields);
  for (size_t i = 0; i < vars_.size(); ++i)
    tracer.set_var(vars_[i], results[i]);
  state_ = State::Closed;
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
