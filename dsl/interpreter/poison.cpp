// Follows elements without a meaning through the program until they are observable.
#include "dsl/interpreter/poison.h"

#include <algorithm>

#include <fmt/format.h>

#include "dsl/interpreter/argument_text.h"
#include "dsl/interpreter/strides.h"
#include "dsl/ir/format.h"

namespace nereid::interpreter {

using ir::Opcode;

/// Operations through which an overflow stays one. Bit operations are how wrapped numbers are meant to be
/// used.
static bool keeps_overflow(Opcode opcode) {
  switch (opcode) {
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
  case Opcode::Shr:
  case Opcode::MulHi:
  case Opcode::Not:
  case Opcode::Popcount:
  case Opcode::Clz:
  case Opcode::Bitcast:
    return false;
  case Opcode::Fma:
  case Opcode::Where:
  case Opcode::Cast:
  case Opcode::PtrAdd:
  case Opcode::IntToPtr:
    return true;
  default: {
    const ir::OpClass op_class = ir::facts(opcode).op_class;
    return op_class == ir::OpClass::Unary || op_class == ir::OpClass::Binary ||
           op_class == ir::OpClass::Shape;
  }
  }
}

static void mark(const ir::Block &block, const ir::Function &function, std::vector<bool> &reaches,
                 bool &changed) {
  const auto add = [&](ir::ValueId value) {
    if (!reaches[value])
      reaches[value] = changed = true;
  };
  for (size_t i = block.ops.size(); i-- > 0;) {
    const ir::Op &op = block.ops[i];
    const ir::OpFacts &facts = ir::facts(op.opcode);
    const ir::CarriedPlaces places = ir::carried_places(op.opcode);
    if (facts.op_class == ir::OpClass::Memory)
      add(op.operands[0]);
    for (size_t r = 0; r < op.results.size(); ++r) {
      if (!reaches[op.results[r]])
        continue;
      if (ir::is_loop(op.opcode))
        add(op.operands[places.inits + r]);
      for (const ir::Block &inner : op.blocks)
        add(inner.ops.back().operands[places.yields + r]);
      if (keeps_overflow(op.opcode))
        std::for_each(op.operands.begin(), op.operands.end(), add);
    }
    for (const ir::Block &inner : op.blocks) {
      mark(inner, function, reaches, changed);
      for (size_t i = 0; i + places.arguments < inner.arguments.size(); ++i)
        if (reaches[inner.arguments[places.arguments + i]]) {
          const size_t number = ir::is_fold(op.opcode) ? i % op.operands.size() : i;
          add(op.operands[places.inits + number]);
          add(inner.ops.back().operands[places.yields + number]);
        }
      if (op.opcode == Opcode::For && reaches[inner.arguments[0]])
        std::for_each(op.operands.begin(), op.operands.begin() + 3, add);
    }
  }
}

std::vector<bool> values_that_reach_addresses(const ir::Function &function) {
  std::vector<bool> reaches(function.value_types.size());
  for (bool changed = true; changed;) { // until carried values bring nothing new
    changed = false;
    mark(function.body, function, reaches, changed);
  }
  return reaches;
}

void poison_where(Tensor &tensor, size_t count, const std::vector<bool> &where, uint32_t poison) {
  auto combined = tensor.poison ? std::make_shared<Poison>(*tensor.poison) : std::make_shared<Poison>(count);
  for (size_t i = 0; i < count; ++i)
    if (where[i] && ((*combined)[i] == 0 || (poison & division_bit) > ((*combined)[i] & division_bit)))
      (*combined)[i] = poison; // else the first cause stands
  tensor.poison = std::move(combined);
}

namespace {

/// Operations that move bits: undefined ones are as they were.
bool copies_bits(const Frame &frame, const ir::Op &op) {
  switch (op.opcode) {
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
  case Opcode::Not:
  case Opcode::Shl:
  case Opcode::Shr:
  case Opcode::Bitcast:
    return true;
  case Opcode::Cast: {
    const ir::Element from = frame.in_type(op, 0).element, to = frame.out_type(op).element;
    const bool integers = !ir::is_float(from) && !ir::is_float(to) && to != ir::Element::I1;
    return integers || (from == ir::Element::BF16 && to == ir::Element::F32);
  }
  default:
    return ir::facts(op.opcode).op_class == ir::OpClass::Shape;
  }
}

/// An element of an integer or i1 with all bits as `ones` says.
bool has_all_bits(const Frame &frame, const ir::Op &op, size_t operand, size_t i, bool ones) {
  return with_width(frame.in_type(op, operand), [&](auto zero) {
    using T = decltype(zero);
    const bool is_bit = frame.in_type(op, operand).element == ir::Element::I1;
    const T wanted = !ones ? T{} : is_bit ? T{1} : static_cast<T>(~T{});
    return frame.in(op, operand).as<T>()[i] == wanted;
  });
}

/// Whether the other operand alone decides an element: 0 and x, 1 or x.
bool is_decided(const Frame &frame, const ir::Op &op, size_t operand, size_t i) {
  if (op.opcode != Opcode::And && op.opcode != Opcode::Or)
    return false;
  const Tensor &other = frame.in(op, 1 - operand);
  const bool known = !other.poison || (*other.poison)[i] == 0;
  return known && has_all_bits(frame, op, 1 - operand, i, op.opcode == Opcode::Or);
}

/// What of a poison survives an operation.
uint32_t kept(const Frame &frame, const ir::Op &op, size_t operand, size_t i, uint32_t poison) {
  if (!is_undefined(poison))
    return keeps_overflow(op.opcode) || (poison & division_bit) != 0 ? poison : 0;
  if (is_decided(frame, op, operand, i))
    return 0;
  return copies_bits(frame, op) ? poison : poison | computed_bit;
}

/// The greatest poison of an operand among elements that are `group` apart from those of the result.
uint32_t any_of(const Poison &poison, size_t first, size_t count, size_t step = 1) {
  uint32_t found = 0;
  for (size_t i = 0; i < count; ++i)
    found = std::max(found, poison[first + i * step]);
  return is_undefined(found) ? found | computed_bit : found & division_bit ? found : 0;
}

void along_axis(const ir::Op &op, const ir::Shape &shape, const Poison &from, Poison &to) {
  const AxisView view = along(shape, static_cast<size_t>(op.integer("axis")));
  for (size_t o = 0; o < view.outer; ++o)
    for (size_t i = 0; i < view.inner; ++i) {
      const size_t first = o * view.size * view.inner + i;
      if (op.opcode != Opcode::CumSum)
        to[o * view.inner + i] = any_of(from, first, view.size, view.inner);
      for (size_t k = 0; op.opcode == Opcode::CumSum && k < view.size; ++k)
        to[first + k * view.inner] = any_of(from, first, k + 1, view.inner);
    }
}

/// A row of a and its scales reach a row of the result, a column of b and the scales of b a column.
void matrix(const Frame &frame, const ir::Op &op, size_t operand, Poison &to) {
  const ir::Shape &result = frame.out_type(op).shape;
  const size_t rows = static_cast<size_t>(result[0]), columns = static_cast<size_t>(result[1]);
  const ir::Shape &shape = frame.in_type(op, operand).shape;
  const Poison &from = *frame.in(op, operand).poison;
  // a's scales follow a unless a has none: then operand 1 is b.
  const bool a_is_scaled =
      op.opcode == Opcode::DotScaled && ir::facts(*ir::format_named(op.string("format_a"))).scaled;
  const bool of_a = operand == 0 || (operand == 1 && a_is_scaled);
  const size_t b_operand = a_is_scaled ? 2 : 1;
  const size_t length = static_cast<size_t>(shape[1]);
  const size_t height = static_cast<size_t>(shape[0]);
  for (size_t m = 0; m < rows; ++m)
    for (size_t n = 0; n < columns; ++n) {
      const uint32_t found = of_a                   ? any_of(from, m * length, length)
                             : operand == b_operand ? any_of(from, n, height, length)
                                                    : any_of(from, n * length, length);
      to[m * columns + n] = std::max(to[m * columns + n], found);
    }
}

} // namespace

void propagate(Frame &frame, const ir::Op &op) {
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Tensor &operand = frame.in(op, k);
    if (!operand.poison)
      continue;
    const Poison &from = *operand.poison;
    for (size_t r = 0; r < op.results.size(); ++r) {
      Tensor &result = frame.values[op.results[r]];
      const auto n = static_cast<size_t>(frame.out_type(op, r).count());
      auto combined = result.poison ? std::make_shared<Poison>(*result.poison) : std::make_shared<Poison>(n);
      if (ir::is_dot(op.opcode))
        matrix(frame, op, k, *combined);
      else if (op.has("axis"))
        along_axis(op, frame.in_type(op, k).shape, from, *combined);
      else if (op.opcode == Opcode::Quantize)
        for (size_t i = 0; i < n; ++i) // codes and scales of a group share its poison
          (*combined)[i] = any_of(from, i * from.size() / n / 32 * 32, 32);
      else
        for (size_t i = 0; i < n; ++i)
          (*combined)[i] = std::max((*combined)[i], from[i] == 0 ? 0 : kept(frame, op, k, i, from[i]));
      const bool clean = std::all_of(combined->begin(), combined->end(), [](uint32_t p) { return p == 0; });
      result.poison = clean ? nullptr : std::move(combined);
    }
  }
}

