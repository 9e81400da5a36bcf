// The path of a launch: look-up without allocation, else trace, build and load; then the device or the
// interpreter.
#include "jit/kernel_core.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/float_environment.h"
#include "jit/build.h"
#include "jit/compile/fork_guard.h"
#include "jit/compile/print_plan.h"
#include "jit/compile/stopwatch.h"
#include "jit/device/device_interface.h"
#include "jit/interpret.h"

namespace nereid::jit {
namespace {

constexpr int64_t specialized_divisor = 16;

/// Bytes that grow on the stack first: the fast path allocates nothing.
class KeyBytes {
public:
  void add(const void *data, size_t size) {
    if (size == 0)
      return;
    if (long_.empty() && size_ + size <= sizeof(short_)) {
      std::memcpy(short_ + size_, data, size);
      size_ += size;
      return;
    }
    if (long_.empty())
      long_.assign(short_, size_);
    long_.append(static_cast<const char *>(data), size);
  }
  template <class T> void add(const T &value) { add(&value, sizeof(value)); }
  std::string_view view() const {
    return long_.empty() ? std::string_view(short_, size_) : std::string_view(long_);
  }

private:
  char short_[512];
  size_t size_ = 0;
  std::string long_;
};

/// A buffer of fewer bytes is small.
constexpr uint64_t small_buffer = uint64_t(1) << 31;
constexpr int64_t small_range = 32;

/// What a kernel may be compiled for of an argument, as its byte in the key.
enum class Fact : char {
  None = '0',
  Divisible = 'd',
  One = '1',
  Small = 's',
  SmallDivisible = 'S',
  Other = 'f'
};

ArgumentFacts facts_of(Fact fact) {
  const bool is_divisible = fact == Fact::Divisible || fact == Fact::SmallDivisible;
  const bool is_small = fact == Fact::Small || fact == Fact::SmallDivisible;
  return {.divisibility = is_divisible ? specialized_divisor : 1,
          .constant = fact == Fact::One ? std::optional<int64_t>(1) : std::nullopt,
          .pointer_range = is_small ? small_range : 0};
}

void add_fact(KeyBytes &key, const ArgumentFacts &facts) {
  for (const Fact fact : {Fact::None, Fact::Divisible, Fact::One, Fact::Small, Fact::SmallDivisible}) {
    const ArgumentFacts common = facts_of(fact);
    if (facts.divisibility == common.divisibility && facts.constant == common.constant &&
        facts.pointer_range == common.pointer_range)
      return key.add(fact);
  }
  key.add(Fact::Other);
  key.add(facts.divisibility);
  key.add(facts.constant.has_value());
  key.add(facts.constant.value_or(0));
  key.add(facts.pointer_range);
}

/// Pointers and integers.
bool has_facts(ArgumentValue::Kind kind) {
  switch (kind) {
  case ArgumentValue::Kind::Pointer:
  case ArgumentValue::Kind::I32:
  case ArgumentValue::Kind::I64:
  case ArgumentValue::Kind::U32:
  case ArgumentValue::Kind::U64:
    return true;
  case ArgumentValue::Kind::F32:
  case ArgumentValue::Kind::F64:
  case ArgumentValue::Kind::F16:
  case ArgumentValue::Kind::BF16:
  case ArgumentValue::Kind::I1:
    break;
  }
  return false;
}

Fact fact_of(const ArgumentValue &argument) {
  using Kind = ArgumentValue::Kind;
  if (!argument.is_specialized || !has_facts(argument.kind))
    return Fact::None;
  if (argument.bits == 1 && argument.kind != Kind::Pointer)
    return Fact::One;
  const bool is_divisible = argument.bits % specialized_divisor == 0;
  if (argument.extent != 0 && argument.extent < small_buffer)
    return is_divisible ? Fact::SmallDivisible : Fact::Small;
  return is_divisible ? Fact::Divisible : Fact::None;
}

/// Those of a launch at once: it is on the fast path.
void add_facts(KeyBytes &key, std::span<const ArgumentValue> arguments) {
  constexpr size_t at_once = 32;
  std::array<Fact, at_once> facts;
  for (; !arguments.empty(); arguments = arguments.subspan(std::min(at_once, arguments.size()))) {
    const size_t count = std::min(at_once, arguments.size());
    for (size_t i = 0; i < count; ++i)
      facts[i] = fact_of(arguments[i]);
    key.add(facts.data(), count);
  }
}

void start_key(KeyBytes &key, const KernelCore *core, bool interpret, ConfigView config) {
  key.add(reinterpret_cast<uintptr_t>(core));
  key.add(interpret);
  key.add(config.bytes.data(), config.bytes.size());
}

bool interpret_by_environment() {
  const char *value = std::getenv("NEREID_INTERPRET");
  return value && *value && std::strcmp(value, "0") != 0;
}

/// Arguments as the kernarg segment has them: in order, each at a multiple of its size.
class Kernarg {
public:
  Status pack(std::span<const ArgumentValue> arguments) {
    for (const ArgumentValue &argument : arguments) {
      const size_t bytes = argument.bytes();
      const size_t at = (size_ + bytes - 1) & ~(bytes - 1); // a power of two
      if (at + bytes > max_bytes)
        return user_error("the kernel has too many arguments", "A kernel takes at most 512 bytes of them");
      // Words of a fixed size take one instruction; what is beyond the argument is overwritten or left out.
      put(size_, 0);
      put(at, argument.bits);
      size_ = at + bytes;
    }
    return {};
  }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
  static constexpr size_t max_bytes = 512;

