#pragma once

#include "codegen/lower/atomic.h"
#include "codegen/lower/dot.h"
#include "codegen/lower/edges.h"
#include "codegen/lower/loop.h"
#include "codegen/lower/memory.h"
#include "codegen/lower/op_emitter.h"
#include "codegen/lower/quantize.h"
#include "codegen/lower/reduce.h"
#include "codegen/lower/scan.h"

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
  ScanEmitter scan;
  SixBitEmitter six_bit;
  FragmentEmitter fragments;
  DotEmitter dots;
  QuantizeEmitter quantize;
  EdgeEmitter edges;
  LoopEmitter loops;
  OpEmitter ops;

private:
  void emit_kernel();
};

/// A loop that fits is emitted as a pipeline over LDS (by codegen/lds_pipeline); else false, and nothing is
/// emitted.
bool emit_lds_pipeline(Lowering &parts, const ir::Op &loop);

} // namespace nereid::codegen
