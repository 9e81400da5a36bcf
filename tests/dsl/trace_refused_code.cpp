// Compiled by tests, not linked: with no macro it is right, with one of them it must be refused with a
// message that says what to write instead.
#include "dsl/dsl.h"

using namespace nereid;

void kernel(Ptr<const f32> in, Ptr<f32> out, Int n) {
  Tile<i32> i = arange(0, 64);
  Tile<f32> x = load(in + i);
#if defined(REFUSE_IF)
  if (i < n)
    store(out, 1.0f);
#elif defined(REFUSE_IF_VAR)
  Var flag = n > 3;
  if (flag)
    store(out, 1.0f);
#elif defined(REFUSE_CONDITIONAL)
  store(out, n > 3 ? 1.0f : 2.0f);
#elif defined(REFUSE_NOT_OF_INTEGERS)
  store(out + i, x, !i == 0);
#elif defined(REFUSE_AND)
  store(out + i, x, i < n && i > 3);
#elif defined(REFUSE_ASSIGNMENT)
  x = x + 1;
#elif defined(REFUSE_POINTER_ASSIGNMENT)
  out = out + n;
#elif defined(REFUSE_UPDATE)
  x += 1;
#elif defined(REFUSE_INCREMENT)
  i++;
#elif defined(REFUSE_POINTER_UPDATE)
  out += i;
#elif defined(REFUSE_READ_ONLY)
  store(in + i, x);
#elif defined(REFUSE_MIXED_ELEMENTS)
  store(out + i, x + i);
#elif defined(REFUSE_STORED_ELEMENT)
  store(out + i, i);
#elif defined(REFUSE_STORED_NUMBER)
  store(as_pointer<i32>(n.to<i64>()), 1.5f);
#elif defined(REFUSE_STORED_WITH_MASK)
  Var rounded = x.to<bf16>();
  store(out + i, rounded, i < n);
#elif defined(REFUSE_LOADED_OTHER)
  x = load(in + i, i < n, i);
#elif defined(REFUSE_ADDED_ELEMENT)
  atomic_add(out + i, i);
#elif defined(REFUSE_EXCHANGED_ELEMENT)
  atomic_compare_exchange(as_pointer<i32>(n.to<i64>()), 1, n.to<u32>());
#elif defined(REFUSE_INT_AND_UNSIGNED)
  store(out + (n * n.to<u32>()), 1.0f);
#elif defined(REFUSE_FLOAT_NUMBER)
  store(out + i * 1.5f, x);
#elif defined(REFUSE_MIXED_WHERE)
  store(out + i, where(i < n, x, i));
#elif defined(REFUSE_UNSIGNED_OFFSET)
  store(out + i.to<u32>(), x);
#elif defined(REFUSE_SMALL_FLOAT_ARITHMETIC)
  store(out + i, (x.to<fp8>() + x.to<fp8>()).to<f32>());
#elif defined(REFUSE_SMALL_FLOAT_OF_ANOTHER_FORMAT)
  store(out + i, dot(zeros<fp8>({16, 32}), zeros<f16>({32, 16})));
#elif defined(REFUSE_FUNCTION_OF_F64)
  store(out + i, exp(x.to<f64>()).to<f32>());
#elif defined(REFUSE_POWER_OF_F64)
  store(out + i, pow(x.to<f64>(), 2).to<f32>());
#elif defined(REFUSE_FAST_FORM_OF_F64)
  store(out + i, fast::div(1, x.to<f64>()).to<f32>());
#elif defined(REFUSE_DOT_OF_F64)
  store(out + i, dot(zeros<f64>({16, 32}), zeros<f64>({32, 16})));
#elif defined(REFUSE_QUANTIZED_F64)
  quantize(zeros<f64>({16, 32}), e2m1);
#elif defined(REFUSE_F64_AND_F32)
  store(out + i, x * x.to<f64>());
#elif defined(REFUSE_NARROW_ADDRESS)
  store(as_pointer<f32>(n) + i, x);
#elif defined(REFUSE_CDIV_BY_ZERO)
  constexpr int blocks = cdiv(64, 0);
  store(out + i, x, i < blocks);
#elif defined(REFUSE_VIEW_READ_ONLY)
  View2D(in, {n, n}).store({0, 0}, zeros<f32>({4, 4}));
#elif defined(REFUSE_VIEW_ELEMENT)
  View2D(out, {n, n}).store({0, 0}, zeros<f16>({4, 4}));
#elif defined(REFUSE_VIEW_TILE_SIZE)
  (void)View2D(in, {n, n}).load({0, 0}, {n, 4});
#elif defined(REFUSE_VIEW_LONG)
  (void)View2D(in, {Long(n), n});
#elif defined(REFUSE_RIGHT_OPERAND)
  const MxTile y = quantize(zeros<f32>({64, 64}), e2m1);
  (void)dot_scaled(y, y);
#endif
  store(out + i, x, i < n);
}