  void put(size_t at, uint64_t word) { std::memcpy(data_ + at, &word, sizeof(word)); }

  alignas(16) std::byte data_[max_bytes + sizeof(uint64_t)];
  size_t size_ = 0;
};

Status check(const Grid &grid, std::span<const ArgumentValue> arguments, const DeviceInterface &device,
             const std::string &kernel) {
  if (Status valid = grid.check(); !valid)
    return user_error(fmt::format("kernel '{}': {}", kernel, valid.error().message), valid.error().remedy);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].device && arguments[i].device != &device && !device.has_access(*arguments[i].device))
      return user_error(
          fmt::format("kernel '{}': the buffer of argument {} lives on another device", kernel, i),
          "Allocate it on the device of the stream, or call Device::enable_access");
    if (arguments[i].kind == ArgumentValue::Kind::Pointer && arguments[i].bits == no_address)
      return user_error(
          fmt::format("kernel '{}': argument {} was moved beyond the address space of 2^64 bytes", kernel, i),
          "Check the offset of the DevicePointer");
  }
  return {};
}

/// In x, of all programs together.
Status check_items(const Grid &grid, const CompiledKernel &kernel) {
  if (grid.x * int64_t{kernel.block()} <= int64_t{UINT32_MAX})
    return {};
  return user_error(fmt::format("kernel '{}': {} programs of {} work-items in x are more than 2^32 - 1 "
                                "work-items",
                                kernel.name(), grid.x, kernel.block()),
                    "Spread the programs over x and y, or use fewer waves");
}

/// Building takes time and loads code, which no capture can take up.
Status check_may_build(const Stream &stream, const std::string &kernel) {
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (!capturing)
    return {};
  return user_error(fmt::format("kernel '{}' is not built for this config and these arguments, and its "
                                "stream is being captured",
                                kernel),
                    "Launch it before the capture, or prepare it with LaunchOptions::prepare");
}

/// The stream may do it later: what it needs is copied or shared.
Status interpret_in_order(const CompiledKernel &kernel, const Grid &grid,
                          std::span<const ArgumentValue> arguments, const Stream &stream) {
  DeviceInterface &device = stream.interface();
  return device.run_on_host(stream.state(), [&device, grid, shared = kernel.shared_from_this(),
                                             values = std::vector(arguments.begin(), arguments.end())] {
    return run_interpreter(shared->function(), grid, values, device);
  });
}

Result<LaunchOutcome> launch_compiled(const ReadyKernel &ready, const Grid &grid,
                                      std::span<const ArgumentValue> arguments, const Stream &stream) {
  Kernarg kernarg;
  NEREID_CHECK(kernarg.pack(arguments));
  return stream.interface().launch(
      stream.state(), {*ready.loaded, *ready.compiled, grid, ready.compiled->block(), kernarg.bytes()});
}

/// Waits for the launch and writes its lines to stderr, those of a launch that failed too.
Result<LaunchOutcome> launch_printing(const ReadyKernel &ready, const Grid &grid,
                                      std::span<const ArgumentValue> arguments, const Stream &stream) {
  NEREID_TRY(const bool capturing, stream.is_capturing());
  if (capturing)
    return user_error(
        fmt::format("kernel '{}' has a device_print, and its stream is being captured",
                    ready.compiled->name()),
        "A launch of a graph prints nothing: leave the device_print out, or launch without a graph");
  DeviceInterface &device = stream.interface();
  NEREID_TRY(const uint64_t buffer, device.allocate(PrintPlan::buffer_bytes));
  const auto launch_and_read = [&]() -> Result<LaunchOutcome> {
    NEREID_CHECK(device.fill(buffer, 0, PrintPlan::buffer_bytes));
    std::vector<ArgumentValue> all(arguments.begin(), arguments.end());
    all.push_back({ArgumentValue::Kind::I64, buffer});
    Result<LaunchOutcome> outcome = launch_compiled(ready, grid, all, stream);
    const Status done = outcome ? device.synchronize(stream.state()) : Status();
    std::vector<std::byte> bytes(PrintPlan::buffer_bytes);
    if (const Status is_read = device.read(bytes.data(), buffer, bytes.size()); is_read)
      for (const std::string &line : printed_lines(*ready.prints, bytes))
        fmt::print(stderr, "{}\n", line);
    NEREID_CHECK(done);
    return outcome;
  };
  Result<LaunchOutcome> outcome = launch_and_read();
  device.free(buffer);
  return outcome;
}

