#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/lds_pipeline/parts.h"

namespace nereid::codegen {

/// What an iteration of an LDS pipeline computes between its loads and its matrix instructions: lowered once
/// into a block of its own, over placeholders for what is loaded, and then cloned into each stage. Its
/// instructions are gone when it is destroyed.
class IterationTemplate {
public:
  /// Whether the conditions of the loop's masks are known to hold or are computed.
  enum class Masks { KnownTrue, Computed };

  /// An iteration under construction: what it has loaded, and its clones of the template.
  struct Stage {
    std::vector<LlvmValues> loaded; ///< by load and group
    llvm::Value *index = nullptr;
    std::unordered_map<llvm::Value *, llvm::Value *> clones;
    std::vector<std::pair<Fragments, Fragments>> fragments; ///< by dot, of a and b
  };

  IterationTemplate(Lowering &lowering, const LdsPipeline &pipeline, Masks masks);
  ~IterationTemplate();
  IterationTemplate(const IterationTemplate &) = delete;
  IterationTemplate &operator=(const IterationTemplate &) = delete;

  /// One straight block without effects; the plan sees to it.
  bool is_clonable() const { return is_clonable_; }
  /// Appends the groups of which the operands of a matrix instruction are made.
  void append_groups(const MmaStep &step, std::vector<LoadGroup> &groups) const;
  /// Clones what is the same in all iterations, at the insertion point.
  void clone_invariants();
  Stage new_stage() const;
  /// The tile of its accumulator that a matrix instruction adds to.
  unsigned tile(const MmaStep &step) const { return dots_[step.dot].plan->tile(step.m, step.n); }
  /// One matrix instruction of a stage, with the clones that it needs first: the accumulator after it.
  llvm::Value *multiply(const MmaStep &step, Stage &stage, llvm::Value *accumulator);

private:
  struct Dot {
    const ir::Op *op;
    const DotPlan *plan;
    Fragments a, b;
  };

  llvm::Value *placeholder(llvm::Type *type);
  void lower_body();
  void place_load(const ir::Op &op);
  void place_dot(const ir::Op &op);
  bool adds_dot(const ir::Op &op) const;
  void find_varying();
  bool is_inside(llvm::Value *value) const;
  void append_groups(llvm::Value *value, std::vector<LoadGroup> &groups) const;
  /// What stands for a value in a stage, if something does without a clone.
  llvm::Value *known_clone(llvm::Value *value, const Stage &stage) const;
  llvm::Value *clone(llvm::Value *value, Stage &stage);

  Lowering &lowering_;
  const LdsPipeline &pipeline_;
  llvm::BasicBlock *block_;
  llvm::Value *index_ = nullptr;
  std::unordered_map<llvm::Value *, LoadGroup> groups_; ///< by placeholder
  std::unordered_set<llvm::Value *> varying_;
  std::unordered_map<llvm::Value *, llvm::Value *> invariants_;
  std::vector<Dot> dots_;
  bool is_clonable_ = false;
};

} // namespace nereid::codegen
