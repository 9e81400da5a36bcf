#include <algorithm>

#include "codegen/lower/lower.h"
#include "codegen/lower/lowering.h"

namespace nereid::codegen {

/// Codes and scales that each wave has a part of go through LDS to all, with one barrier: in a pipeline each
/// copy of the body has a place of its own, so that a round's reads are over before the round after the next
/// writes there. Nothing if a plan is more than one exchange; then they are converted apart.
std::optional<std::array<Registers, 2>> Lowering::share_quantized(const ir::Op &op,
                                                                  const std::array<Tile, 2> &made) {
  struct Way {
    std::vector<ConversionStep> before, after;
    const LdsStep *step = nullptr;
    uint32_t place = 0;
  };
  std::array<Result<ConversionPlan>, 2> plans = {
      plan_conversion(made[0].layout, layouts_.layout(op.results[0]), 8, {.lds_limit = lds_limit}),
      plan_conversion(made[1].layout, layouts_.layout(op.results[1]), 8, {.lds_limit = lds_limit})};
  std::array<Way, 2> ways;
  uint32_t bytes = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (!plans[i])
      return std::nullopt;
    for (const ConversionStep &step : plans[i]->steps) {
      const auto *exchange = std::get_if<LdsStep>(&step);
      if (exchange && (ways[i].step || exchange->passes != 1))
        return std::nullopt;
      if (exchange)
        ways[i].step = exchange;
      else
        (ways[i].step ? ways[i].after : ways[i].before).push_back(step);
    }
    if (!ways[i].step)
      return std::nullopt;
    ways[i].place = bytes;
    bytes += (ways[i].step->bytes() + 15) / 16 * 16;
  }
  const auto run = [&](const std::vector<ConversionStep> &steps, Registers registers) {
    for (const ConversionStep &step : steps)
      registers = std::visit([&](const auto &s) { return emit(s, registers); }, step);
    return registers;
  };
  llvm::GlobalVariable *&array = shared_codes_[&op];
  if (!array) {
    const uint32_t whole = bytes * exchange_copies_;
    array = new llvm::GlobalVariable(
        module_, llvm::ArrayType::get(builder_.getInt8Ty(), whole), false, llvm::GlobalValue::InternalLinkage,
        llvm::PoisonValue::get(llvm::ArrayType::get(builder_.getInt8Ty(), whole)), function_.name + ".codes",
        nullptr, llvm::GlobalValue::NotThreadLocal, 3);
    array->setAlignment(llvm::Align(16));
    shared_bytes_ += whole;
  }
  if (exchange_copies_ < 2)
    barrier();
  const auto place = [&](size_t i) {
    return builder_.CreateConstGEP1_32(builder_.getInt8Ty(), array, exchange_copy_ * bytes + ways[i].place);
  };
  for (size_t i = 0; i < ways.size(); ++i)
    write_lds(*ways[i].step, 0, run(ways[i].before, made[i].registers), place(i));
  barrier();
  std::array<Registers, 2> result;
  for (size_t i = 0; i < ways.size(); ++i)
    read_lds(*ways[i].step, 0, builder_.getInt8Ty(), place(i), result[i]);
  for (size_t i = 0; i < ways.size(); ++i)
    result[i] = run(ways[i].after, result[i]);
  return result;
}

} // namespace nereid::codegen