/// What building gave, as the launch that built it reports it.
void record_build(const ReadyKernel &ready, LaunchInfo &info) {
  info.cache = ready.compiled->cache();
  info.jit = ready.compiled->times();
  info.jit.load = ready.load_ms;
}

} // namespace

ArgumentFacts facts_of(const ArgumentValue &argument) { return facts_of(fact_of(argument)); }

KernelCore::KernelCore(std::string name, Trace trace, ConfigText config_text)
    : name_(std::move(name)), trace_(std::move(trace)), config_text_(config_text) {}

std::shared_ptr<const KernelCore> KernelCore::shared(const std::string &name, void (*function)(), Trace trace,
                                                     ConfigText config_text) {
  const Building building;
  static std::mutex mutex;
  static std::map<std::pair<void (*)(), std::string>, std::shared_ptr<const KernelCore>> cores;
  std::lock_guard lock(mutex);
  std::shared_ptr<const KernelCore> &core = cores[{function, name}];
  if (!core)
    core = std::make_shared<const KernelCore>(name, std::move(trace), config_text);
  return core;
}

Result<ReadyKernel> KernelCore::build(ConfigView config, const std::vector<ArgumentFacts> &facts,
                                      DeviceInterface &device, bool interpret) const {
  BuildRequest request;
  Stopwatch watch;
  NEREID_TRY(ir::Function function, trace_(config.config, facts));
  ReadyKernel ready;
  if (!interpret) {
    NEREID_TRY(ready.prints, lower_prints(function));
  }
  request.times.trace = watch.milliseconds();
  request.function = std::make_shared<const ir::Function>(std::move(function));
  request.config = config_text_(config.config);
  request.facts = facts;
  request.code = !interpret;
  NEREID_TRY(const DiskCache disk, DiskCache::from_environment());
  NEREID_TRY(ready.compiled, build_kernel(request, disk));
  if (interpret)
    return ready;
  watch.restart();
  auto loaded = device.load(*ready.compiled);
  if (!loaded && disk.enabled() && ready.compiled->cache() != CacheLevel::None) {
    // An entry with the right checksum may hold no code of this kernel.
    std::remove(disk.path(ready.compiled->key()).c_str());
    NEREID_TRY(ready.compiled, build_kernel(std::move(request), disk));
    watch.restart();
    loaded = device.load(*ready.compiled);
  }
  NEREID_TRY(ready.loaded, std::move(loaded));
  ready.load_ms = watch.milliseconds();
  return ready;
}

Result<std::shared_ptr<const CompiledKernel>>
KernelCore::compile(ConfigView config, const std::vector<ArgumentFacts> &facts, const Device &device) const {
  NEREID_CHECK(check_not_forked_while_building());
  const Building building;
  const FloatEnvironment defaults;
  KeyBytes key;
  start_key(key, this, false, config);
  for (const ArgumentFacts &fact : facts)
    add_fact(key, fact);
  DeviceInterface &interface = device.interface();
  NEREID_TRY(const ReadyKernel *ready, interface.kernels().find_or_build(key.view(), [&] {
    return build(config, facts, interface, false);
  }));
  return ready->compiled;
}

Result<LaunchInfo> KernelCore::launch(const LaunchOptions &options, const Stream &stream, Grid grid,
                                      ConfigView config, std::span<const ArgumentValue> arguments) const {
  NEREID_CHECK(check_not_forked_while_building());
  DeviceInterface &device = stream.interface();
  NEREID_CHECK(check(grid, arguments, device, name_));
  const bool interpret = options.interpret.value_or(interpret_by_environment());
  KeyBytes key;
  start_key(key, this, interpret, config);
  add_facts(key, arguments);

  LaunchInfo info;
  info.grid = grid;
  info.interpreted = interpret;
  info.cache = CacheLevel::Memory;
  const ReadyKernel *ready = device.kernels().find(key.view());
  if (!ready) {
    NEREID_CHECK(check_may_build(stream, name_));
    const Building building;
    const FloatEnvironment defaults; // times and tables' sizes are inexact, which a program may have trap
    const auto build_now = [&] {
      std::vector<ArgumentFacts> facts;
      for (const ArgumentValue &argument : arguments)
        facts.push_back(facts_of(argument));
      Result<ReadyKernel> built = build(config, facts, device, interpret);
      if (built)
        record_build(*built, info);
      return built;
    };
    NEREID_TRY(ready, device.kernels().find_or_build(key.view(), build_now));
  }
  info.compiled = ready->compiled;
  NEREID_CHECK(check_items(grid, *ready->compiled));

  if (options.prepare)
    return info;

  if (interpret) {
    NEREID_CHECK(interpret_in_order(*ready->compiled, grid, arguments, stream));
  } else {
    NEREID_TRY(const LaunchOutcome outcome, ready->prints ? launch_printing(*ready, grid, arguments, stream)
                                                          : launch_compiled(*ready, grid, arguments, stream));
    info.instructions = outcome.instructions;
    info.time = outcome.time;
  }
  return info;
}

} // namespace nereid::jit
