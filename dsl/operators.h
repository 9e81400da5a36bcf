#pragma once

#include "dsl/operand.h"

namespace nereid::detail {

template <class> inline constexpr bool never = false;

template <ElementType T> Tile<T> make(ir::ValueId id);
template <ElementType T> Tile<T> unary(ir::Opcode opcode, const Operand<T> &a);
template <ElementType T> Tile<T> binary(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b);
template <ElementType T> Tile<i1> compare(ir::Opcode opcode, const Operand<T> &a, const Operand<T> &b);
Tile<i1> negation(const Tile<i1> &a);

/// What a comparison gives, named by T because Tile is not complete here.
template <ElementType T> struct ComparisonOf {
  using type = Tile<i1>;
};

/// The operators of tiles of T. A base of Tile and of Var, so that an expression of either finds them: each
/// operand converts to an Operand, which knows the location of the expression.
template <ElementType T> class Operators {
public:
  template <class B>
    requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(never<B>,
                  "a tile has no truth value while the kernel is traced: instead of if, use when(condition, "
                  "[&]{ ... }) for a uniform condition or where(condition, a, b) per element; instead of "
                  "&& and || use & and |");
    return false;
  }

  using Arg = const Operand<T> &;
  using Truth = typename ComparisonOf<T>::type;
#define NEREID_OPERATOR(symbol, allowed, opcode)                                                             \
  friend Tile<T> operator symbol(Arg a, Arg b)                                                               \
    requires allowed<T>                                                                                      \
  {                                                                                                          \
    return binary<T>(ir::Opcode::opcode, a, b);                                                              \
  }
  NEREID_OPERATOR(+, NumericElement, Add)
  NEREID_OPERATOR(-, NumericElement, Sub)
  NEREID_OPERATOR(*, NumericElement, Mul)
  NEREID_OPERATOR(/, NumericElement, Div)
  NEREID_OPERATOR(%, IntegerElement, Rem)
  NEREID_OPERATOR(&, BitElement, And)
  NEREID_OPERATOR(|, BitElement, Or)
  NEREID_OPERATOR(^, BitElement, Xor)
  NEREID_OPERATOR(<<, IntegerElement, Shl)
  NEREID_OPERATOR(>>, IntegerElement, Shr)
#undef NEREID_OPERATOR
#define NEREID_COMPARISON(symbol, allowed, opcode)                                                           \
  friend Truth operator symbol(Arg a, Arg b)                                                                 \
    requires allowed<T>                                                                                      \
  {                                                                                                          \
    return compare<T>(ir::Opcode::opcode, a, b);                                                             \
  }
  NEREID_COMPARISON(==, ComparableElement, Eq)
  NEREID_COMPARISON(!=, ComparableElement, Ne)
  NEREID_COMPARISON(<, NumericElement, Lt)
  NEREID_COMPARISON(<=, NumericElement, Le)
  NEREID_COMPARISON(>, NumericElement, Gt)
  NEREID_COMPARISON(>=, NumericElement, Ge)
#undef NEREID_COMPARISON
  friend Tile<T> operator-(Arg a)
    requires NumericElement<T>
  {
    return unary<T>(ir::Opcode::Neg, a);
  }
  friend Tile<T> operator+(Arg a)
    requires NumericElement<T>
  {
    return make<T>(a.id());
  }
  friend Tile<T> operator~(Arg a)
    requires BitElement<T>
  {
    return unary<T>(ir::Opcode::Not, a);
  }
  // Not by Operand: that would be as good a conversion as the one to bool above.
  friend Tile<T> operator!(const Tile<T> &a)
    requires std::same_as<T, i1>
  {
    return negation(a);
  }
  friend Tile<T> operator!(const Var<Tile<T>> &a)
    requires std::same_as<T, i1>
  {
    return negation(a.get());
  }
};

} // namespace nereid::detail
