#include <algorithm>

#include "codegen/lower/lowering.h"

/// Formats of 6 bits. A group of 32 values is 24 bytes in a row, which no layout gives to a lane: the odd
/// factor of a dimension is its outermost part. So codes pass through LDS in row-major order.
namespace nereid::codegen {

static constexpr unsigned group_bytes = 24;
static constexpr unsigned group_dwords = 6;

Registers Lowering::coordinates(const LinearLayout &layout, unsigned dim) {
  llvm::Value *thread = thread_coordinate(context_, layout, dim);
  Registers result;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    result.push_back(coordinate_of_register(builder_, layout, dim, thread, r));
  return result;
}

/// Where each register's byte stands in a row-major array of the layout's tile, whose dimension `inner` is
/// the fastest.
Registers Lowering::places_in_array(const LinearLayout &layout, unsigned inner) {
  const ir::Shape shape = layout.shape();
  Registers places = coordinates(layout, inner);
  int64_t stride = shape[inner];
  for (unsigned d = layout.rank(); d-- > 0;) {
    if (d == inner)
      continue;
    Registers along = coordinates(layout, d);
    for (size_t r = 0; r < places.size(); ++r)
      places[r] = builder_.CreateAdd(places[r], builder_.CreateMul(along[r], builder_.getInt32(stride)));
    stride *= shape[d];
  }
  return places;
}

llvm::Value *Lowering::byte_address(llvm::Value *base, llvm::Value *place) {
  return builder_.CreateGEP(builder_.getInt8Ty(), base, place);
}

/// Registers that one access of bytes may take: as many as walk along `dim`, at most a dword.
static unsigned bytes_of_access(const LinearLayout &layout, unsigned dim) {
  return 1u << std::min(layout.contiguous_registers(dim), 2u);
}

/// The codes of a product's side in LDS, K fastest.
llvm::Value *Lowering::codes_in_lds(ir::ValueId value, unsigned k_dim) {
  const LinearLayout layout = values_.available_layout(value);
  const Registers bytes = values_.get(value, layout);
  const Registers places = places_in_array(layout, k_dim);
  const unsigned run = bytes_of_access(layout, k_dim);
  llvm::Value *base = lds_.scratch(static_cast<unsigned>(context_.type(value).count()));
  order_.barrier();
  guarded(owner_condition(context_, layout), {}, [&] {
    for (size_t r = 0; r < bytes.size(); r += run) {
      llvm::Value *packed = packing_.pack(Registers(bytes.begin() + r, bytes.begin() + r + run), 8)[0];
      builder_.CreateAlignedStore(builder_.CreateTrunc(packed, builder_.getIntNTy(8 * run)),
                                  byte_address(base, places[r]), llvm::Align(run));
    }
    return Registers();
  });
  order_.barrier();
  return base;
}

/// An operand of each instruction: tile * k_instructions + k, as the scales are numbered.
std::vector<llvm::Value *> Lowering::six_bit_operands(const DotSide &side, const DotOperandPlan &plan,
                                                      unsigned k_dim) {
  llvm::Value *base = codes_in_lds(side.value, k_dim);
  llvm::Value *pitch = builder_.getInt32(context_.type(side.value).shape[k_dim]);
  llvm::Value *inside = plan.padded_lanes ? are_clear(builder_, context_.lane, plan.padded_lanes) : nullptr;
  const Registers row = coordinates(plan.scale_layout, 0), group = coordinates(plan.scale_layout, 1);
  auto *vector = llvm::FixedVectorType::get(builder_.getInt32Ty(), group_dwords);
  std::vector<llvm::Value *> operands;
  for (size_t r = 0; r < row.size(); ++r) {
    llvm::Value *place = builder_.CreateAdd(builder_.CreateMul(row[r], pitch),
                                            builder_.CreateMul(group[r], builder_.getInt32(group_bytes)));
    llvm::Value *codes = builder_.CreateAlignedLoad(vector, byte_address(base, place), llvm::Align(8));
    operands.push_back(inside ? builder_.CreateSelect(inside, codes, llvm::Constant::getNullValue(vector))
                              : codes);
  }
  return operands;
}

/// Groups of codes, six dwords each, as the registers of `groups` (a layout of the scales), become the tile
/// of bytes in `layout`.
Registers Lowering::spread_groups(const std::vector<Registers> &codes, const LinearLayout &groups,
                                  const LinearLayout &layout) {
  int64_t count = 1;
  for (int64_t size : layout.shape())
    count *= size;
  llvm::Value *base = lds_.scratch(static_cast<unsigned>(count));
  const Registers numbers = places_in_array(groups, groups.rank() - 1);
  order_.barrier();
  guarded(owner_condition(context_, groups), {}, [&] {
    for (uint32_t r = 0; r < codes.size(); ++r) {
      llvm::Value *place = builder_.CreateMul(numbers[r], builder_.getInt32(group_bytes));
      builder_.CreateAlignedStore(dwords_to_vector(builder_, codes[r]), byte_address(base, place),
                                  llvm::Align(8));
    }
    return Registers();
  });
  order_.barrier();
  const unsigned inner = layout.rank() - 1, run = bytes_of_access(layout, inner);
  const Registers places = places_in_array(layout, inner);
  Registers bytes;
  for (size_t r = 0; r < places.size(); r += run) {
    llvm::Value *packed = builder_.CreateAlignedLoad(builder_.getIntNTy(8 * run),
                                                     byte_address(base, places[r]), llvm::Align(run));
    Registers some = packing_.unpack(packed, builder_.getInt8Ty(), run);
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  return bytes;
}

} // namespace nereid::codegen
