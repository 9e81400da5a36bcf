#pragma once

#include "dsl/ops/common.h"

/// The hardware's approximations, for where their errors do not matter. An ulp is the unit in the last place
/// of an f32; a bf16 or f16 is computed as f32 and rounded. f32 denormals among operands count as 0 of their
/// sign, and results that would be denormal may be 0. A kernel whose config has `fast_math = 1` uses these
/// forms wherever it says exp, exp2, log, tanh or `/` of floats but f64. The interpreter computes the exact
/// functions.
namespace nereid::fast {

/// fast::function(x): the operation with the attribute `fast`, of x's shape and element type.
#define NEREID_FAST(function, opcode)                                                                        \
  template <detail::FloatTile X>                                                                             \
  Tile<detail::ElementOf<X>> function(const X &x, detail::Where where = detail::Where::current()) {          \
    ir::Builder &builder = detail::at(where);                                                                \
    return detail::make<detail::ElementOf<X>>(                                                               \
        builder.as_fast(builder.unary(ir::Opcode::opcode, detail::id_of(x))));                               \
  }                                                                                                          \
  template <detail::DoubleTile X> detail::No_function_of_f64_convert_with_to_f32 function(const X &) = delete;
/// v_exp_f32 of x log2(e): within 2 + 1.25 |x| ulp, 2 instructions.
NEREID_FAST(exp, Exp)
/// v_exp_f32: within 1 ulp, 1 instruction.
NEREID_FAST(exp2, Exp2)
/// ln(2) v_log_f32: within 4 ulp, 2 instructions.
NEREID_FAST(log, Log)
/// 1 - 2 / (e^2x + 1): within 2^-21 of the value, however small that is; 5 instructions.
NEREID_FAST(tanh, Tanh)
#undef NEREID_FAST

/// a v_rcp_f32(b): within 3 ulp where |b| is 2^-126 to 2^126; from there on the reciprocal, a denormal, may
/// be 0. 2 instructions.
template <class A, class B>
  requires detail::OneElement<A, B> && FloatElement<detail::CommonElement<A, B>>
Tile<detail::CommonElement<A, B>> div(const A &a, const B &b,
                                      detail::Where where = detail::Where::current()) {
  using T = detail::CommonElement<A, B>;
  const detail::Operand<T> x(a, where), y(b, where);
  ir::Builder &builder = detail::at(where);
  return detail::make<T>(builder.as_fast(builder.binary(ir::Opcode::Div, x.id(), y.id())));
}
template <class A, class B>
  requires detail::DoubleTile<A> || detail::DoubleTile<B>
detail::No_function_of_f64_convert_with_to_f32 div(const A &, const B &) = delete;
/// v_rcp_f32: within 1 ulp, 1 instruction; 1 / x otherwise as div.
template <detail::FloatTile X>
Tile<detail::ElementOf<X>> rcp(const X &x, detail::Where where = detail::Where::current()) {
  return div(1.0f, x, where);
}
template <detail::DoubleTile X> detail::No_function_of_f64_convert_with_to_f32 rcp(const X &) = delete;

} // namespace nereid::fast