uint32_t undefined_poison(Frame &frame, const ir::Op &load, size_t element, uint64_t address) {
  // Where there are too many to tell apart the last one stands for the rest.
  constexpr size_t max_reads = size_t{1} << 20;
  std::vector<UndefinedRead> &reads = frame.undefined_reads;
  const UndefinedRead read{load.location, element, address, &frame.out_type(load)};
  if (reads.size() < max_reads)
    reads.push_back(read);
  else
    reads.back() = read;
  return undefined_bit | static_cast<uint32_t>(reads.size() - 1);
}

Error undefined_error(const Frame &frame, const ir::Op &op, uint32_t poison, std::string_view what) {
  const UndefinedRead &read = frame.undefined_reads[poison & (computed_bit - 1)];
  const SourceLine &line = frame.launch.function.locations[read.location];
  const std::string element = Frame::element(*read.type, read.element);
  return frame.error(op,
                     fmt::format("memory that nothing has written {}: {}{} bytes at {:#x}{}{}", what,
                                 element.empty() ? "" : element + ", ", ir::byte_size(read.type->element),
                                 read.address, line.known() ? ", loaded at " + line.text() : "",
                                 argument_near(read.address, frame.launch.function, frame.launch.arguments)),
                     "Write the buffer before it is read, or mask the elements that do not exist");
}

