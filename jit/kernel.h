#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "dsl/config.h"
#include "dsl/trace.h"
#include "jit/argument.h"
#include "jit/kernel_core.h"

namespace nereid {

namespace detail {

/// The last name in what the compiler says of a function: without its namespaces and template arguments.
constexpr std::string_view unqualified(std::string_view name) {
  name = name.substr(0, name.find_first_of("<("));
  const size_t colons = name.rfind(':');
  return colons == std::string_view::npos ? name : name.substr(colons + 1);
}

/// The name of a function: "add".
template <auto function> constexpr std::string_view function_name() {
  // "... [with auto function = nereid::add; ...]" (GCC), "... [function = &nereid::add]" (Clang).
  constexpr std::string_view text = __PRETTY_FUNCTION__, before = "function = ";
  std::string_view name = text.substr(text.find(before) + before.size());
  name = name.substr(0, name.find_first_of(";]"));
  while (name.starts_with('&') || name.starts_with('('))
    name.remove_prefix(1);
  // (anonymous namespace) and {anonymous} hold what would end a name.
  for (const std::string_view unnamed :
       {"(anonymous namespace)::", "{anonymous}::", "anonymous namespace)::"})
    if (const size_t at = name.find(unnamed); at != std::string_view::npos && at < name.find('<'))
      name.remove_prefix(at + unnamed.size());
  return unqualified(name);
}

/// The host's number for a scalar parameter of a kernel; nothing for a Ptr<T>.
template <class P> struct GridScalar {
  using type = std::tuple<>;
};
template <class T> struct GridScalar<Tile<T>> {
  using type = std::tuple<std::conditional_t<std::same_as<T, i1>, bool, T>>;
};

/// Whether the first of some types is X.
template <class X, class... A> inline constexpr bool begins_with = false;
template <class X, class... A> inline constexpr bool begins_with<X, X, A...> = true;

/// A function of a config and the scalar arguments of a launch, in their order, that gives its grid.
template <class Config, class Scalars> struct GridFunction;
template <class Config, class... S> struct GridFunction<Config, std::tuple<S...>> {
  using type = std::function<Grid(const Config &, S...)>;
};

} // namespace detail

/// A kernel of a config and parameters P, whichever function it is; see Kernel.
///
/// A Ptr<T> takes a Buffer or DevicePointer of T or of std::byte, an Int an int32_t, a Long an int64_t, a
/// Float a float, a Tile<T> of another element its C++ number, a struct of parameters (NEREID_PARAMETERS) a
/// struct or std::tuple of what its fields take; anything else does not compile. Safe to use from several
/// threads.
template <class Config, class... P> class KernelOf {
  static_assert(ListedConfig<Config>, "a config lists its fields with NEREID_CONFIG");

public:
  using Function = void (*)(const Config &, P...);
  /// `[](const AddConfig &c, int32_t n) { return Grid{cdiv(n, c.block)}; }` for a kernel with one scalar.
  using GridFunction = typename detail::GridFunction<
      Config, decltype(std::tuple_cat(std::declval<typename detail::GridScalar<P>::type>()...))>::type;

  /// With a grid function launches need no grid.
  KernelOf(const std::string &name, Function function, GridFunction grid = {})
      : core_(jit::KernelCore::shared(
            name, reinterpret_cast<void (*)()>(function),
            [name, function](const void *config, const std::vector<ArgumentFacts> &facts) {
              return trace(name, function, *static_cast<const Config *>(config), facts);
            },
            [](const void *config) { return config_text(*static_cast<const Config *>(config)); })),
        grid_(std::move(grid)) {}

  const std::string &name() const { return core_->name(); }

  /// Launches `grid` programs, after building the kernel if this config and specialisation is new to the
  /// device. Errors: of tracing (user), of the compiler (nereid, environment), of the run (device; out of
  /// bounds: user).
  template <class... A>
  Result<LaunchInfo> operator()(const Stream &stream, Grid grid, const Config &config,
                                const A &...arguments) const {
    return launch({}, stream, grid, config, arguments...);
  }
  /// The same with the kernel's own grid. Error (user): it has none. A config behind braces, which may be a
  /// grid or a config, says that they are a grid.
  template <class... A>
    requires(sizeof...(A) == sizeof...(P) && !detail::begins_with<Config, A...>)
  Result<LaunchInfo> operator()(const Stream &stream, const Config &config, const A &...arguments) const {
    NEREID_TRY(const Grid grid, this->grid(config, arguments...));
    return launch({}, stream, grid, config, arguments...);
  }

  template <class... A>
  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid,
                            const Config &config, const A &...arguments) const {
    static_assert(sizeof...(A) == sizeof...(P), "a launch gives every parameter of the kernel one argument");
    if constexpr (sizeof...(A) == sizeof...(P)) {
      const auto values = jit::to_arguments<P...>(arguments...);
      const auto key = config_key(config);
      return core_->launch(options, stream, grid, view(config, key), values);
    }
  }

