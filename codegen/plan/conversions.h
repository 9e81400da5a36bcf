#pragma once

#include <unordered_set>
#include <vector>

#include "codegen/assign/layout_request.h"
#include "codegen/convert/convert_plan.h"
#include "codegen/plan/defined_layouts.h"

namespace nereid::codegen {

/// A value that an operation's code wants in another layout than it has it in.
struct Conversion {
  const ir::Op *user;
  LayoutRequest wanted;
  LinearLayout from;
};

/// Follows what the code of operations asks for, back to where values are defined: the layout conversions
/// that it makes, and the operations that it recomputes. Values that are there already in the wanted layout
/// are not known to be, so that there may be more conversions here than in the code.
class ConversionWalk {
public:
  ConversionWalk(const FunctionIndex &index, const AxisAnalysis &axes, const LayoutChoice &layouts,
                 const DefinedLayouts &defined)
      : index_(index), function_(index.function()), axes_(axes), layouts_(layouts), defined_(defined) {}

  /// The operation itself, without its regions.
  void visit(const ir::Op &op);
  /// All operations of a block, and what it yields.
  void visit(const ir::Block &block);

  const std::vector<Conversion> &conversions() const { return conversions_; }
  /// The pure operations whose code there is: visited, or recomputed where their results are wanted.
  const std::vector<const ir::Op *> &computed() const { return computed_; }

private:
  void request(ir::ValueId value, const LinearLayout &layout);
  void follow(const LayoutRequest &request, std::vector<LayoutRequest> &open);
  void visit_memory(const ir::Op &op);
  void visit_dot(const ir::Op &op);
  void visit_gather(const ir::Op &op);
  void visit_pure(const ir::Op &op);
  void visit_element(const ir::Op &op);

  const FunctionIndex &index_;
  const ir::Function &function_;
  const AxisAnalysis &axes_;
  const LayoutChoice &layouts_;
  const DefinedLayouts &defined_;
  const ir::Op *user_ = nullptr;
  std::unordered_set<LayoutRequest, LayoutRequestHash> seen_;
  std::vector<Conversion> conversions_;
  std::vector<const ir::Op *> computed_;
};

/// How conversions may be made: in the body of a loop that wave_split=k splits, each wave has to do with its
/// lanes; by itself a loop is split only if that is cheaper anyway.
ConversionOptions conversion_options(const ir::CompileOptions &options, bool in_split_loop);

Result<ConversionPlan> plan_of(const ir::Function &function, const Conversion &conversion,
                               const ConversionOptions &options);

} // namespace nereid::codegen