Status observe(const Frame &frame, const ir::Op &op, size_t operand, std::string_view what, Use use,
               const uint8_t *mask) {
  const Tensor &tensor = frame.in(op, operand);
  if (!tensor.poison)
    return {};
  for (size_t i = 0; i < tensor.poison->size(); ++i) {
    const uint32_t poison = (*tensor.poison)[i];
    const bool divided = (poison & division_bit) != 0;
    if (poison == 0 || (mask != nullptr && mask[i] == 0))
      continue;
    if (is_undefined(poison)) {
      if (use != Use::Stored || (poison & computed_bit) != 0)
        return undefined_error(frame, op, poison, what);
      continue;
    }
    if (!divided && use != Use::Address)
      continue;
    const SourceLine &location = frame.launch.function.locations[(poison & ~division_bit) - 1];
    const std::string element = Frame::element(frame.in_type(op, operand), i);
    return frame.error(op,
                       fmt::format("{}{} {}{}{}", divided ? "a division by zero" : "an i32 overflow",
                                   location.known() ? " at " + location.text() : "", what,
                                   element.empty() ? "" : " in ", element),
                       divided ? "Guard the divisor, or mask the elements whose divisor is 0"
                               : "Compute the offset in i64");
  }
  return {};
}

} // namespace nereid::interpreter
