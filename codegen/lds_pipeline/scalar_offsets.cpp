// How far the loads of an LDS pipeline have moved, in scalar registers.
#include "codegen/lds_pipeline/scalar_offsets.h"

#include <algorithm>

namespace nereid::codegen {

void ScalarOffsets::add_load(int64_t change, unsigned distance) {
  const auto same = std::find_if(offsets_.begin(), offsets_.end(), [&](const Offset &offset) {
    return offset.change == change && offset.distance == distance;
  });
  of_load_.push_back(static_cast<size_t>(same - offsets_.begin()));
  if (same == offsets_.end())
    offsets_.push_back({change, distance, nullptr, nullptr});
}

void ScalarOffsets::begin(llvm::Value *last_iteration) {
  for (Offset &offset : offsets_)
    offset.last = builder_.CreateMul(last_iteration, constant(offset.change));
}

llvm::Value *ScalarOffsets::at_stage(size_t load, unsigned stage) {
  const Offset &offset = offsets_[of_load_[load]];
  llvm::Value *at = constant(stage * offset.change);
  return stage == 0 ? at : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, offset.last);
}

void ScalarOffsets::start_loop() {
  for (Offset &offset : offsets_)
    offset.current = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                    constant(offset.distance * offset.change), offset.last);
}

void ScalarOffsets::advance() {
  for (Offset &offset : offsets_)
    if (offset.change != 0)
      offset.current = builder_.CreateBinaryIntrinsic(
          llvm::Intrinsic::umin, builder_.CreateAdd(offset.current, constant(offset.change)), offset.last);
}

std::vector<llvm::Value **> ScalarOffsets::changing() {
  std::vector<llvm::Value **> result;
  for (Offset &offset : offsets_)
    if (offset.change != 0)
      result.push_back(&offset.current);
  return result;
}

} // namespace nereid::codegen
