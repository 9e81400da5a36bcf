// quantize: which groups a lane has, and where codes and scales go.
#include "codegen/lower/quantize.h"

#include "codegen/assign/quantize_layout.h"
#include "codegen/lower/group_quantizer.h"
#include "codegen/plan/defined_layouts.h"

namespace nereid::codegen {

QuantizeEmitter::Quantized QuantizeEmitter::quantize_groups(const ir::Op &op, const Registers &values) {
  GroupQuantizer quantizer(builder_, packing_, op);
  Quantized result;
  for (size_t first = 0; first < values.size(); first += ir::scale_group) {
    const Registers group(values.begin() + first, values.begin() + first + ir::scale_group);
    llvm::Value *scale = quantizer.scale(group);
    result.codes.push_back(quantizer.codes(group, scale));
    result.scales.push_back(builder_.CreateTrunc(builder_.CreateLShr(scale, 23), builder_.getInt8Ty()));
  }
  return result;
}

Registers QuantizeEmitter::bytes_of(const std::vector<Registers> &codes) {
  Registers result;
  for (const Registers &dwords : codes)
    for (llvm::Value *dword : dwords) {
      Registers bytes = packing_.unpack(dword, builder_.getInt8Ty(), 4);
      result.insert(result.end(), bytes.begin(), bytes.end());
    }
  return result;
}

void QuantizeEmitter::emit(const ir::Op &op, const BodyCopy &copy) {
  const LayoutChoice &layouts = context_.plan.layouts;
  const LinearLayout sorted = in_group_order(layouts.quantize_operands.at(&op));
  const Quantized quantized = quantize_groups(op, values_.get(op.operands[0], sorted));
  const LinearLayout of_scales = quantize_scales_layout(sorted);
  if (ir::facts(*ir::format_named(op.string("format"))).bits == 6) {
    const LinearLayout &of_codes = layouts.layout(op.results[0]);
    values_.define(op.results[1], of_scales, quantized.scales);
    return values_.define(op.results[0], of_codes,
                          six_bit_.spread_groups(quantized.codes, of_scales, of_codes));
  }
  Pair result = {
      Tile{quantize_codes_layout(sorted, context_.type(op.results[0]).shape), bytes_of(quantized.codes)},
      Tile{of_scales, quantized.scales}};
  if (layouts.shared_quantizes.count(&op) != 0)
    result = share(op, result, copy).value_or(result);
  for (size_t i = 0; i < result.size(); ++i)
    values_.define(op.results[i], result[i].layout, result[i].registers);
}

} // namespace nereid::codegen
