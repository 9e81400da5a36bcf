#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "jit/kernel.h"
#include "kernels/device_memory.h"
#include "kernels/specialize.h"

/// A kernel function with its config and arguments, each with its name: what compiling and launching need.
namespace nereid::kernels {

/// The argument of a Ptr<T>.
template <class T> struct MemoryArgument {
  std::string_view name;
  DeviceMemory memory;
  int64_t bytes;           ///< needed of the memory; 0: it is not read
  std::string_view layout; ///< for the error

  DevicePointer<T> value() const { return {memory.address}; }
};

/// The argument of an Int that is a dimension of the problem.
struct DimensionArgument {
  std::string_view name;
  int64_t dimension;

  int32_t value() const { return static_cast<int32_t>(dimension); }
};

/// The argument of an Int, Long or Float that the launch alone knows.
template <class N> struct NumberArgument {
  std::string_view name;
  N number;

  N value() const { return number; }
};
template <class N> NumberArgument(std::string_view, N) -> NumberArgument<N>;

/// An argument of a bound kernel, in the order of its parameters.
struct BoundArgument {
  std::string_view name;
  int64_t memory_bytes = 0;      ///< needed of its memory; 0 of memory that is not read, and of numbers
  std::vector<std::byte> number; ///< as the kernel takes it; empty: it is memory
};

/// A kernel of the library with its operands, ready to be launched.
class BoundKernel {
public:
  /// No launch with these operands: the config does not suffice for them.
  void refuse(Error error) { refusal_ = std::move(error); }
  /// Why; nothing where they are taken.
  const std::optional<Error> &refusal() const { return refusal_; }

  /// Error (User) naming an operand that is null or too short, or why it was refused; then those of a launch.
  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid) const {
    if (refusal_)
      return *refusal_;
    NEREID_CHECK(check_memory(name_, operands_));
    return function_->launch(options, stream, grid);
  }

  /// Builds the kernel for the alignment of the memory and, where they are known, the divisibility of the
  /// dimensions.
  Result<std::shared_ptr<const CompiledKernel>> compile(const Device &device, bool dimensions_known) const {
    return function_->compile(device, dimensions_known);
  }

  /// In the order of the kernel's parameters.
  std::span<const NeededMemory> operands() const { return operands_; }
  /// Operands and numbers.
  std::vector<BoundArgument> arguments() const { return function_->arguments(); }
  /// What the code takes for granted of the problem.
  const ShapeFacts &shape() const { return shape_; }
  Scaling scaling() const { return scaling_; }

private:
  template <auto function, class Config, class... A>
  friend BoundKernel bind_kernel(std::string_view name, const Config &config, const A &...arguments);

  /// The kernel function with its config and arguments.
  struct Function {
    virtual ~Function() = default;
    virtual Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream,
                                      Grid grid) const = 0;
    virtual Result<std::shared_ptr<const CompiledKernel>> compile(const Device &device,
                                                                  bool dimensions_known) const = 0;
    virtual std::vector<BoundArgument> arguments() const = 0;
  };
  template <auto function, class Config, class... A> class FunctionOf;

  std::string_view name_;
  std::vector<NeededMemory> operands_;
  std::optional<Error> refusal_;
  ShapeFacts shape_;
  Scaling scaling_ = Scaling::None;
  std::shared_ptr<const Function> function_;
};

namespace detail {

template <class T> void add_operand(std::vector<NeededMemory> &operands, const MemoryArgument<T> &argument) {
  operands.push_back({argument.name, argument.memory, argument.bytes, argument.layout});
}
template <class A> void add_operand(std::vector<NeededMemory> &, const A &) {}

template <class T> BoundArgument bound_argument(const MemoryArgument<T> &argument) {
  return {argument.name, argument.bytes, {}};
}
template <class A> BoundArgument bound_argument(const A &argument) {
  const auto value = argument.value();
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {argument.name, 0, {bytes.begin(), bytes.end()}};
}

/// What may be known of an argument before there is a launch.
template <class A> ArgumentFacts facts_before_launch(const A &argument, ArgumentFacts facts) {
  if constexpr (requires { argument.number; })
    facts = {};
  facts.name = argument.name;
  return facts;
}

} // namespace detail

template <auto function, class Config, class... A>
class BoundKernel::FunctionOf final : public BoundKernel::Function {
public:
  FunctionOf(const Kernel<function> &kernel, const Config &config, const A &...arguments)
      : kernel_(kernel), config_(config), arguments_(arguments...) {}

  Result<LaunchInfo> launch(const LaunchOptions &options, const Stream &stream, Grid grid) const override {
    return std::apply(
        [&](const A &...argument) {
          return kernel_.launch(options, stream, grid, config_, argument.value()...);
        },
        arguments_);
  }

  Result<std::shared_ptr<const CompiledKernel>> compile(const Device &device,
                                                        bool dimensions_known) const override {
    std::vector<ArgumentFacts> facts(sizeof...(A));
    std::apply(
        [&](const A &...argument) {
          if (dimensions_known)
            facts = kernel_.facts(argument.value()...);
          size_t index = 0;
          ((facts[index] = detail::facts_before_launch(argument, facts[index]), ++index), ...);
        },
        arguments_);
    return kernel_.compile(config_, facts, device);
  }

  std::vector<BoundArgument> arguments() const override {
    return std::apply(
        [](const A &...argument) { return std::vector<BoundArgument>{detail::bound_argument(argument)...}; },
        arguments_);
  }

private:
  const Kernel<function> &kernel_;
  Config config_;
  std::tuple<A...> arguments_;
};

/// Binds a kernel function to a config and its arguments, in the order of its parameters. `name` outlives the
/// result.
template <auto function, class Config, class... A>
BoundKernel bind_kernel(std::string_view name, const Config &config, const A &...arguments) {
  static const Kernel<function> kernel{std::string(name)};
  BoundKernel bound;
  bound.name_ = name;
  if constexpr (requires { config.shape; }) {
    bound.shape_ = config.shape;
    bound.scaling_ = config.scaling;
  }
  (detail::add_operand(bound.operands_, arguments), ...);
  bound.function_ =
      std::make_shared<BoundKernel::FunctionOf<function, Config, A...>>(kernel, config, arguments...);
  return bound;
}

} // namespace nereid::kernels
