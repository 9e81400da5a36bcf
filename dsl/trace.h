#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dsl/config.h"
#include "dsl/handle.h"
#include "dsl/ir/function.h"
#include "dsl/parameter.h"

namespace nereid {

/// What the launch knows of an argument (specialisation), in the order of the kernel's parameters.
struct ArgumentFacts {
  int64_t divisibility = 1; ///< of an integer's value, or of a pointer's address in bytes
  std::optional<int64_t> constant =
      {};                    ///< an integer known now: the traced code uses it instead of the argument
  std::string name = {};     ///< for people, who are given its number when it is empty
  int64_t pointer_range = 0; ///< as ir::Argument::pointer_range

  bool operator==(const ArgumentFacts &) const = default;
};

namespace detail {

Result<ir::Function> trace(std::string name, const std::vector<ParameterType> &parameters,
                           const std::vector<ArgumentFacts> &facts, const std::vector<ConfigValue> &config,
                           const std::function<void(const std::vector<ir::ValueId> &)> &body);

template <class F> struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class... P> struct Signature<void (*)(C, P...)> {
  using Config = std::decay_t<C>;
  static std::vector<ParameterType> parameters() {
    std::vector<ParameterType> types;
    (Parameter<std::decay_t<P>>::add_types(types), ...);
    return types;
  }
  template <class F>
  static void call(const F &kernel, const Config &config, const std::vector<ir::ValueId> &ids) {
    call(kernel, config, ids, std::index_sequence_for<P...>{});
  }
  template <class F, size_t... I>
  static void call(const F &kernel, const Config &config, const std::vector<ir::ValueId> &ids,
                   std::index_sequence<I...>) {
    kernel(config, Parameter<std::decay_t<P>>::make(ids.data() + first(I))...);
  }

private:
  /// The number of a parameter's first argument.
  static constexpr size_t first(size_t parameter) {
    constexpr size_t counts[] = {0, Parameter<std::decay_t<P>>::count...};
    size_t result = 0;
    for (size_t i = 1; i <= parameter; ++i)
      result += counts[i];
    return result;
  }
};
template <class C, class... P> struct Signature<void (*)(C, P...) noexcept> : Signature<void (*)(C, P...)> {};
template <class F, class C, class... P>
struct Signature<void (F::*)(C, P...) const> : Signature<void (*)(C, P...)> {};
template <class F, class C, class... P>
struct Signature<void (F::*)(C, P...)> : Signature<void (*)(C, P...)> {};

} // namespace detail

/// Runs the kernel once over handles and returns its function, verified and canonical, with the locations of
/// its operations. The kernel is a function or a callable `void(const Config &, parameters...)`; facts may be
/// fewer than parameters. Wrong uses are Owner::User errors with the user's line. Threads may trace at the
/// same time.
template <class Kernel, class Config>
Result<ir::Function> trace(std::string name, const Kernel &kernel, const Config &config,
                           const std::vector<ArgumentFacts> &facts = {}) {
  using Signature = detail::Signature<std::decay_t<Kernel>>;
  static_assert(std::is_same_v<typename Signature::Config, Config>,
                "the config is of another type than the kernel's");
  std::vector<ConfigValue> values;
  if constexpr (ListedConfig<Config>)
    values = config_values(config);
  return detail::trace(std::move(name), Signature::parameters(), facts, values,
                       [&](const std::vector<ir::ValueId> &ids) { Signature::call(kernel, config, ids); });
}

} // namespace nereid
