// Codes and scales that each wave has a part of go through LDS to all.
#include "codegen/lower/quantize.h"

namespace nereid::codegen {

namespace {

/// A conversion with one exchange through LDS.
struct ExchangePlan {
  std::vector<ConversionStep> before, after;
  LdsStep exchange;
};

std::optional<ExchangePlan> plan_exchange(const LinearLayout &from, const LinearLayout &to) {
  const Result<ConversionPlan> plan = plan_conversion(from, to, 8);
  if (!plan)
    return std::nullopt;
  ExchangePlan result;
  bool found = false;
  for (const ConversionStep &step : plan->steps) {
    const auto *exchange = std::get_if<LdsStep>(&step);
    if (exchange && (found || exchange->passes != 1))
      return std::nullopt;
    if (exchange) {
      result.exchange = *exchange;
      found = true;
    } else {
      (found ? result.after : result.before).push_back(step);
    }
  }
  return found ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace

/// One barrier is enough where the loop's body is there several times: each copy has its own part of the
/// array, so that an iteration's reads are over before the iteration after the next writes there.
std::optional<QuantizeEmitter::Pair> QuantizeEmitter::share(const ir::Op &op, const Pair &own,
                                                            const BodyCopy &copy) {
  std::array<ExchangePlan, 2> plans;
  std::array<uint32_t, 2> offsets;
  uint32_t bytes = 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    std::optional<ExchangePlan> plan =
        plan_exchange(own[i].layout, context_.plan.layouts.layout(op.results[i]));
    if (!plan)
      return std::nullopt;
    plans[i] = std::move(*plan);
    offsets[i] = bytes;
    bytes += (plans[i].exchange.bytes() + 15) / 16 * 16;
  }
  llvm::GlobalVariable *&array = shared_arrays_[&op];
  if (!array)
    array = lds_.array(bytes * copy.count, ".codes");
  if (copy.count < 2)
    order_.barrier();
  const auto address = [&](size_t i) {
    return builder_.CreateConstGEP1_32(builder_.getInt8Ty(), array, copy.number * bytes + offsets[i]);
  };
  for (size_t i = 0; i < plans.size(); ++i)
    exchange_.write(plans[i].exchange, 0, exchange_.run(plans[i].before, own[i].registers), address(i));
  order_.barrier();
  Pair result;
  for (size_t i = 0; i < plans.size(); ++i)
    exchange_.read(plans[i].exchange, 0, builder_.getInt8Ty(), address(i), result[i].registers);
  for (size_t i = 0; i < plans.size(); ++i)
    result[i] = {context_.plan.layouts.layout(op.results[i]),
                 exchange_.run(plans[i].after, result[i].registers)};
  return result;
}

} // namespace nereid::codegen
