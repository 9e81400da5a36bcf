// What launchers in other languages need to know of a kernel of the library.
#include "kernels/aot_export.h"

#include <algorithm>

namespace nereid::kernels {
namespace {

using aot::Condition;
using Kind = aot::Condition::Kind;

/// What the config has at a key; 0 where it has none.
int64_t value_at(const std::vector<ConfigValue> &config, std::string_view key) {
  const auto found =
      std::find_if(config.begin(), config.end(), [&](const ConfigValue &value) { return value.name == key; });
  return found == config.end() ? 0 : found->value;
}

bool has_argument(const CompiledKernel &kernel, std::string_view name) {
  const std::vector<std::string> &names = kernel.function().argument_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

aot::Programs programs_of(const CompiledKernel &kernel, const GridTerm &term,
                          const std::vector<ConfigValue> &config) {
  const int64_t value = term.key.empty() ? 1 : value_at(config, term.key);
  if (term.argument.empty())
    return aot::Programs::constant(value);
  if (term.key.empty() && has_argument(kernel, term.argument))
    return aot::Programs::blocks(std::string(term.argument), 1);
  if (term.key.empty())
    return aot::Programs::given(std::string(term.argument));
  return aot::Programs::blocks(std::string(term.argument), value);
}

/// Of all problems that the kernel takes, and of those that this code was made for.
std::vector<Condition> conditions_of(const BoundKernel &bound, const std::vector<ConfigValue> &config,
                                     const SizeRule &rule) {
  std::vector<Condition> conditions;
  for (const auto &[argument, dimension] : {std::pair("m", rule.m), {"n", rule.n}, {"k", rule.k}}) {
    // A pointer may be called so where the kernel has no such number.
    if (dimension.is_absent() || dimension.is_ignored())
      continue;
    conditions.push_back({argument, Kind::AtLeast, dimension.min});
    conditions.push_back({argument, Kind::AtMost, dimension.max});
    if (dimension.multiple_of > 1)
      conditions.push_back({argument, Kind::MultipleOf, dimension.multiple_of});
  }
  const ShapeFacts &shape = bound.shape();
  if (shape.even_m)
    conditions.push_back({"m", Kind::MultipleOf, value_at(config, "block_m")});
  if (shape.even_n)
    conditions.push_back({"n", Kind::MultipleOf, value_at(config, "block_n")});
  if (shape.even_k)
    conditions.push_back({"k", Kind::MultipleOf, value_at(config, "block_k")});
  if (shape.constant_k)
    conditions.push_back({"k", Kind::Equals, shape.constant_k});
  if (const int64_t experts = value_at(config, "experts")) {
    conditions.push_back({"experts", Kind::AtLeast, 1});
    conditions.push_back({"experts", Kind::AtMost, experts});
  }
  if (bound.scaling() == Scaling::None) {
    conditions.push_back({"alpha", Kind::Equals, 1});
    conditions.push_back({"beta", Kind::Equals, 0});
  }
  return conditions;
}

} // namespace

aot::Export aot_export(std::shared_ptr<const CompiledKernel> compiled, const BoundKernel &bound,
                       const std::vector<ConfigValue> &config, const std::array<GridTerm, 3> &terms,
                       std::string_view summary, const SizeRule &rule) {
  aot::Export result{.kernel = std::move(compiled), .summary = std::string(summary)};
  result.conditions = conditions_of(bound, config, rule);
  std::erase_if(result.conditions, [&](const Condition &condition) {
    return !has_argument(*result.kernel, condition.argument);
  });
  for (size_t axis = 0; axis < terms.size(); ++axis)
    result.programs[axis] = programs_of(*result.kernel, terms[axis], config);
  for (const NeededMemory &operand : bound.operands())
    result.layouts.emplace(operand.name, operand.layout);
  return result;
}

} // namespace nereid::kernels
