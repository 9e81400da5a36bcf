// The registry: a row a kernel of the library, and what is looked up in it.
#include "kernels/registry.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/aot_export.h"
#include "kernels/attention.h"
#include "kernels/attention_decode.h"
#include "kernels/matmul.h"
#include "kernels/mla_decode.h"
#include "kernels/moe_down.h"
#include "kernels/moe_route.h"
#include "kernels/moe_up.h"
#include "kernels/mxfp4_act_quant.h"
#include "kernels/mxfp4_gemm.h"
#include "kernels/mxfp4_grouped_gemm.h"
#include "kernels/mxfp4_quant.h"
#include "kernels/mxfp4_rmsnorm_quant.h"
#include "kernels/rope_cache.h"
#include "kernels/splitk_reduce.h"

namespace nereid::kernels {
namespace {

/// Sets the numbers of a launch; the words say all of them.
template <class C, class O>
Result<std::string> set_numbers(const LibraryKernel<C, O> &kernel, const C &config,
                                std::span<const GivenNumber> given, O &operands) {
  std::vector<std::string> words;
  for (const LaunchNumber<C, O> &number : kernel.numbers) {
    const auto found = std::find_if(given.begin(), given.end(),
                                    [&](const GivenNumber &each) { return each.first == number.name; });
    const int64_t value = found == given.end() ? number.usual(config) : found->second;
    if (value < 1 || value > INT32_MAX)
      return user_error(fmt::format("{}: {}={} is out of range", kernel.name, number.name, value));
    number.set(operands, value);
    words.push_back(fmt::format("{}={}", number.name, value));
  }
  for (const auto &[name, value] : given)
    if (std::none_of(kernel.numbers.begin(), kernel.numbers.end(),
                     [&](const LaunchNumber<C, O> &number) { return number.name == name; }))
      return user_error(fmt::format("a launch of {} has no number '{}'", kernel.name, name),
                        kernel.numbers.empty() ? "its shape says all of it"
                                               : fmt::format("its numbers: {}", fmt::join(words, ", ")));
  return fmt::format("{}", fmt::join(words, ", "));
}

template <class C, class O>
Result<ExampleLaunch> example_launch(const LibraryKernel<C, O> &kernel, const C &config,
                                     const MaybeSize &size, std::span<const GivenNumber> given) {
  if (!size)
    return user_error(fmt::format("{}: a launch has a shape", kernel.name));
  O operands;
  NEREID_TRY(const std::string numbers, set_numbers(kernel, config, given, operands));
  const LaunchIndices indices = kernel.indices ? kernel.indices(config, *size, operands) : LaunchIndices{};
  const BoundKernel bound = kernel.bind(kernel.name, config, size, operands);
  if (bound.refusal())
    return *bound.refusal();
  std::vector<std::string> words = {"zeros"};
  for (const std::string_view more : {indices.words, std::string_view(numbers)})
    if (!more.empty())
      words.emplace_back(more);
  ExampleLaunch launch{kernel.grid(config, *size, operands), {}, fmt::format("{}", fmt::join(words, ", "))};
  for (BoundArgument &argument : bound.arguments()) {
    const auto found = std::find_if(indices.operands.begin(), indices.operands.end(),
                                    [&](const auto &operand) { return operand.name == argument.name; });
    launch.arguments.push_back(
        {std::move(argument), found == indices.operands.end() ? std::vector<std::byte>() : found->bytes});
  }
  return launch;
}

template <class C, class O> NamedKernel named(const LibraryKernel<C, O> &kernel) {
  const auto configure = [&kernel](std::string_view text, const MaybeSize &size) -> Result<ConfiguredKernel> {
    NEREID_TRY(const Partial<C> given, parse_keys<C>(kernel.name, text));
    NEREID_TRY(const C config, kernel.complete(given, size));
    const auto compile = [&kernel, config, size](const Device &device) {
      return kernel.compile(config, size, device);
    };
    const auto export_for_aot = [&kernel, config, size](const Device &device) -> Result<aot::Export> {
      NEREID_TRY(std::shared_ptr<const CompiledKernel> compiled, kernel.compile(config, size, device));
      const BoundKernel bound = kernel.bind(kernel.name, config, size, O{});
      return aot_export(std::move(compiled), bound, config_values(config), kernel.grid_terms, kernel.summary,
                        kernel.rule);
    };
    const auto example = [&kernel, config, size](std::span<const GivenNumber> given) {
      return example_launch(kernel, config, size, given);
    };
    return ConfiguredKernel{config_values(config), compile, export_for_aot, example};
  };
  std::vector<std::string_view> numbers;
  for (const LaunchNumber<C, O> &number : kernel.numbers)
    numbers.push_back(number.name);
  return {kernel.name, kernel.summary, kernel.rule, config_fields<C>(), std::move(numbers), configure};
}

bool has_key(std::span<const ConfigValue> keys, std::string_view name) {
  return std::any_of(keys.begin(), keys.end(), [&](const ConfigValue &key) { return key.name == name; });
}

} // namespace

const std::vector<NamedKernel> &library_kernels() {
  static const std::vector<NamedKernel> kernels = {
      named(quant_kernel),
      named(rmsnorm_quant_kernel),
      named(act_quant_kernel),
      named(gemm_fused_kernel),
      named(gemm_kernel),
      named(batched_kernel),
      named(grouped_kernel),
      named(reduce_kernel),
      named(moe_route_kernel),
      named(moe_up_kernel),
      named(moe_down_kernel),
      named(rope_cache_kernel),
      named(attention_kernel),
      named(matmul_kernel),
      named(mla_decode_kernel),
      named(mla_combine_kernel),
      named(attention_decode_kernel),
      named(attention_combine_kernel),
  };
  return kernels;
}

Result<const NamedKernel *> kernel_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedKernel &kernel : library_kernels()) {
    if (kernel.name == name)
      return &kernel;
    names.push_back(kernel.name);
  }
  return user_error(fmt::format("there is no kernel '{}'", name),
                    fmt::format("kernels: {}", fmt::join(names, ", ")));
}

Status check_size(const NamedKernel &kernel, const ProblemSize &size) {
  if (kernel.rule.n.is_absent() && size.n != 0)
    return user_error(fmt::format("{} has no N: its size is M,0,K", kernel.name));
  return check_shape(size, kernel.rule);
}

Status check_keys(std::string_view kernel, std::span<const ConfigValue> keys, std::string_view config) {
  const std::string entries = fmt::format(",{}", config);
  for (const NamedKernel &other : library_kernels())
    for (const ConfigValue &key : other.keys) {
      if (has_key(keys, key.name) || entries.find(fmt::format(",{}=", key.name)) == std::string::npos)
        continue;
      std::vector<std::string_view> names;
      for (const ConfigValue &known : keys)
        names.push_back(known.name);
      return user_error(fmt::format("{} has no config key '{}'", kernel, key.name),
                        fmt::format("its keys: {}", fmt::join(names, ", ")));
    }
  return {};
}

} // namespace nereid::kernels
