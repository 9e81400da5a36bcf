// quantize: which groups a lane has, and where codes and scales go.
#include "codegen/lower/quantize.h"

#include "codegen/assign/quantize_layout.h"
#include "codegen/lower/group_quantizer.h"
#include "codegen/plan/defined_layouts.h"

namespace nereid::codegen {

QuantizeEmitter::Quantized QuantizeEmitter::quantize_groups(const ir::Op &op, const Tile &x,
                                                            const std::function<void()> &between) {
  const GroupParts parts = parts_of_groups(x.layout);
  GroupQuantizer quantizer(context_, packing_, op, parts.lanes);
  Quantized result;
  for (size_t first = 0; first < x.registers.size(); first += parts.values) {
    const auto begin = x.registers.begin() + first;
    const Registers group(begin, begin + parts.values);
    llvm::Value *scale = quantizer.scale(group);
    if (between)
      between();
    result.codes.push_back(quantizer.codes(group, scale));
    if (between)
      between();
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

QuantizeEmitter::Pair QuantizeEmitter::quantize(const ir::Op &op, const std::function<void()> &between) {
  const LinearLayout sorted = in_group_order(context_.plan.layouts.quantize_operands.at(&op));
  const Quantized quantized = quantize_groups(op, {sorted, values_.get(op.operands[0], sorted)}, between);
  return {Tile{quantize_codes_layout(sorted, context_.type(op.results[0]).shape), bytes_of(quantized.codes)},
          Tile{quantize_scales_layout(sorted), quantized.scales}};
}

/// The codes of a group of 6 bits lie in no layout: they are spread over the lanes.
void QuantizeEmitter::emit_six_bits(const ir::Op &op) {
  const LayoutChoice &layouts = context_.plan.layouts;
  const LinearLayout sorted = in_group_order(layouts.quantize_operands.at(&op));
  const Quantized quantized = quantize_groups(op, {sorted, values_.get(op.operands[0], sorted)});
  const LinearLayout of_scales = quantize_scales_layout(sorted);
  const LinearLayout &of_codes = layouts.layout(op.results[0]);
  values_.define(op.results[1], of_scales, quantized.scales);
  values_.define(op.results[0], of_codes, six_bit_.spread_groups(quantized.codes, of_scales, of_codes));
}

void QuantizeEmitter::emit(const ir::Op &op, const BodyCopy &copy) {
  if (ir::facts(*ir::format_named(op.string("format"))).bits == 6)
    return emit_six_bits(op);
  const auto before = copy.quantized.find(&op);
  Pair result = before != copy.quantized.end() ? before->second : quantize(op);
  if (context_.plan.layouts.shared_quantizes.count(&op) != 0)
    result = share(op, result, copy).value_or(result);
  for (size_t i = 0; i < result.size(); ++i)
    values_.define(op.results[i], result[i].layout, result[i].registers);
}

} // namespace nereid::codegen
