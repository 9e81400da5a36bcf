// Type rules of all operations but the matrix ones.
#include "dsl/ir/type_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/ir/format.h"
#include "dsl/ir/limits.h"
#include "dsl/ir/matrix_rules.h"

namespace nereid::ir {
namespace {

/// The types of one operation.
struct Types {
  const Function &function;
  const Op &op;

  const Type &in(size_t i) const { return function.type(op.operands[i]); }
  const Type &out(size_t i = 0) const { return function.type(op.results[i]); }
  size_t count() const { return op.operands.size(); }
};

Complaint want_shape(const Types &t, size_t operand, const Shape &shape) {
  if (t.in(operand).shape == shape)
    return {};
  return fmt::format("operand {} has shape {}, not {}", operand, text(t.in(operand).shape), text(shape));
}

Complaint first_of(std::initializer_list<Complaint> complaints) {
  for (const Complaint &complaint : complaints)
    if (complaint)
      return complaint;
  return {};
}

Type with_element(Type type, Element element) {
  type.element = element;
  type.pointer = false;
  return type;
}

Complaint source(const Types &t) {
  const Type &out = t.out();
  switch (t.op.opcode) {
  case Opcode::Constant: {
    if (out.pointer)
      return "a constant is not a pointer";
    const unsigned bits = facts(out.element).bits;
    if (bits < 64 && static_cast<uint64_t>(t.op.integer("bits")) >> bits != 0)
      return fmt::format("bits does not fit in {} bits", bits);
    return {};
  }
  case Opcode::Arange: {
    const int64_t start = t.op.integer("start");
    if (out.rank() != 1 || out != Type::tile(Element::I32, out.shape))
      return fmt::format("arange gives i32[n], not {}", out.text());
    if (start < INT32_MIN || start > INT32_MAX || start + out.shape[0] - 1 > INT32_MAX)
      return "the numbers of an arange fit in i32";
    return {};
  }
  default:
    if (t.op.integer("axis") < 0 || t.op.integer("axis") > 2)
      return "axis is 0, 1 or 2";
    return want(out, Type::scalar(Element::I32), "the result");
  }
}

Complaint shape_op(const Types &t) {
  const Type &in = t.in(0);
  Type wanted = in;
  switch (t.op.opcode) {
  case Opcode::Broadcast: {
    wanted.shape = t.out().shape;
    bool fits = in.rank() == 0 || in.rank() == wanted.rank();
    for (size_t d = 0; fits && in.rank() != 0 && d < in.rank(); ++d)
      fits = in.shape[d] == 1 || in.shape[d] == wanted.shape[d];
    if (!fits)
      return fmt::format("{} does not broadcast to {}", text(in.shape), text(wanted.shape));
    break;
  }
  case Opcode::ExpandDims: {
    const int64_t axis = t.op.integer("axis");
    if (axis < 0 || axis > in.rank())
      return fmt::format("axis is 0 to {}", in.rank());
    wanted.shape.insert(wanted.shape.begin() + axis, 1);
    break;
  }
  case Opcode::Reshape:
    wanted.shape = t.out().shape;
    if (wanted.count() != in.count())
      return fmt::format("{} and {} have different numbers of elements", text(in.shape), text(wanted.shape));
    break;
  case Opcode::Permute: {
    const std::vector<int64_t> &order = t.op.integers("order");
    std::vector<bool> seen(in.rank());
    bool good = order.size() == in.rank();
    for (size_t d = 0; good && d < order.size(); ++d) {
      good = order[d] >= 0 && order[d] < in.rank() && !seen[order[d]];
      if (good) {
        seen[order[d]] = true;
        wanted.shape[d] = in.shape[order[d]];
      }
    }
    if (!good)
      return fmt::format("order is not a permutation of {} dimensions", in.rank());
    break;
  }
  case Opcode::Split:
    if (in.rank() == 0 || in.shape.back() != 2)
      return fmt::format("the last dimension of {} is not 2", text(in.shape));
    wanted.shape.pop_back();
    return first_of({want(t.out(0), wanted, "result 0"), want(t.out(1), wanted, "result 1")});
  default: // Join
    if (auto complaint = want(t.in(1), in, "operand 1"))
      return complaint;
    wanted.shape.push_back(2);
  }
  return want(t.out(), wanted, "the result");
}

/// All operands and the result have one type; a comparison gives i1.
Complaint uniform_op(const Types &t) {
  for (size_t i = 1; i < t.count(); ++i)
    if (auto complaint = want(t.in(i), t.in(0), fmt::format("operand {}", i)))
      return complaint;
  const bool is_comparison = facts(t.op.opcode).op_class == OpClass::Compare;
  return want(t.out(), is_comparison ? with_element(t.in(0), Element::I1) : t.in(0), "the result");
}

/// Tiles of one shape, and a result for each.
Complaint fold_op(const Types &t) {
  if (t.op.results.size() != t.count())
    return fmt::format("{} results for {} operands", t.op.results.size(), t.count());
  for (size_t i = 0; i < t.count(); ++i) {
    if (t.in(i).pointer)
      return fmt::format("operand {} is a pointer", i);
    if (auto complaint = want_shape(t, i, t.in(0).shape))
      return complaint;
    Type wanted = t.in(i);
    if (t.op.opcode == Opcode::Reduce)
      wanted.shape.erase(wanted.shape.begin() + t.op.integer("axis"));
    if (auto complaint = want(t.out(i), wanted, fmt::format("result {}", i)))
      return complaint;
  }
  return {};
}

Complaint check_axis(const Types &t) {
  const int64_t axis = t.op.integer("axis");
  if (axis < 0 || axis >= t.in(0).rank())
    return fmt::format("axis {} is not in {}", axis, text(t.in(0).shape));
  return {};
}

/// The index and the result have the tile's shape in all dimensions but the axis.
Complaint gather(const Types &t) {
  if (auto complaint = check_axis(t))
    return complaint;
  const auto axis = static_cast<size_t>(t.op.integer("axis"));
  Type wanted = t.in(0);
  if (t.in(1).pointer || t.in(1).element != Element::I32 || t.in(1).rank() != wanted.rank())
    return fmt::format("the index is i32 of rank {}, not {}", wanted.rank(), t.in(1).text());
  wanted.shape[axis] = t.in(1).shape[axis];
  return first_of({want_shape(t, 1, wanted.shape), want(t.out(), wanted, "the result")});
}

Complaint along_axis(const Types &t) {
  if (auto complaint = check_axis(t))
    return complaint;
  const int64_t axis = t.op.integer("axis");
  if (is_fold(t.op.opcode))
    return fold_op(t);
  Type wanted = t.in(0);
  if (t.op.opcode == Opcode::Butterfly) {
    const int64_t size = wanted.shape[static_cast<size_t>(axis)], distance = t.op.integer("distance");
    if (distance < 1 || distance >= (size & -size))
      return fmt::format("distance {} leaves the power of two in {}", distance, size);
  }
  if (facts(t.op.opcode).op_class == OpClass::Scan)
    return want(t.out(), wanted, "the result");
  wanted.shape.erase(wanted.shape.begin() + axis);
  if (t.op.opcode == Opcode::ArgMax)
    wanted.element = Element::I32;
  return want(t.out(), wanted, "the result");
}

Complaint conversion(const Types &t) {
  const Type &in = t.in(0), &out = t.out();
  if (auto complaint = want(out, with_element(in, out.element), "the result"))
    return complaint;
  if (t.op.opcode == Opcode::Bitcast && facts(in.element).bits != facts(out.element).bits)
    return fmt::format("{} and {} differ in width", in.text(), out.text());
  return {};
}

Complaint cvt_scaled(const Types &t) {
  const std::optional<Format> format = format_named(t.op.string("format"));
  if (format != Format::E2M1 && format != Format::E4M3 && format != Format::E5M2)
    return fmt::format("format is e2m1, e4m3 or e5m2, not '{}'", t.op.string("format"));
  const Type wanted = with_element(t.in(0), Element::F32);
  return first_of({want(t.in(0), wanted, "operand 0"), want(t.in(1), wanted, "operand 1"),
                   want(t.in(2), wanted, "operand 2"),
                   want(t.out(), with_element(wanted, format == Format::E2M1 ? Element::U8 : Element::U16),
                        "the result")});
}

Complaint inline_asm(const Types &t) {
  for (size_t i = 0; i < t.count(); ++i) {
    if (t.in(i).pointer)
      return "inline_asm takes no pointers";
    if (auto complaint = want_shape(t, i, t.out().shape))
      return complaint;
  }
  return t.out().pointer ? Complaint("inline_asm gives no pointer") : Complaint();
}

Complaint pointer_add(const Types &t) {
  const Element offset = t.in(1).element;
  if (t.in(1).pointer || (offset != Element::I32 && offset != Element::I64))
    return fmt::format("the offset is i32 or i64, not {}", t.in(1).text());
  return first_of({want_shape(t, 1, t.in(0).shape), want(t.out(), t.in(0), "the result")});
}

Complaint int_to_ptr(const Types &t) {
  if (facts(t.in(0).element).bits != 64)
    return fmt::format("an address is i64 or u64, not {}", t.in(0).text());
  return want(t.out(), Type::pointer_to(t.out().element, t.in(0).shape), "the result");
}

Complaint elementwise(const Types &t) {
  switch (t.op.opcode) {
  case Opcode::Fma:
    return uniform_op(t);
  case Opcode::Where:
    return first_of({want(t.in(2), t.in(1), "operand 2"), want_shape(t, 0, t.in(1).shape),
                     want(t.out(), t.in(1), "the result")});
  case Opcode::Cast:
  case Opcode::Bitcast:
    return conversion(t);
  case Opcode::PtrAdd:
    return pointer_add(t);
  case Opcode::IntToPtr:
    return int_to_ptr(t);
  case Opcode::InlineAsm:
    return inline_asm(t);
  default: // CvtScaled
    return cvt_scaled(t);
  }
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Complaint atomic(const Types &t) {
  const bool adds_halves =
      t.op.opcode == Opcode::AtomicAdd && is_float(t.in(0).element) && !is_small_float(t.in(0).element);
  if (facts(t.in(0).element).bits < 32 && !adds_halves)
    return fmt::format("atomics take 32 or 64 bits, not {}", t.in(0).text());
  const bool is_bitwise =
      t.op.opcode == Opcode::AtomicAnd || t.op.opcode == Opcode::AtomicOr || t.op.opcode == Opcode::AtomicXor;
  if (is_bitwise && !is_integer(t.in(0).element))
    return fmt::format("{} takes integers, not {}", facts(t.op.opcode).name, t.in(0).text());
  if (!one_of(t.op.string("order"), {"relaxed", "acquire", "release", "acq_rel"}))
    return fmt::format("order is relaxed, acquire, release or acq_rel, not '{}'", t.op.string("order"));
  if (!one_of(t.op.string("scope"), {"workgroup", "device"}))
    return fmt::format("scope is workgroup or device, not '{}'", t.op.string("scope"));
  return {};
}

Complaint memory(const Types &t) {
  if (t.op.has("cache") && !one_of(t.op.string("cache"), {"stream", "global"}))
    return fmt::format("cache is stream or global, not '{}'", t.op.string("cache"));
  const Type element = with_element(t.in(0), t.in(0).element);
  const Type mask = with_element(element, Element::I1);
  switch (t.op.opcode) {
  case Opcode::Load:
    return first_of({t.count() > 1 ? want(t.in(1), mask, "the mask") : Complaint(),
                     t.count() > 2 ? want(t.in(2), element, "the other value") : Complaint(),
                     want(t.out(), element, "the result")});
  case Opcode::Store:
    return first_of(
        {want(t.in(1), element, "the value"), t.count() > 2 ? want(t.in(2), mask, "the mask") : Complaint()});
  default: {
    const size_t values = t.op.opcode == Opcode::AtomicCompareExchange ? 2 : 1;
    return first_of({atomic(t), want(t.in(1), element, "operand 1"),
                     values > 1 ? want(t.in(2), element, "operand 2") : Complaint(),
                     t.count() > values + 1 ? want(t.in(values + 1), mask, "the mask") : Complaint(),
                     want(t.out(), element, "the result")});
  }
  }
}

Complaint region(const Types &t) {
  if (t.op.opcode == Opcode::If)
    return want(t.in(0), Type::scalar(Element::I1), "the condition");
  if (t.op.opcode == Opcode::Yield)
    return {};
  const size_t inits = carried_places(t.op.opcode).inits;
  if (t.op.results.size() != t.count() - inits)
    return fmt::format("{} values are carried, {} are results", t.count() - inits, t.op.results.size());
  for (size_t i = 0; i < t.op.results.size(); ++i)
    if (auto complaint = want(t.out(i), t.in(inits + i), fmt::format("result {}", i)))
      return complaint;
  if (t.op.opcode == Opcode::While)
    return want(t.in(0), Type::scalar(Element::I1), "the condition");
  const Type &index = t.in(0);
  if (index != Type::scalar(Element::I32) && index != Type::scalar(Element::I64))
    return fmt::format("a loop counts in i32 or i64, not {}", index.text());
  if (auto complaint = first_of({want(t.in(1), index, "operand 1"), want(t.in(2), index, "operand 2")}))
    return complaint;
  if (t.op.has("stages") && (t.op.integer("stages") < 1 || t.op.integer("stages") > max_stages))
    return fmt::format("stages is 1 to {}, not {}", max_stages, t.op.integer("stages"));
  return {};
}

} // namespace

bool may_combine(const Function &function, const Op &op) {
  const auto is_scalar = [&](ValueId value) { return function.type(value).rank() == 0; };
  return (is_elementwise(op.opcode) || facts(op.opcode).op_class == OpClass::Source) &&
         std::all_of(op.operands.begin(), op.operands.end(), is_scalar) &&
         std::all_of(op.results.begin(), op.results.end(), is_scalar);
}

Complaint type_error(const Function &function, const Op &op) {
  const Types types{function, op};
  switch (facts(op.opcode).op_class) {
  case OpClass::Source:
    return source(types);
  case OpClass::Shape:
    return shape_op(types);
  case OpClass::Unary:
  case OpClass::Binary:
  case OpClass::Compare:
    return uniform_op(types);
  case OpClass::Elementwise:
    return elementwise(types);
  case OpClass::Reduce:
  case OpClass::Scan:
    return along_axis(types);
  case OpClass::Gather:
    return gather(types);
  case OpClass::Matrix:
    return matrix_error(function, op);
  case OpClass::Memory:
    return memory(types);
  case OpClass::Statement:
    if (op.opcode == Opcode::Assume && types.in(0).rank() != 0)
      return "assume takes a rank-0 condition";
    return {};
  case OpClass::Region:
    return region(types);
  }
  return {};
}

} // namespace nereid::ir
