// Elements at an index along one axis, by way of LDS.
#include "codegen/lower/gather.h"

#include "codegen/lower/branches.h"
#include "codegen/lower/lane_moves.h"
#include "codegen/lower/thread_position.h"
#include "codegen/lower/value_layout.h"

namespace nereid::codegen {

Registers GatherEmitter::places(const LinearLayout &layout, const ir::Shape &shape,
                                std::optional<unsigned> axis, const Registers &index) {
  Registers result(layout.registers(), builder_.getInt32(0));
  int64_t stride = 1;
  for (unsigned d = layout.rank(); d-- > 0;) {
    llvm::Value *thread = d == axis ? nullptr : thread_coordinate(context_, layout, d);
    for (uint32_t r = 0; r < layout.registers(); ++r) {
      llvm::Value *coordinate = nullptr;
      if (d == axis) {
        llvm::Value *last = builder_.getInt32(static_cast<uint32_t>(shape[d] - 1));
        coordinate = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index[r], last);
      } else {
        coordinate = coordinate_of_register(builder_, layout, d, thread, r);
      }
      llvm::Value *scaled = builder_.CreateMul(coordinate, builder_.getInt32(static_cast<uint32_t>(stride)));
      result[r] = builder_.CreateAdd(result[r], scaled);
    }
    stride *= shape[d];
  }
  return result;
}

void GatherEmitter::emit(const ir::Op &op) {
  const ir::Type &from = context_.type(op.operands[0]);
  const LinearLayout layout = assigned_layout(context_.plan, op.result());
  const LinearLayout source = values_.available_layout(op.operands[0]);
  const Registers index = values_.get(op.operands[1], layout);
  const Registers elements = values_.get(op.operands[0], source);
  llvm::Type *type = elements[0]->getType();
  const unsigned bytes = ir::byte_size(from.element);
  llvm::Type *in_memory = builder_.getIntNTy(8 * bytes);
  llvm::Value *base = lds_.scratch(static_cast<unsigned>(from.count()) * bytes);
  const auto address = [&](llvm::Value *place) { return builder_.CreateGEP(in_memory, base, place); };

  order_.barrier(); // the scratch array is free
  const Registers to = places(source, from.shape, std::nullopt, {});
  guarded(context_, owner_condition(context_, source), {}, [&] {
    for (size_t r = 0; r < elements.size(); ++r) {
      llvm::Value *bits = builder_.CreateZExtOrTrunc(to_bits(builder_, elements[r]), in_memory);
      builder_.CreateAlignedStore(bits, address(to[r]), llvm::Align(bytes));
    }
    return Registers();
  });
  order_.barrier();
  Registers result;
  const unsigned axis = static_cast<unsigned>(op.integer("axis"));
  for (llvm::Value *place : places(layout, from.shape, axis, index)) {
    llvm::Value *bits = builder_.CreateAlignedLoad(in_memory, address(place), llvm::Align(bytes));
    const unsigned width = type->isIntegerTy(1) ? 1 : 8 * bytes;
    result.push_back(from_bits(builder_, builder_.CreateTrunc(bits, builder_.getIntNTy(width)), type));
  }
  values_.define(op.result(), layout, result);
}

} // namespace nereid::codegen
