// Registers of two waves, through LDS.
#include "codegen/lower/wave_pairs.h"

#include "codegen/assign/memory_layout.h"

namespace nereid::codegen {

std::array<Registers, 2> both_waves(const EmitContext &context, ExchangeEmitter &exchange,
                                    const Registers &values, unsigned bit) {
  // Positions as a tile of their own: registers, lanes and waves are its dimensions.
  const LinearLayout threads = scalar_layout(context.function().options.waves);
  std::array<std::vector<uint64_t>, 3> from;
  unsigned at = 0;
  for (unsigned i = 0; i < threads.bits(Space::Wave); ++i)
    from[2].push_back(uint64_t(1) << at++);
  for (unsigned i = 0; i < threads.bits(Space::Lane); ++i)
    from[1].push_back(uint64_t(1) << at++);
  const Dimension registers = Dimension::of(static_cast<int64_t>(values.size()));
  for (unsigned i = 0; i < registers.bits; ++i)
    from[0].push_back(uint64_t(1) << at++);
  std::array<std::vector<uint64_t>, 3> to = from;
  to[0].insert(to[0].begin(), to[2][bit]);
  to[2][bit] = 0;
  const ir::Shape shape = {int64_t(registers.odd) << at};
  std::vector<Repeat> repeats;
  if (registers.odd > 1)
    repeats.push_back({Space::Register, registers.odd, 0});
  const Registers moved = exchange.convert(values, LinearLayout::from_flat_bases(shape, from, repeats),
                                           LinearLayout::from_flat_bases(shape, to, repeats));
  std::array<Registers, 2> result;
  for (size_t i = 0; i < moved.size(); ++i)
    result[i % 2].push_back(moved[i]);
  return result;
}

} // namespace nereid::codegen
