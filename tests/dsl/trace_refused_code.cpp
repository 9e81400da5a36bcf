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
#elif defined(REFUSE_AND)
  store(out + i, x, i < n && i > 3);
#elif defined(REFUSE_ASSIGNMENT)
  x = x + 1;
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
#endif
  store(out + i, x, i < n);
}
