// Tracing of loops and branches: which Vars they change, and what is said of a body that does not run to its
// end.
#include "dsl/control.h"

#include <algorithm>
#include <utility>

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
  if (state_ == State::Closed)
    return false;
  first_running_ = builder.constant(ir::Type::scalar(ir::Element::I1), 1);
  running_ = Tracer::current()->new_var(first_running_);
  if (!iterations_)
    begin_loop(builder);
  else
    begin_unrolled(builder);
  body_.emplace(running_);
  return true;
}

bool LoopTrace::next() {
  ir::Builder &builder = at(where_);
  body_->close();
  body_.reset();
  if (iterations_ && ++iteration_ < *iterations_) {
    begin_unrolled(builder);
    body_.emplace(running_);
    body_->guard(where_, first_running_);
    return true;
  }
  if (!iterations_)
    end_loop(builder);
  Tracer::current()->drop_var(running_);
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
  carried_running_ = tracer.var(running_);
  index_ = loop.index;
}

void LoopTrace::end_loop(ir::Builder &builder) {
  Tracer &tracer = *Tracer::current();
  std::vector<ir::ValueId> yields;
  for (unsigned slot : vars_)
    yields.push_back(tracer.var(slot));
  const auto running = static_cast<size_t>(std::find(vars_.begin(), vars_.end(), running_) - vars_.begin());
  const std::vector<ir::ValueId> results =
      yields[running] == carried_running_ ? builder.end_for(yields) : builder.end_for_while(yields, running);
  for (size_t i = 0; i < vars_.size(); ++i)
    tracer.set_var(vars_[i], results[i]);
}

BranchTrace::BranchTrace(Where where, ir::ValueId condition, std::string_view what)
    : where_(where), what_(what), trace_(tracer().serial()) {
  ir::Builder &builder = at(where);
  vars_ = Tracer::current()->live_vars();
  before_ = values();
  builder.begin_if(condition, what);
}

BranchTrace::~BranchTrace() {
  Tracer *current = Tracer::current();
  if (!ended_ && current != nullptr && current->serial() == trace_)
    current->defer(user_error(what_ == "when" ? "a branch of when is left by an exception"
                                              : fmt::format("what follows {} is left by an exception", what_),
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

BodyTrace::BodyTrace(std::optional<unsigned> running)
    : trace_(tracer().serial()), outer_(std::exchange(tracer().body, this)), running_(running) {}

BodyTrace::BodyTrace() : trace_(tracer().serial()), outer_(std::exchange(tracer().body, this)) {
  if (outer_ != nullptr)
    running_ = outer_->running_;
}

BodyTrace::~BodyTrace() {
  if (Tracer *current = Tracer::current(); current != nullptr && current->serial() == trace_)
    current->body = outer_;
}

std::optional<ir::ValueId> BodyTrace::running() const {
  return running_ ? std::optional(Tracer::current()->var(*running_)) : std::nullopt;
}

void BodyTrace::break_when(Where where, ir::ValueId condition) {
  ir::Builder &builder = at(where);
  if (!running_)
    builder.fail("break_when stands in no loop", "It leaves the range loop or loop_while around it");
  builder.check_condition("break_when", condition);
  const ir::ValueId goes_on = builder.unary(ir::Opcode::Not, condition);
  Tracer::current()->set_var(*running_, goes_on);
  guards_.push_back(std::make_unique<BranchTrace>(where, goes_on, "break_when"));
}

void BodyTrace::guard(Where where, std::optional<ir::ValueId> before) {
  if (running() != before)
    guards_.push_back(std::make_unique<BranchTrace>(where, *running(), "break_when"));
}

void BodyTrace::close() {
  for (; !guards_.empty(); guards_.pop_back()) {
    guards_.back()->begin_else();
    guards_.back()->end();
  }
}

void trace_branches(Where where, ir::ValueId condition, const std::function<void()> &then,
                    const std::function<void()> &otherwise) {
  BodyTrace *around = tracer().body;
  const std::optional<ir::ValueId> before = around != nullptr ? around->running() : std::nullopt;
  BranchTrace branch(where, condition);
  const auto trace_body = [](const std::function<void()> &statements) {
    BodyTrace body;
    statements();
    body.close();
  };
  trace_body(then);
  branch.begin_else();
  trace_body(otherwise);
  branch.end();
  if (around != nullptr)
    around->guard(where, before);
}

namespace {

/// Tells of a loop_while whose body or condition did not run to its end.
class OpenWhile {
public:
  explicit OpenWhile(Where where) : where_(where), trace_(tracer().serial()) {}
  ~OpenWhile() {
    Tracer *current = Tracer::current();
    if (!closed_ && current != nullptr && current->serial() == trace_)
      current->defer(user_error("a loop_while is left by an exception",
                                "Its body is traced once and must run to its end", SourceLine::from(where_)));
  }
  OpenWhile(const OpenWhile &) = delete;
  OpenWhile &operator=(const OpenWhile &) = delete;
  void close() { closed_ = true; }

private:
  Where where_;
  uint64_t trace_;
  bool closed_ = false;
};

} // namespace

/// The condition after the body; false where a break_when has left the loop.
static ir::ValueId condition_after(Where where, ir::ValueId running, bool has_break,
                                   const std::function<Condition()> &condition) {
  if (!has_break)
    return condition().value();
  Tracer &tracer = *Tracer::current();
  const unsigned more = tracer.new_var(constant_of(where, ir::Element::I1, false));
  BranchTrace branch(where, running, "loop_while");
  tracer.set_var(more, condition().value());
  branch.begin_else();
  branch.end();
  tracer.drop_var(more);
  return tracer.var(more);
}

void trace_while(Where where, const std::function<Condition()> &condition,
                 const std::function<void()> &body) {
  ir::Builder &builder = at(where);
  Tracer &tracer = *Tracer::current();
  const Condition first = condition();
  if (first.known() == false)
    return;
  const ir::ValueId enters = first.value();
  const unsigned running = tracer.new_var(constant_of(where, ir::Element::I1, true));
  const std::vector<unsigned> vars = tracer.live_vars();
  const auto values = [&] {
    std::vector<ir::ValueId> held;
    for (unsigned slot : vars)
      held.push_back(tracer.var(slot));
    return held;
  };
  const auto hold = [&](const std::vector<ir::ValueId> &held) {
    for (size_t i = 0; i < vars.size(); ++i)
      tracer.set_var(vars[i], held[i]);
  };
  at(where);
  hold(builder.begin_while(enters, values()));
  OpenWhile open(where);
  const ir::ValueId carried_running = tracer.var(running);
  {
    BodyTrace statements(running);
    body();
    statements.close();
  }
  const ir::ValueId still_running = tracer.var(running);
  tracer.set_var(running, carried_running);
  const ir::ValueId more = condition_after(where, still_running, still_running != carried_running, condition);
  at(where);
  hold(builder.end_while(more, values()));
  open.close();
  tracer.drop_var(running);
}

} // namespace nereid::detail

namespace nereid {

void break_when(const detail::Condition &condition) {
  const ir::ValueId holds = condition.value();
  detail::at(condition.where());
  if (detail::BodyTrace *body = detail::tracer().body)
    return body->break_when(condition.where(), holds);
  detail::tracer().builder().fail("break_when stands in no loop",
                                  "It leaves the range loop or loop_while around it");
}

} // namespace nereid
