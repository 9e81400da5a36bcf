// Checks a launch and shares its programs among threads.
#include "dsl/interpreter/interpreter.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/threads.h"
#include "dsl/interpreter/machine.h"
#include "dsl/interpreter/poison.h"
#include "dsl/ir/fold.h"

namespace nereid {
namespace {

using interpreter::Launch;
using interpreter::Machine;

InterpretArgument::Kind kind_of(const ir::Type &type) {
  if (type.pointer)
    return InterpretArgument::Kind::Pointer;
  using Kind = InterpretArgument::Kind;
  switch (type.element) {
  case ir::Element::I64:
    return Kind::I64;
  case ir::Element::F32:
    return Kind::F32;
  case ir::Element::F64:
    return Kind::F64;
  case ir::Element::U32:
    return Kind::U32;
  case ir::Element::U64:
    return Kind::U64;
  case ir::Element::F16:
    return Kind::F16;
  case ir::Element::BF16:
    return Kind::BF16;
  case ir::Element::I1:
    return Kind::I1;
  default:
    return Kind::I32;
  }
}

Status check_argument(const ir::Function &function, size_t index, const InterpretArgument &given) {
  const ir::Argument &argument = function.arguments[index];
  const ir::Type &type = function.type(argument.value);
  const std::string name = index < function.argument_names.size() && !function.argument_names[index].empty()
                               ? "'" + function.argument_names[index] + "'"
                               : std::to_string(index);
  const auto error = [&](std::string_view message, std::string remedy) {
    return user_error(fmt::format("kernel {}: argument {} {}", function.name, name, message),
                      std::move(remedy));
  };
  if (kind_of(type) != given.kind)
    return error("is not " + type.text(), "Pass the types of the kernel's parameters");
  if (!type.pointer && (ir::is_float(type.element) || type.element == ir::Element::I1))
    return {};
  const int64_t value =
      type.pointer ? static_cast<int64_t>(given.bits) : ir::integer_value(type.element, given.bits);
  if (argument.constant && value != *argument.constant)
    return error(fmt::format("is {}, but the kernel was specialised for {}", value, *argument.constant),
                 "Trace the kernel for this value");
  const bool is_unsigned = type.pointer || !ir::is_signed(type.element);
  const bool divisible = is_unsigned ? given.bits % static_cast<uint64_t>(argument.divisibility) == 0
                                     : value % argument.divisibility == 0;
  if (!divisible)
    return error(
        fmt::format("is not a multiple of {}, for which the kernel was specialised", argument.divisibility),
        "Trace the kernel without this divisibility");
  return {};
}

/// Atomics and prints have an order.
bool is_ordered(const ir::Function &function) {
  bool ordered = false;
  ir::for_each_op(function, [&](const ir::Op &op, unsigned) {
    ordered = ordered || ir::is_atomic(op.opcode) || op.opcode == ir::Opcode::DevicePrint;
  });
  return ordered;
}

/// Deals programs to threads in order; the error of the first program in that order wins.
class Programs {
public:
  Programs(const Launch &launch, std::span<const uint64_t> arguments, uint64_t count)
      : launch_(launch), arguments_(arguments), count_(count) {}

  Status run(unsigned threads) {
    run_on_threads(static_cast<unsigned>(std::clamp<uint64_t>(count_, 1, threads)), [this] { work(); });
    return error_ ? Status(*error_) : Status();
  }

private:
  void work() {
    Machine machine(launch_, arguments_);
    for (uint64_t id; !failed_ && (id = next_++) < count_;) {
      const auto x = static_cast<uint32_t>(id % launch_.grid[0]);
      const uint64_t rest = id / launch_.grid[0];
      const Status status = machine.run(
          {x, static_cast<uint32_t>(rest % launch_.grid[1]), static_cast<uint32_t>(rest / launch_.grid[1])});
      if (status)
        continue;
      const std::lock_guard lock(mutex_);
      if (!error_ || id < error_program_) {
        error_ = status.error();
        error_program_ = id;
      }
      failed_ = true;
    }
  }

  const Launch &launch_;
  std::span<const uint64_t> arguments_;
  const uint64_t count_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  uint64_t error_program_ = 0;
};

} // namespace

Status interpret(const ir::Function &function, const std::array<uint32_t, 3> &grid,
                 std::span<const InterpretArgument> arguments, const HostMemory &memory,
                 const InterpretOptions &options) {
  if (arguments.size() != function.arguments.size())
    return user_error(fmt::format("kernel {} takes {} arguments, not {}", function.name,
                                  function.arguments.size(), arguments.size()),
                      "Pass one for each parameter after the config");
  uint64_t programs = 0;
  if (__builtin_mul_overflow(uint64_t{grid[0]} * grid[1], grid[2], &programs))
    return user_error(fmt::format("kernel {}: the grid of {} x {} x {} programs has more than 2^64",
                                  function.name, grid[0], grid[1], grid[2]),
                      "Launch a smaller grid");
  std::vector<uint64_t> bits;
  for (size_t i = 0; i < arguments.size(); ++i) {
    NEREID_CHECK(check_argument(function, i, arguments[i]));
    bits.push_back(arguments[i].bits);
  }
  const auto to_stderr = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  const Launch launch{function,
                      memory,
                      grid,
                      bits,
                      options.print ? options.print : to_stderr,
                      options.while_iterations,
                      interpreter::values_that_reach_addresses(function)};
  const unsigned wanted =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  return Programs(launch, bits, programs).run(is_ordered(function) ? 1 : wanted);
}

} // namespace nereid
