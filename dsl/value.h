#pragma once

#include <source_location>

#include "dsl/elements.h"
#include "dsl/tracer.h"

namespace nereid {

/// Sizes of a tile, outermost first.
using Shape = ir::Shape;

/// Named in the error of an assignment: a Tile, Int or Ptr is a value; hold what changes in a Var.
struct Use_Var_for_a_value_that_changes;

template <ElementType T> class Tile;
template <class T> class Ptr;
template <class Handle> class Var;

/// A rank-0 tile is a scalar, uniform over the program.
using Int = Tile<i32>;
using Long = Tile<i64>;
using Float = Tile<f32>;

/// What all handles are: a value of the function that is being traced.
class Value {
public:
  ir::Type type() const;
  /// Sizes of the dimensions; empty for a scalar.
  Shape shape() const { return type().shape; }
  unsigned rank() const { return type().rank(); }
  /// The size of a dimension; a negative axis counts from the end, one that does not exist is an error.
  int64_t size(int axis, std::source_location where = std::source_location::current()) const {
    return detail::at(where).size(id(), axis);
  }
  /// Its id for the next operation; checks that it belongs to the current trace.
  ir::ValueId id() const;
  /// The same, with the location of an error.
  ir::ValueId id(std::source_location where) const {
    detail::at(where);
    return id();
  }

  // Named in the error of an update: it is Var that has these.
#define NEREID_UPDATE(symbol)                                                                                \
  template <class Operand> Use_Var_for_a_value_that_changes &operator symbol(const Operand &) = delete;
  NEREID_UPDATE(+=)
  NEREID_UPDATE(-=)
  NEREID_UPDATE(*=)
  NEREID_UPDATE(/=)
  NEREID_UPDATE(%=)
  NEREID_UPDATE(&=)
  NEREID_UPDATE(|=)
  NEREID_UPDATE(^=)
  NEREID_UPDATE(<<=)
  NEREID_UPDATE(>>=)
#undef NEREID_UPDATE
  Use_Var_for_a_value_that_changes &operator++() = delete;
  Use_Var_for_a_value_that_changes &operator--() = delete;
  Use_Var_for_a_value_that_changes &operator++(int) = delete;
  Use_Var_for_a_value_that_changes &operator--(int) = delete;

protected:
  explicit Value(ir::ValueId id) : trace_(detail::tracer().serial()), id_(id) {}
  Value(const Value &) = default;
  // Not trivial: compilers then let a loop leave its index unused without a warning.
  ~Value() {}

private:
  uint64_t trace_;
  ir::ValueId id_;
};

} // namespace nereid
