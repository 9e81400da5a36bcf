#include "kernels/specialize.h"

namespace nereid::kernels {
namespace {

int whole(const std::optional<ProblemSize> &size, int64_t ProblemSize::*dimension, int block) {
  return size && (*size).*dimension % block == 0 ? 1 : 0;
}

/// Copies every key that the config has as a field.
template <class Config> Config from_values(const ConfigValues &values) {
  Config config;
  const auto copy = [&](const auto &field) {
    using Member = std::decay_t<decltype(config.*field.member)>;
    if (const std::optional<int> value = values.get(field.name))
      config.*field.member = static_cast<Member>(*value);
  };
  std::apply([&](const auto &...field) { (copy(field), ...); }, Config::nereid_fields());
  return config;
}

} // namespace

QuantConfig quant_config(const ConfigValues &values, const std::optional<ProblemSize> &size) {
  QuantConfig config = from_values<QuantConfig>(values);
  config.whole_m = whole(size, &ProblemSize::m, config.block_m);
  config.whole_k = whole(size, &ProblemSize::k, config.block_k);
  return config;
}

GemmConfig gemm_config(const ConfigValues &values, const std::optional<ProblemSize> &size, Scaling scaling) {
  GemmConfig config = from_values<GemmConfig>(values);
  config.whole_m = whole(size, &ProblemSize::m, config.block_m);
  config.whole_n = whole(size, &ProblemSize::n, config.block_n);
  config.whole_k = whole(size, &ProblemSize::k, config.block_k);
  if (size && values.get_or("const_k", 0) == 1)
    config.constant_k = static_cast<int>(size->k);
  config.scaled_output = static_cast<int>(scaling);
  return config;
}

GroupedConfig batched_config(const ConfigValues &values, const std::optional<ProblemSize> &size) {
  GroupedConfig config = grouped_config(values, size);
  config.whole_m = whole(size, &ProblemSize::m, config.block_m);
  return config;
}

GroupedConfig grouped_config(const ConfigValues &values, const std::optional<ProblemSize> &size) {
  GroupedConfig config = from_values<GroupedConfig>(values);
  config.whole_n = whole(size, &ProblemSize::n, config.block_n);
  config.whole_k = whole(size, &ProblemSize::k, config.block_k);
  if (size && values.get_or("const_k", 0) == 1)
    config.constant_k = static_cast<int>(size->k);
  return config;
}

ReduceConfig reduce_config(const ConfigValues &values, Scaling scaling) {
  ReduceConfig config = from_values<ReduceConfig>(values);
  config.scaled_output = static_cast<int>(scaling);
  return config;
}

} // namespace nereid::kernels
