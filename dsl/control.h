#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "dsl/ops/common.h"

/// Loops and branches of the device. Plain C++ if and for over config values are meta-programming.
namespace nereid {

using detail::Where;

/// How a loop of the device is compiled.
struct LoopOptions {
  /// Depth of the software pipeline, 1 to 16; 0: that of the config, or 1.
  int stages = 0;
  /// A loop of constant bounds and at most this many iterations is written out while tracing: its index is a
  /// constant, and no loop is left. At most 1024.
  int unroll = 0;
};

namespace detail {

/// A branch that is being traced.
class BranchTrace {
public:
  /// `what` is the statement that is traced as a branch.
  BranchTrace(Where where, ir::ValueId condition, std::string_view what = "when");
  ~BranchTrace();
  BranchTrace(const BranchTrace &) = delete;
  BranchTrace &operator=(const BranchTrace &) = delete;
  void begin_else();
  void end();

private:
  std::vector<ir::ValueId> values() const;
  Where where_;
  std::string_view what_;
  uint64_t trace_;
  bool ended_ = false;
  std::vector<unsigned> vars_;
  std::vector<ir::ValueId> before_;
  std::vector<ir::ValueId> then_;
};

/// What is traced from its first to its last statement: the body of a loop, or of a branch. break_when puts
/// the rest of it under a branch.
class BodyTrace {
public:
  /// Of a loop: `running` is the slot of a Var, true until a break_when. None: nothing that break_when may
  /// leave.
  explicit BodyTrace(std::optional<unsigned> running);
  /// Of a branch.
  BodyTrace();
  ~BodyTrace();
  BodyTrace(const BodyTrace &) = delete;
  BodyTrace &operator=(const BodyTrace &) = delete;

  /// Leaves the loop around it where the condition holds.
  void break_when(Where where, ir::ValueId condition);
  /// What follows runs only while the loop does, if some break_when has come since it was `before`.
  void guard(Where where, std::optional<ir::ValueId> before);
  /// Whether the loop around it goes on; nothing outside of loops.
  std::optional<ir::ValueId> running() const;
  /// To be called after the last statement.
  void close();

private:
  uint64_t trace_;
  BodyTrace *outer_;
  std::optional<unsigned> running_;
  std::vector<std::unique_ptr<BranchTrace>> guards_;
};

/// A loop that is being traced. Its body is traced once, or for each iteration where the loop is written out;
/// leaving it by break, return or an exception is an error that names the loop's line.
class LoopTrace {
public:
  LoopTrace(Where where, ir::ValueId first, ir::ValueId last, ir::ValueId step, LoopOptions options);
  ~LoopTrace();
  LoopTrace(const LoopTrace &) = delete;
  LoopTrace &operator=(const LoopTrace &) = delete;

  /// Begins the body for the first time; false: no iteration is to be traced.
  bool begin();
  /// Ends the body; true: it is to be traced for another iteration.
  bool next();
  ir::ValueId index() const { return index_; }

private:
  /// Iterations to write out, where that is wanted.
  std::optional<uint64_t> unrolled_iterations(ir::Builder &builder) const;
  void begin_unrolled(ir::Builder &builder);
  void begin_loop(ir::Builder &builder);
  void end_loop(ir::Builder &builder);

