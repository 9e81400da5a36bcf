// The state of one trace: live Vars, effects and loads of the current full-expression.
#include "dsl/tracer.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

namespace nereid::detail {

static thread_local Tracer *current_tracer = nullptr;
static std::atomic<uint64_t> next_serial{1};

Tracer::Tracer(std::string name)
    : builder_(std::move(name)), serial_(next_serial.fetch_add(1)), outer_(current_tracer) {
  current_tracer = this;
}

Tracer::~Tracer() { current_tracer = outer_; }

Tracer *Tracer::current() { return current_tracer; }

unsigned Tracer::new_var(ir::ValueId value) {
  vars_.push_back({value, true});
  return static_cast<unsigned>(vars_.size() - 1);
}

std::vector<unsigned> Tracer::live_vars() const {
  std::vector<unsigned> live;
  for (unsigned slot = 0; slot < vars_.size(); ++slot)
    if (vars_[slot].alive && builder_.visible(vars_[slot].value))
      live.push_back(slot);
  return live;
}

void Tracer::defer(Error error) {
  if (!deferred_)
    deferred_ = std::move(error);
}

void Tracer::check_deferred() const {
  if (deferred_)
    throw TraceError(*deferred_);
}

Tracer &tracer() {
  if (current_tracer == nullptr)
    throw TraceError(
        user_error("an operation on tiles runs outside of a kernel",
                   "Operations have a meaning only while trace() or a Kernel call traces a kernel"));
  return *current_tracer;
}

ir::Builder &at(Where where) {
  if (current_tracer == nullptr)
    throw TraceError(
        user_error("an operation on tiles runs outside of a kernel",
                   "Operations have a meaning only while trace() or a Kernel call traces a kernel",
                   SourceLine::from(where)));
  current_tracer->check_deferred();
  current_tracer->builder().set_location(SourceLine::from(current_tracer->call_site.value_or(where)));
  return current_tracer->builder();
}

CallSite::CallSite(Where where) : outermost_(!tracer().call_site) {
  if (outermost_)
    current_tracer->call_site = where;
}

CallSite::~CallSite() {
  if (outermost_ && current_tracer != nullptr)
    current_tracer->call_site.reset();
}

ir::Builder &Effect::emit() const {
  ir::Builder &builder = at(where_);
  Tracer &tracer = *current_tracer;
  for (const Effect *other : tracer.effects_)
    if (other->region_ == builder.region() && other != this)
      builder.fail(fmt::format("two operations with effects in one C++ expression (the other at {})",
                               SourceLine::from(other->where_).text()),
                   "C++ does not say which runs first: write them as two statements");
  trace_ = tracer.serial();
  region_ = builder.region();
  tracer.effects_.push_back(this);
  return builder;
}

Effect::~Effect() {
  if (current_tracer != nullptr && current_tracer->serial() == trace_)
    std::erase(current_tracer->effects_, this);
}

ir::ValueId Read::note(ir::ValueId load) const {
  Tracer &tracer = *current_tracer;
  trace_ = tracer.serial();
  region_ = tracer.builder().region();
  auto same = std::find_if(tracer.reads_.begin(), tracer.reads_.end(),
                           [&](const Read *other) { return other->region_ == region_; });
  expression_ = same != tracer.reads_.end() ? (*same)->expression_ : tracer.next_expression_++;
  tracer.reads_.push_back(this);
  tracer.load_expressions_[load] = expression_;
  return load;
}

Read::~Read() {
  if (current_tracer != nullptr && current_tracer->serial() == trace_)
    std::erase(current_tracer->reads_, this);
}

} // namespace nereid::detail
