// Handles of values: constants, negation and the slots of Vars.
#include "dsl/handle.h"

#include <bit>

#include <fmt/format.h>

#include "dsl/var.h"

namespace nereid {

ir::Type Value::type() const { return detail::tracer().builder().type(id()); }

ir::ValueId Value::id() const {
  detail::Tracer &tracer = detail::tracer();
  if (trace_ != tracer.serial())
    tracer.builder().fail("a tile of another trace is used",
                          "Keep no tiles in globals or members: make them anew in each kernel");
  return id_;
}

namespace detail {

Tile<i1> negation(const Tile<i1> &a) {
  tracer().check_deferred();
  return make<i1>(tracer().builder().negate_ahead(a.id()));
}

ir::ValueId constant(Where where, ir::Element element, bool value) {
  return at(where).constant(ir::Type::scalar(element), value);
}

static uint64_t float_bits(ir::Element element, long double value) {
  if (element == ir::Element::F64)
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  return bits_of(element, element == ir::Element::F32 ? static_cast<float>(value) : round_to_odd(value));
}

ir::ValueId constant(Where where, ir::Element element, long double value) {
  return at(where).constant(ir::Type::scalar(element), float_bits(element, value));
}

ir::ValueId constant(Where where, ir::Element element, int64_t value) {
  if (ir::is_float(element))
    return constant(where, element, static_cast<long double>(value));
  return at(where).integer(element, value);
}

ir::ValueId constant(Where where, ir::Element element, uint64_t value) {
  if (ir::is_float(element))
    return constant(where, element, static_cast<long double>(value));
  if (element == ir::Element::U64)
    return at(where).constant(ir::Type::scalar(element), value);
  if (value > static_cast<uint64_t>(INT64_MAX))
    at(where).fail(fmt::format("the constant {} does not fit {}", value, ir::facts(element).name),
                   "Use a u64 tile");
  return at(where).integer(element, static_cast<int64_t>(value));
}

VarState::VarState(ir::ValueId value) : trace_(tracer().serial()), slot_(tracer().new_var(value)) {}

VarState::~VarState() {
  if (Tracer *current = Tracer::current(); current != nullptr && current->serial() == trace_)
    current->drop_var(slot_);
}

Tracer &VarState::owner() const {
  Tracer &current = tracer();
  if (current.serial() != trace_)
    current.builder().fail("a Var of another trace is used", "Declare the Var inside the kernel");
  return current;
}

ir::ValueId VarState::value() const { return owner().var(slot_); }

ir::Type VarState::type() const { return owner().builder().type(value()); }

void VarState::assign(ir::ValueId value) {
  Tracer &owner = this->owner();
  owner.check_deferred();
  ir::Builder &builder = owner.builder();
  const Shape shape = type().shape;
  if (const Shape &given = builder.type(value).shape; given != shape && !given.empty())
    builder.fail(
        fmt::format("a Var of shape {} is assigned a tile of shape {}", ir::text(shape), ir::text(given)),
        "The first value gives a Var its shape: start with zeros<T>(shape) or full<T>(shape, value)");
  owner.set_var(slot_, builder.broadcast(value, shape));
}

} // namespace detail
} // namespace nereid