  Where where_;
  uint64_t trace_;
  ir::ValueId first_, last_, step_;
  LoopOptions options_;
  enum class State { Fresh, Open, Closed } state_ = State::Fresh;
  ir::ValueId index_ = 0;
  unsigned running_ = 0; ///< slot of a Var
  ir::ValueId first_running_ = 0, carried_running_ = 0;
  std::optional<BodyTrace> body_;
  std::vector<unsigned> vars_;
  std::optional<uint64_t> iterations_; ///< of a loop that is written out
  uint64_t iteration_ = 0;
};

/// What range returns: a range of the indices for which the body is traced.
template <ElementType T> class LoopRange {
public:
  LoopRange(Where where, const Operand<T> &first, const Operand<T> &last, const Operand<T> &step,
            LoopOptions options)
      : loop_(where, first.id(), last.id(), step.id(), options) {}

  struct End {};
  class Iterator {
  public:
    explicit Iterator(LoopTrace &loop) : loop_(&loop), open_(loop.begin()) {}
    Tile<T> operator*() const { return make<T>(loop_->index()); }
    Iterator &operator++() {
      open_ = loop_->next();
      return *this;
    }
    bool operator!=(End) const { return open_; }

  private:
    LoopTrace *loop_;
    bool open_;
  };
  Iterator begin() { return Iterator(loop_); }
  End end() { return {}; }

private:
  LoopTrace loop_;
};

template <class... X> struct IndexElement {
  using type = i32;
};
template <class... X>
  requires(TileLike<X> || ...)
struct IndexElement<X...> {
  using type = CommonElement<X...>;
};
template <class... X> using IndexOf = typename IndexElement<X...>::type;
template <class... X>
concept IndexArguments = (std::same_as<IndexOf<X...>, i32> || std::same_as<IndexOf<X...>, i64>) &&
                         (std::convertible_to<const X &, Operand<IndexOf<X...>>> && ...);

/// A condition: a scalar i1 or a Var of one; a C++ bool chooses while tracing.
class Condition {
public:
  template <std::same_as<bool> B>
  Condition(B known, Where where = Where::current()) : known_(known), where_(where) {}
  Condition(const Tile<i1> &tile, Where where = Where::current()) : id_(tile.id(where)), where_(where) {}
  Condition(const Var<Tile<i1>> &var, Where where = Where::current())
      : id_(var.get().id(where)), where_(where) {}
  std::optional<bool> known() const { return known_; }
  /// Of one that is not known.
  ir::ValueId id() const { return id_; }
  /// Of any.
  ir::ValueId value() const { return known_ ? constant_of(where_, ir::Element::I1, *known_) : id_; }
  Where where() const { return where_; }

private:
  std::optional<bool> known_;
  ir::ValueId id_ = 0;
  Where where_;
};

/// Traces both branches of a when.
void trace_branches(Where where, ir::ValueId condition, const std::function<void()> &then,
                    const std::function<void()> &otherwise);
/// Traces a loop_while.
void trace_while(Where where, const std::function<Condition()> &condition, const std::function<void()> &body);

} // namespace detail

/// for (Int k : range(first, last, step, {.stages = n})): first, first + step, ... while less than last. The
/// bounds are scalars, i32 or i64; the step is positive. Vars that the body assigns are carried through the
/// loop. With {.unroll = n} a loop of at most n iterations, known while tracing, is written out.
template <class F, class L, class S>
  requires detail::IndexArguments<F, L, S>
auto range(const F &first, const L &last, const S &step, LoopOptions options = {},
           Where where = Where::current()) {
  using T = detail::IndexOf<F, L, S>;
  return detail::LoopRange<T>(where, detail::Operand<T>(first, where), detail::Operand<T>(last, where),
                              detail::Operand<T>(step, where), options);
}
template <class F, class L>
  requires detail::IndexArguments<F, L>
auto range(const F &first, const L &last, LoopOptions options = {}, Where where = Where::current()) {
  return range(first, last, 1, options, where);
}

/// The device's if: the condition is a scalar. Vars that a branch assigns are its results.
template <class Then, class Else>
void when(const detail::Condition &condition, Then &&then, Else &&otherwise) {
  static_assert(std::is_void_v<std::invoke_result_t<Then>> && std::is_void_v<std::invoke_result_t<Else>>,
                "a branch of when returns nothing: assign to a Var");
  if (condition.known()) {
    *condition.known() ? then() : otherwise();
    return;
  }
  detail::trace_branches(condition.where(), condition.id(), std::ref(then), std::ref(otherwise));
}
template <class Then> void when(const detail::Condition &condition, Then &&then) {
  when(condition, std::forward<Then>(then), [] {});
}

/// A loop of the device that runs `body` as long as `condition`, a function that gives a scalar i1, holds
/// before it. Both are traced, the condition twice: before the loop and after the body. Vars that they assign
/// are carried.
///
///     loop_while([&] { return error > 1e-6f; }, [&] { ...; error = ...; });
template <class C, class Body> void loop_while(C &&condition, Body &&body, Where where = Where::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Body>>,
                "the body of loop_while returns nothing: assign to a Var");
  static_assert(std::constructible_from<detail::Condition, std::invoke_result_t<C>, Where>,
                "the condition of loop_while is a function that returns a scalar i1 or a bool");
  detail::trace_while(where, [&] { return detail::Condition(condition(), where); }, std::ref(body));
}

/// In the body of a range loop or of loop_while, or of a when inside of it: leaves the innermost loop where
/// the condition, a scalar, holds. What follows in the body does not run then. A range loop with it has no
/// software pipeline.
void break_when(const detail::Condition &condition);

} // namespace nereid
