#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <source_location>
#include <vector>

#include "dsl/ir/builder.h"

namespace nereid::detail {

using Where = std::source_location;
class BodyTrace;
class Effect;
class Read;

/// What one trace knows in addition to the function under construction: the live Vars, open effects of the
/// current full-expression, and an error that could not be thrown where it arose. One per thread is current.
class Tracer {
public:
  explicit Tracer(std::string name);
  ~Tracer();
  Tracer(const Tracer &) = delete;
  Tracer &operator=(const Tracer &) = delete;

  /// The tracer of this thread, or nullptr outside of a kernel.
  static Tracer *current();

  ir::Builder &builder() { return builder_; }
  /// Tells traces apart; never 0.
  uint64_t serial() const { return serial_; }

  unsigned new_var(ir::ValueId value);
  void drop_var(unsigned slot) { vars_[slot].alive = false; }
  ir::ValueId var(unsigned slot) const { return vars_[slot].value; }
  void set_var(unsigned slot, ir::ValueId value) { vars_[slot].value = value; }
  /// Slots of the Vars that are alive and whose value may be used in the open region.
  std::vector<unsigned> live_vars() const;

  /// An error found where nothing may be thrown; the next operation or the end of the trace reports it.
  void defer(Error error);
  void check_deferred() const;

  /// A number for the C++ expression of each load, by the load's result.
  const std::map<ir::ValueId, unsigned> &load_expressions() const { return load_expressions_; }

  /// Where operations are said to be while a function of several of them is called; see CallSite.
  std::optional<Where> call_site;

  /// The innermost body of a loop or branch that is being traced; null in the kernel's.
  BodyTrace *body = nullptr;

  /// `stages` of loops that do not say otherwise.
  int default_stages = 1;

private:
  friend class Effect;
  friend class Read;
  struct VarSlot {
    ir::ValueId value;
    bool alive;
  };
  ir::Builder builder_;
  uint64_t serial_;
  Tracer *outer_;
  std::vector<VarSlot> vars_;
  std::vector<const Effect *> effects_; ///< emitted in full-expressions that have not ended
  std::vector<const Read *> reads_;     ///< the same for loads
  std::map<ir::ValueId, unsigned> load_expressions_;
  unsigned next_expression_ = 0;
  std::optional<Error> deferred_;
};

/// The builder of this thread's tracer with its location set. Throws outside of a kernel.
ir::Builder &at(Where where);
/// Like at(), leaving the location as it is.
Tracer &tracer();

/// While it lives, all operations of this thread's trace are at the location of a call: that of a function
/// which is written with several operations. The outermost one counts.
class CallSite {
public:
  explicit CallSite(Where where);
  ~CallSite();
  CallSite(const CallSite &) = delete;
  CallSite &operator=(const CallSite &) = delete;

private:
  bool outermost_;
};

/// The default argument of every operation with an effect. It lives until the end of the caller's
/// full-expression: a second effect emitted before that is an error, since C++ does not say which comes
/// first.
class Effect {
public:
  explicit Effect(Where where) : where_(where) {}
  ~Effect();
  Effect(const Effect &) = delete;
  Effect &operator=(const Effect &) = delete;

  /// To be called for the operation; at() for its location.
  ir::Builder &emit() const;
  Where where() const { return where_; }

private:
  Where where_;
  mutable uint64_t trace_ = 0;
  mutable unsigned region_ = 0;
};

/// The default argument of a load. It lives until the end of the caller's full-expression and so tells which
/// loads share one.
class Read {
public:
  explicit Read(Where where) : where_(where) {}
  ~Read();
  Read(const Read &) = delete;
  Read &operator=(const Read &) = delete;

  /// at() for the load's location.
  ir::Builder &emit() const { return at(where_); }
  Where where() const { return where_; }
  /// To be called with the load's result, which it returns.
  ir::ValueId note(ir::ValueId load) const;

private:
  Where where_;
  mutable uint64_t trace_ = 0;
  mutable unsigned region_ = 0;
  mutable unsigned expression_ = 0;
};

} // namespace nereid::detail
