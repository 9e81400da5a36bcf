#pragma once

#include <optional>

#include "codegen/assign/post_order.h"
#include "codegen/lower/exchange.h"
#include "codegen/lower/region_cache.h"

namespace nereid::codegen {

/// Where each value is. A value is asked for in a layout: scalars are in every lane, those with a layout of
/// their own are converted from it, and rematerialisable ones and views are made where they are wanted, once
/// a region and layout.
class ValueMap {
public:
  ValueMap(EmitContext &context, ExchangeEmitter &exchange, RegionCache &cache)
      : context_(context), exchange_(exchange), cache_(cache) {}

  Registers get(ir::ValueId value, const LinearLayout &layout);
  llvm::Value *scalar(ir::ValueId value) const { return defined_.at(value).registers[0]; }
  /// The result of a pure operation, number `result`, in a layout.
  Registers compute(const ir::Op &op, unsigned result, const LinearLayout &layout);

  void define(ir::ValueId value, LinearLayout layout, Registers registers);
  void define_scalar(ir::ValueId value, llvm::Value *scalar);
  /// A scalar result is wanted in scalar registers.
  void define_result(ir::ValueId value, LinearLayout layout, Registers registers);

  /// In which a value can be had without moving it, through views; broadcast registers left out.
  LinearLayout available_layout(ir::ValueId value) const;

private:
  struct Request : Demand<Registers> {
    const ir::Op *op = nullptr;     ///< that makes the value; null for what other registers give
    const ir::Op *asking = nullptr; ///< whose code is emitted when the value is there
  };

  std::optional<Registers> find(const LayoutRequest &request) const;
  Request open(const LayoutRequest &wanted);
  Registers finish(const Request &request);

  EmitContext &context_;
  ExchangeEmitter &exchange_;
  RegionCache &cache_;
  std::unordered_map<ir::ValueId, Tile> defined_;
};

} // namespace nereid::codegen
