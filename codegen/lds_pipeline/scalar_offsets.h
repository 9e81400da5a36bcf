#pragma once

#include <vector>

#include "codegen/lds_pipeline/parts.h"

namespace nereid::codegen {

/// The scalar offsets of an LDS pipeline's memory instructions, which move with the iterations. Loads of
/// equal change and distance share one. They stop at the last iteration: what is loaded beyond it is loaded
/// again and not used.
class ScalarOffsets {
public:
  explicit ScalarOffsets(llvm::IRBuilder<> &builder) : builder_(builder) {}

  /// Of a load whose addresses move by `change` bytes, issued `distance` iterations ahead.
  void add_load(int64_t change, unsigned distance);
  /// Before the loop: `last_iteration` is the number of the last one.
  void begin(llvm::Value *last_iteration);
  /// Of a load in one of the first stages.
  llvm::Value *at_stage(size_t load, unsigned stage);
  /// Behind the first stages: each load at its distance.
  void start_loop();
  llvm::Value *current(size_t load) const { return offsets_[of_load_[load]].current; }
  /// On to the next iteration.
  void advance();
  /// Those that change, for phis.
  std::vector<llvm::Value **> changing();

private:
  struct Offset {
    int64_t change;
    unsigned distance;
    llvm::Value *last;    ///< where the last iteration's accesses are
    llvm::Value *current; ///< for what is issued next
  };

  llvm::Value *constant(int64_t bytes) { return builder_.getInt32(static_cast<uint32_t>(bytes)); }

  llvm::IRBuilder<> &builder_;
  std::vector<Offset> offsets_;
  std::vector<size_t> of_load_;
};

} // namespace nereid::codegen
