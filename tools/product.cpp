// One product of operands that lie on the host.
#include "tools/product.h"

namespace nereid::tools {

Result<Product> run_product(const Device &device, kernels::Mxfp4Linear &linear,
                            const kernels::host::Operands &operands, kernels::GemmPath path,
                            const Partial<kernels::GemmConfig> &config) {
  NEREID_TRY(const Buffer<uint16_t> a, device.upload(operands.a));
  NEREID_TRY(const Buffer<uint8_t> b, device.upload(operands.b));
  NEREID_TRY(const Buffer<uint8_t> b_scales, device.upload(operands.b_scales));
  NEREID_TRY(Buffer<uint16_t> c, device.allocate<uint16_t>(operands.m * operands.n));
  NEREID_CHECK(c.fill(0xffff));
  const Stream stream = device.stream();
  NEREID_TRY(kernels::LinearReport report,
             linear(stream, {a, b, b_scales, c}, {operands.m, operands.n, operands.k}, path, config));
  NEREID_CHECK(stream.synchronize());
  NEREID_TRY(std::vector<uint16_t> result, c.to_host());
  return Product{std::move(result), std::move(report)};
}

} // namespace nereid::tools
