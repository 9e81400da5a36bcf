// Which layouts transposing LDS reads can fill.
#include "codegen/assign/transposed_read.h"

#include <bit>

#include "codegen/assign/memory_layout.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

constexpr unsigned lane_bits = 4; ///< of the lanes that exchange elements

bool lies_in_a_column(const LinearLayout &layout, unsigned register_bit) {
  return layout.basis(Space::Register, register_bit)[1] == 0 &&
         layout.flat_basis(Space::Register, register_bit) != 0;
}

} // namespace

std::optional<TransposedRead> transposed_read(const LinearLayout &layout, unsigned element_bytes) {
  if (layout.rank() != 2 || element_bytes > 2)
    return std::nullopt;
  const auto log2 = [&](unsigned bytes) {
    return static_cast<unsigned>(std::bit_width(bytes / element_bytes)) - 1;
  };
  const unsigned elements = log2(TransposedRead::bytes), whole = log2(gfx950::lds_copy_bytes);
  if (layout.bits(Space::Register) < whole || layout.dim(1).bits < lane_bits)
    return std::nullopt;
  for (unsigned bit = 0; bit < whole; ++bit)
    if (!lies_in_a_column(layout, bit))
      return std::nullopt;
  for (unsigned bit = 0; bit < lane_bits; ++bit)
    if (layout.flat_basis(Space::Lane, bit) != uint64_t(1) << bit)
      return std::nullopt;
  Bases bases = layout.bases();
  std::vector<uint64_t> &registers = bases[0], &lanes = bases[1];
  for (unsigned bit = 0; bit < elements; ++bit) {
    lanes[lane_bits - elements + bit] = registers[bit];
    registers[bit] = uint64_t(1) << bit;
  }
  for (unsigned bit = 0; bit < lane_bits - elements; ++bit)
    lanes[bit] = uint64_t(1) << (elements + bit);
  return TransposedRead{LinearLayout::from_flat_bases(layout.shape(), bases, layout.repeats()), elements};
}

bool wants_transposed_reads(const ir::Function &function, const AxisAnalysis &axes, const ir::Op &load,
                            const LinearLayout &layout) {
  const ir::Type &type = function.type(load.result());
  const unsigned bytes = ir::byte_size(type.element);
  const AxisInfo &pointer = axes[load.operands[0]];
  const AxisInfo *mask = load.operands.size() > 1 ? &axes[load.operands[1]] : nullptr;
  const auto access_bytes = [&](const LinearLayout &of) {
    return vector_access(of, pointer, mask, bytes).elements() * bytes;
  };
  return transposed_read(layout, bytes) && access_bytes(layout) < gfx950::access_alignment &&
         access_bytes(coalesced_layout(type.shape, pointer, mask, bytes, function.options.waves)) ==
             gfx950::lds_copy_bytes;
}

} // namespace nereid::codegen
