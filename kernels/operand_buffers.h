#pragma once

#include "jit/device/device.h"
#include "kernels/host/problem.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_linear.h"

namespace nereid::kernels {

/// Operands of mxfp4_linear in memory of their own.
struct OperandBuffers {
  Buffer<uint16_t> a;
  Buffer<uint8_t> b;
  Buffer<uint8_t> b_scales;
  Buffer<uint16_t> c;

  /// Their content is undefined: for launches that are timed without computing.
  static Result<OperandBuffers> allocate(const Device &device, const ProblemSize &size) {
    OperandBuffers buffers;
    NEREID_TRY(buffers.a, device.allocate<uint16_t>(size.m * size.k));
    NEREID_TRY(buffers.b, device.allocate<uint8_t>(host::shuffled_b_bytes(size.n, size.k)));
    NEREID_TRY(buffers.b_scales, device.allocate<uint8_t>(host::shuffled_scale_bytes(size.n, size.k)));
    NEREID_TRY(buffers.c, device.allocate<uint16_t>(size.m * size.n));
    return buffers;
  }
  /// C is undefined.
  static Result<OperandBuffers> upload(const Device &device, const host::Operands &operands) {
    OperandBuffers buffers;
    NEREID_TRY(buffers.a, device.upload(operands.a));
    NEREID_TRY(buffers.b, device.upload(operands.b));
    NEREID_TRY(buffers.b_scales, device.upload(operands.b_scales));
    NEREID_TRY(buffers.c, device.allocate<uint16_t>(operands.m * operands.n));
    return buffers;
  }

  LinearOperands operands() const { return {a, b, b_scales, c}; }
};

} // namespace nereid::kernels
