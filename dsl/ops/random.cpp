// Philox4x32-10 of existing operations.
#include "dsl/ops/random.h"

namespace nereid::detail {

using ir::Element;
using ir::Opcode;
using ir::ValueId;

std::array<ValueId, 4> philox(ir::Builder &builder, ValueId seed, ValueId offset) {
  const auto word = [&](uint32_t value) { return builder.constant(ir::Type::scalar(Element::U32), value); };
  const auto lower = [&](ValueId x) { return builder.cast(x, Element::U32); };
  const auto upper = [&](ValueId x) {
    const ValueId whole = builder.cast(x, Element::U64);
    const ValueId half = builder.constant(ir::Type::scalar(Element::U64), 32);
    return builder.cast(builder.binary(Opcode::Shr, whole, half), Element::U32);
  };
  // Multipliers and increments of the key are the paper's.
  const ValueId by_first = word(0xD2511F53), by_third = word(0xCD9E8D57);
  ValueId key[] = {lower(seed), upper(seed)};
  const bool is_wide = ir::facts(builder.type(offset).element).bits == 64;
  ValueId zero = builder.constant(ir::Type::tile(Element::U32, builder.type(offset).shape), 0);
  std::array<ValueId, 4> c{lower(offset), is_wide ? upper(offset) : zero, zero, zero};
  for (int round = 0; round < 10; ++round) {
    const auto mixed = [&](ValueId multiplier, ValueId x, ValueId y, ValueId k) {
      const ValueId high = builder.binary(Opcode::MulHi, x, multiplier);
      return builder.binary(Opcode::Xor, builder.binary(Opcode::Xor, high, y), k);
    };
    c = {mixed(by_third, c[2], c[1], key[0]), builder.binary(Opcode::Mul, c[2], by_third),
         mixed(by_first, c[0], c[3], key[1]), builder.binary(Opcode::Mul, c[0], by_first)};
    key[0] = builder.binary(Opcode::Add, key[0], word(0x9E3779B9));
    key[1] = builder.binary(Opcode::Add, key[1], word(0xBB67AE85));
  }
  return c;
}

Tile<f32> uniform(const Tile<u32> &word, Where where) {
  const Tile<i32> x = bitcast<i32>(word, where);
  const Tile<i32> positive = nereid::where(x < 0, ~x, x, where);
  return positive.to<f32>(where) * 4.6566127342e-10F; // the largest product is below 1
}

} // namespace nereid::detail
