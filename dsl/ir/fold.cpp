// Integer arithmetic of the language on bit patterns, for operations whose operands are known while tracing.
#include "dsl/ir/fold.h"

namespace nereid::ir {

static uint64_t low_bits(unsigned count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

int64_t integer_value(Element element, uint64_t bits) {
  unsigned width = facts(element).bits;
  uint64_t mask = low_bits(width);
  bits &= mask;
  if (is_signed(element) && (bits >> (width - 1)) != 0)
    bits |= ~mask;
  return static_cast<int64_t>(bits);
}

uint64_t integer_bits(Element element, int64_t value) {
  return static_cast<uint64_t>(value) & low_bits(facts(element).bits);
}

static std::optional<uint64_t> divide(Opcode opcode, Element element, uint64_t a, uint64_t b) {
  int64_t x = integer_value(element, a), y = integer_value(element, b);
  if (y == 0)
    return std::nullopt;
  const bool remainder = opcode == Opcode::Rem, up = opcode == Opcode::CeilDiv;
  if (element == Element::U64)
    return remainder ? a % b : a / b + (up && a % b != 0);
  // The one quotient that overflows wraps.
  if (y == -1)
    return remainder ? 0 : integer_bits(element, static_cast<int64_t>(0 - static_cast<uint64_t>(x)));
  const bool rounds_up = up && x % y != 0 && (x < 0) == (y < 0);
  return integer_bits(element, remainder ? x % y : x / y + rounds_up);
}

static std::optional<uint64_t> shift(Opcode opcode, Element element, uint64_t a, uint64_t b) {
  uint64_t width = facts(element).bits;
  bool out = b >= width;
  if (opcode == Opcode::Shl)
    return out ? 0 : integer_bits(element, static_cast<int64_t>(a << b));
  if (is_signed(element))
    return integer_bits(element, integer_value(element, a) >> (out ? width - 1 : b));
  return out ? 0 : a >> b;
}

std::optional<uint64_t> fold_integers(Opcode opcode, Element element, uint64_t a, uint64_t b) {
  if (!is_integer(element))
    return std::nullopt;
  int64_t x = integer_value(element, a), y = integer_value(element, b);
  bool less = element == Element::U64 ? a < b : x < y;
  auto wrapped = [&](uint64_t value) { return integer_bits(element, static_cast<int64_t>(value)); };
  switch (opcode) {
  case Opcode::Add:
    return wrapped(a + b);
  case Opcode::Sub:
    return wrapped(a - b);
  case Opcode::Mul:
    return wrapped(a * b);
  case Opcode::Div:
  case Opcode::Rem:
  case Opcode::CeilDiv:
    return divide(opcode, element, a, b);
  case Opcode::Min:
    return less ? a : b;
  case Opcode::Max:
    return less ? b : a;
  case Opcode::And:
    return a & b;
  case Opcode::Or:
    return a | b;
  case Opcode::Xor:
    return a ^ b;
  case Opcode::Shl:
  case Opcode::Shr:
    return shift(opcode, element, a, b);
  case Opcode::Eq:
    return a == b;
  case Opcode::Ne:
    return a != b;
  case Opcode::Lt:
    return less;
  case Opcode::Ge:
    return !less;
  case Opcode::Le:
    return less || a == b;
  case Opcode::Gt:
    return !less && a != b;
  default:
    return std::nullopt;
  }
}

bool is_identity(Opcode opcode, Element element, uint64_t constant, bool left) {
  if (!is_integer(element))
    return false;
  switch (opcode) {
  case Opcode::Add:
  case Opcode::Or:
  case Opcode::Xor:
    return constant == 0;
  case Opcode::And:
    return constant == integer_bits(element, -1);
  case Opcode::Mul:
    return constant == 1;
  case Opcode::Sub:
  case Opcode::Shl:
  case Opcode::Shr:
    return !left && constant == 0;
  case Opcode::Div:
  case Opcode::CeilDiv:
    return !left && constant == 1;
  default:
    return false;
  }
}

} // namespace nereid::ir
