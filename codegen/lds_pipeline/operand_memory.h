#pragma once

#include <map>
#include <vector>

#include "codegen/lds_pipeline/parts.h"
#include "codegen/schedule/lds_pipeline_contract.h"

namespace nereid::codegen {

/// Where the loads, async copies and LDS reads of a pipeline find their elements: a descriptor from the
/// uniform part of an address, an offset for each lane and access that does not change, buffers in LDS with
/// alias scopes of their own.
class OperandMemory {
public:
  /// Whose loads they are. Of a pipeline: buffers of its own, scalar offsets in steps of the load. Of LDS
  /// prefetch: buffers that the kernel's loops share, one after the other, scalar offsets in iterations.
  enum class Kind : uint8_t { Pipeline, Prefetch };

  OperandMemory(Lowering &lowering, const std::vector<PipelinedLoad> &loads, unsigned buffers, Kind kind);

  /// Emits the addresses; the loop's scalars stand at its first iteration.
  void emit_addresses();
  /// A load straight to registers, in the descriptor `scalar_offset` bytes further.
  llvm::Value *load(LoadGroup group, llvm::Value *scalar_offset);
  /// 16 bytes of a lane from LDS: one read, or two that transpose.
  llvm::Value *read(LoadGroup group, unsigned buffer);
  /// Async copy `number` of a load.
  void copy(size_t load, size_t number, unsigned buffer, llvm::Value *scalar_offset);
  /// From here on masks are those of the iteration whose scalars the loop's stand at.
  void apply_iteration_masks(size_t load);
  /// From here on a base that moves with a scalar of the loop is where those scalars stand.
  void apply_iteration_base(size_t load);
  /// Which part of the code is being emitted.
  void set_tag(CodeTag tag) { tag_ = tag; }

private:
  struct State {
    llvm::Value *base = nullptr, *descriptor = nullptr;
    llvm::Value *records = nullptr;   ///< bytes of the tile, where its mask is a bound of its rows
    llvm::Value *change = nullptr;    ///< bytes an iteration, as i64, where they are not in the scalar offset
    llvm::Value *from_base = nullptr; ///< bytes from a base that moves to `base`
    LlvmValues offsets;               ///< by group or copy; beyond the descriptor where a fixed mask is off
    LlvmValues open_offsets;          ///< the same without masks
    std::vector<llvm::Constant *> buffers;
    unsigned stride = 0; ///< bytes from one buffer to the next, where they are one array
    std::vector<llvm::MDNode *> scopes, other_scopes;
    llvm::Value *wave_target = nullptr;           ///< in a buffer, of the wave's first copy
    std::map<uint32_t, llvm::Value *> read_bases; ///< by what a group adds by xor
    /// The same as pointers into the array, by how often the immediate offset of a read spans what lies
    /// before.
    std::map<std::pair<uint32_t, uint32_t>, llvm::Value *> far_bases;
    /// By group, then by its reads: xor part, added part.
    std::vector<std::pair<uint32_t, uint32_t>> reads;
  };

  const LinearLayout &leaders(size_t load) const;
  void emit_offsets(size_t load);
  LlvmValues offsets_of(const std::vector<Address> &parts, llvm::Value *&base);
  LlvmValues masked(const LlvmValues &offsets, const std::vector<ir::ValueId> &masks,
                    const LinearLayout &leaders);
  llvm::Value *descriptor(llvm::Value *base, llvm::Value *records = nullptr);
  llvm::Value *records_of(const RowBound &bound);
  /// Descriptor and scalar offset, so many steps of the load's offset further.
  std::pair<llvm::Value *, llvm::Value *> moved(const State &state, llvm::Value *steps);
  void emit_wave_target(size_t load);
  void emit_read_bases(size_t load);
  llvm::Value *read_address(const State &state, size_t number, unsigned buffer);
  llvm::Value *read_transposed(const State &state, const LdsImage &image, size_t number, unsigned buffer);
  void new_buffers(size_t load, llvm::MDNode *domain);
  void declare_buffers();
  bool is_far() const;
  void emit_far_bases(State &state);
  void set_scopes(llvm::Instruction &instruction, const State &state, unsigned buffer) const;
  /// The line of a load, and the tag.
  void set_position(const ir::Op &op);

  Lowering &lowering_;
  const std::vector<PipelinedLoad> &loads_;
  unsigned buffers_;
  Kind kind_;
  llvm::IRBuilder<> &builder_;
  std::vector<State> states_; ///< by load
  CodeTag tag_ = CodeTag::Pipeline;
};

} // namespace nereid::codegen
