#pragma once

#include "codegen/lower/atomic.h"
#include "codegen/lower/dot.h"
#include "codegen/lower/edges.h"
#include "codegen/lower/fold.h"
#include "codegen/lower/gather.h"
#include "codegen/lower/loop.h"
#include "codegen/lower/memory.h"
#include "codegen/lower/op_emitter.h"
#include "codegen/lower/quantize.h"
#include "codegen/lower/reduce.h"
#include "codegen/schedule/lds_pipeline_contract.h"

namespace nereid::codegen {

/// Turns one planned function into one kernel: the parts of the emitter (docs/lowering.md), each of which
/// uses those above it.
struct Lowering {
  Lowering(const KernelPlan &plan, llvm::Module &module);
  Lowering(const Lowering &) = delete;
  Lowering &operator=(const Lowering &) = delete;

  Status run();

  EmitContext context;
  Packing packing;
  LdsMemory lds;
  MemoryOrder order;
  ExchangeEmitter exchange;
  RegionCache cache;
  ValueMap values;
  AddressEmitter addresses;
  MemoryEmitter memory;
  AtomicEmitter atomics;
  ReduceEmitter reduce;
  GatherEmitter gather;
  SixBitEmitter six_bit;
  FragmentEmitter fragments;
  DotEmitter dots;
  QuantizeEmitter quantize;
  EdgeEmitter edges;
  FoldEmitter folds;
  LoopEmitter loops;
  OpEmitter ops;
  std::vector<PipelineContract> contracts; ///< what the code of LDS pipelines keeps

private:
  void emit_kernel();
};

/// By codegen/lds_pipeline.
void emit_lds_pipeline(Lowering &parts, const LdsPipeline &pipeline);
void emit_lds_prefetch(Lowering &parts, const LdsPrefetch &plan);

} // namespace nereid::codegen
