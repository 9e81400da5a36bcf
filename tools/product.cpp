// One product of operands that lie on the host.
#include "tools/product.h"

#include "kernels/operand_buffers.h"

namespace nereid::tools {

Result<Product> run_product(const Device &device, kernels::Mxfp4Linear &linear,
                            const kernels::host::Operands &operands, kernels::GemmPath path,
                            const Partial<kernels::GemmConfig> &config) {
  NEREID_TRY(kernels::OperandBuffers buffers, kernels::OperandBuffers::upload(device, operands));
  NEREID_CHECK(buffers.c.fill(0xffff));
  const Stream stream = device.stream();
  NEREID_TRY(kernels::LinearReport report,
             linear(stream, buffers.operands(), {operands.m, operands.n, operands.k}, path, config));
  NEREID_CHECK(stream.synchronize());
  NEREID_TRY(std::vector<uint16_t> result, buffers.c.to_host());
  return Product{std::move(result), std::move(report)};
}

} // namespace nereid::tools