  /// The kernel's own grid for these arguments. Error (user): it has none.
  template <class... A>
    requires(sizeof...(A) == sizeof...(P))
  Result<Grid> grid(const Config &config, const A &...arguments) const {
    if (!grid_)
      return user_error(name() + ": a launch without a grid, and the kernel has none of its own",
                        "Give the launch a grid, or the kernel a grid function");
    return std::apply(grid_, std::tuple_cat(std::tuple<const Config &>(config), scalar<P>(arguments)...));
  }

  /// Builds the kernel, or finds it in the device's cache. facts: in the order of the parameters, perhaps
  /// fewer.
  Result<std::shared_ptr<const CompiledKernel>>
  compile(const Config &config, const std::vector<ArgumentFacts> &facts, const Device &device) const {
    const auto key = config_key(config);
    return core_->compile(view(config, key), facts, device);
  }

  /// What a launch with these arguments specialises on.
  template <class... A> static std::vector<ArgumentFacts> facts(const A &...arguments) {
    static_assert(sizeof...(A) == sizeof...(P), "every parameter of the kernel has one argument");
    std::vector<ArgumentFacts> facts;
    for (const jit::ArgumentValue &value : jit::to_arguments<P...>(arguments...))
      facts.push_back(jit::facts_of(value));
    return facts;
  }

private:
  template <class Key> static jit::ConfigView view(const Config &config, const Key &key) {
    return {&config, {reinterpret_cast<const char *>(key.data()), key.size() * sizeof(key[0])}};
  }
  /// What the grid function takes of an argument.
  template <class Parameter, class A>
  static typename detail::GridScalar<Parameter>::type scalar(const A &argument) {
    if constexpr (std::tuple_size_v<typename detail::GridScalar<Parameter>::type> == 0)
      return {};
    else if constexpr (requires { argument.argument; })
      return {argument.argument};
    else
      return {argument};
  }

  std::shared_ptr<const jit::KernelCore> core_;
  GridFunction grid_;
};

namespace detail {

/// In place of a kernel's function where that is known at run time alone.
template <class Config, class... P> struct AnyFunction {};

template <class F> struct KernelBase;
template <class Config, class... P> struct KernelBase<void (*)(const Config &, P...)> {
  using type = KernelOf<Config, P...>;
};
template <class Config, class... P> struct KernelBase<AnyFunction<Config, P...>> {
  using type = KernelOf<Config, P...>;
};

template <class F>
concept KernelFunction = requires { typename KernelBase<F>::type; };

} // namespace detail

/// A kernel function ready to be launched: `Kernel<add> kernel;` for
/// `void add(const AddConfig &, Ptr<const f32>, ..., Int)`. Its name is that of the function. KernelOf, its
/// base, says what launches take.
template <auto function>
class Kernel : public detail::KernelBase<std::remove_const_t<decltype(function)>>::type {
  using Base = typename detail::KernelBase<std::remove_const_t<decltype(function)>>::type;

public:
  Kernel(typename Base::GridFunction grid = {})
    requires std::is_pointer_v<decltype(function)>
      : Base(std::string(detail::function_name<function>()), function, std::move(grid)) {}
  /// Under another name.
  explicit Kernel(const std::string &name, typename Base::GridFunction grid = {})
    requires std::is_pointer_v<decltype(function)>
      : Base(name, function, std::move(grid)) {}
  /// Of a function that is known at run time: `Kernel kernel("add", add)`.
  using Base::Base;
};

template <class Config, class... P>
Kernel(const char *, void (*)(const Config &, P...)) -> Kernel<detail::AnyFunction<Config, P...>{}>;
template <class Config, class... P>
Kernel(const std::string &, void (*)(const Config &, P...)) -> Kernel<detail::AnyFunction<Config, P...>{}>;
template <class Config, class... P, class GridFunction>
Kernel(const std::string &, void (*)(const Config &, P...), GridFunction)
    -> Kernel<detail::AnyFunction<Config, P...>{}>;

} // namespace nereid
