// The MXFP4 operations in C.
#include <algorithm>
#include <span>

#include "capi/handles.h"
#include "capi/last_error.h"
#include "kernels/host/shuffle.h"
#include "kernels/mxfp4_quant.h"

using namespace nereid;
using namespace nereid::capi;

namespace {

/// Whether the library takes matrices of that size.
bool is_size(int64_t rows, int64_t k) {
  return rows > 0 && rows <= kernels::max_n_or_k && k > 0 && k <= kernels::max_n_or_k;
}

/// Error (User) unless it does; the multiples of rows and k are checked by what shuffles them.
Status check_size(int64_t rows, int64_t k) {
  if (is_size(rows, k))
    return {};
  return user_error("a matrix of " + std::to_string(rows) + " x " + std::to_string(k),
                    "Sizes are from 1 to " + std::to_string(kernels::max_n_or_k));
}

Status check_call(const nereid_mxfp4_linear *linear, nereid_mxfp4_path path,
                  const nereid_mxfp4_linear_operands *operands) {
  NEREID_CHECK(not_null(linear, "linear"));
  NEREID_CHECK(not_null(operands, "operands"));
  if (path < NEREID_MXFP4_AUTO || path > NEREID_MXFP4_STAGED)
    return user_error("there is no path " + std::to_string(path), "Paths are NEREID_MXFP4_AUTO to _STAGED");
  return {};
}

kernels::LinearOperands operands_of(const nereid_mxfp4_linear_operands &operands) {
  return {memory_of(operands.a), memory_of(operands.b), memory_of(operands.b_scales), memory_of(operands.c)};
}

} // namespace

extern "C" {

uint64_t nereid_mxfp4_shuffled_b_bytes(int64_t n, int64_t k) {
  return is_size(n, k) ? static_cast<uint64_t>(kernels::host::shuffled_b_bytes(n, k)) : 0;
}

uint64_t nereid_mxfp4_shuffled_scale_bytes(int64_t rows, int64_t k) {
  return is_size(rows, k) ? static_cast<uint64_t>(kernels::host::shuffled_scale_bytes(rows, k)) : 0;
}

nereid_status nereid_mxfp4_shuffle_b(int64_t n, int64_t k, const uint8_t *codes, uint8_t *shuffled) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(codes, "codes"));
    NEREID_CHECK(not_null(shuffled, "shuffled"));
    NEREID_CHECK(check_size(n, k));
    const auto bytes = static_cast<size_t>(n * (k / 2));
    NEREID_TRY(const std::vector<uint8_t> result, kernels::host::shuffle_b({codes, bytes}, n, k));
    std::copy(result.begin(), result.end(), shuffled);
    return {};
  });
}

nereid_status nereid_mxfp4_shuffle_scales(int64_t rows, int64_t k, const uint8_t *scales, uint8_t *shuffled) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(scales, "scales"));
    NEREID_CHECK(not_null(shuffled, "shuffled"));
    NEREID_CHECK(check_size(rows, k));
    const auto bytes = static_cast<size_t>(rows * (k / 32));
    NEREID_TRY(const std::vector<uint8_t> result, kernels::host::shuffle_scales({scales, bytes}, rows, k));
    std::copy(result.begin(), result.end(), shuffled);
    return {};
  });
}

nereid_status nereid_mxfp4_quant(const nereid_device *device, const nereid_stream *stream, int64_t m,
                                 int64_t k, int32_t shuffled, nereid_memory x, nereid_memory codes,
                                 nereid_memory scales) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    const kernels::ProblemSize size{m, 0, k};
    NEREID_CHECK(kernels::check_shape(size, kernels::quantized_rule));
    const Stream target = stream_or_default(stream, device->device);
    if (!(target.device() == device->device))
      return user_error("mxfp4_quant: the stream is of another device",
                        "Use a stream of the device that the operation is given");
    NEREID_TRY(const kernels::QuantConfig config,
               kernels::quant_kernel.complete({.shuffled = shuffled != 0}, size));
    NEREID_CHECK(kernels::quant_kernel.launch({target}, config, size,
                                              {memory_of(x), memory_of(codes), memory_of(scales)}));
    return {};
  });
}

nereid_status nereid_mxfp4_linear_create(const nereid_device *device, nereid_mxfp4_linear **linear) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(device, "device"));
    NEREID_CHECK(not_null(linear, "linear"));
    *linear = new nereid_mxfp4_linear{device->device, kernels::Mxfp4Linear(device->device)};
    return {};
  });
}

nereid_status nereid_mxfp4_linear_run(nereid_mxfp4_linear *linear, const nereid_stream *stream, int64_t m,
                                      int64_t n, int64_t k, nereid_mxfp4_path path,
                                      const nereid_mxfp4_linear_operands *operands) {
  return guarded([&]() -> Status {
    NEREID_CHECK(check_call(linear, path, operands));
    NEREID_CHECK(linear->linear(stream_or_default(stream, linear->device), operands_of(*operands), {m, n, k},
                                static_cast<kernels::GemmPath>(path)));
    return {};
  });
}

nereid_status nereid_mxfp4_linear_prepare(nereid_mxfp4_linear *linear, const nereid_stream *stream, int64_t m,
                                          int64_t n, int64_t k, nereid_mxfp4_path path,
                                          const nereid_mxfp4_linear_operands *operands) {
  return guarded([&]() -> Status {
    NEREID_CHECK(check_call(linear, path, operands));
    return linear->linear.prepare(stream_or_default(stream, linear->device), operands_of(*operands),
                                  {m, n, k}, static_cast<kernels::GemmPath>(path));
  });
}

nereid_status nereid_mxfp4_linear_trim(nereid_mxfp4_linear *linear) {
  return guarded([&]() -> Status {
    NEREID_CHECK(not_null(linear, "linear"));
    linear->linear.trim();
    return {};
  });
}

void nereid_mxfp4_linear_destroy(nereid_mxfp4_linear *linear) { delete linear; }
}
