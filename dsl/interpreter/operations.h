#pragma once

#include "base/result.h"
#include "dsl/interpreter/frame.h"

namespace nereid::interpreter {

/// The operations by kind: each reads its operands' tensors and writes its results'. The function is
/// verified.

void run_source(Frame &frame, const ir::Op &op);
void run_shape(Frame &frame, const ir::Op &op);
void run_unary(Frame &frame, const ir::Op &op);
void run_binary(Frame &frame, const ir::Op &op);
void run_compare(Frame &frame, const ir::Op &op);
void run_cast(Frame &frame, const ir::Op &op);
void run_bitcast(Frame &frame, const ir::Op &op);
void run_fma(Frame &frame, const ir::Op &op);
void run_where(Frame &frame, const ir::Op &op);
void run_pointer_add(Frame &frame, const ir::Op &op);
void run_int_to_ptr(Frame &frame, const ir::Op &op);
void run_cvt_scaled(Frame &frame, const ir::Op &op);
Status run_inline_asm(Frame &frame, const ir::Op &op);
void run_reduce(Frame &frame, const ir::Op &op);
void run_cumsum(Frame &frame, const ir::Op &op);
Status run_gather(Frame &frame, const ir::Op &op);
void run_butterfly(Frame &frame, const ir::Op &op);
void run_dot(Frame &frame, const ir::Op &op);
void run_dot_scaled(Frame &frame, const ir::Op &op);
void run_quantize(Frame &frame, const ir::Op &op);
Status run_load(Frame &frame, const ir::Op &op);
Status run_store(Frame &frame, const ir::Op &op);
Status run_atomic(Frame &frame, const ir::Op &op);
Status run_statement(Frame &frame, const ir::Op &op);

} // namespace nereid::interpreter
