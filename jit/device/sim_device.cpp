// The simulator as a device: its options, its memory, its launches, and whose fault its faults are.
#include "jit/device/sim_device.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "jit/compile/compiled_kernel.h"
#include "jit/device/device_fault.h"
#include "jit/device/launch_scope.h"
#include "sim/machine.h"

namespace nereid::jit {
namespace {

class SimKernel : public LoadedKernel {
public:
  explicit SimKernel(sim::CodeObject code) : code(std::move(code)) {}
  sim::CodeObject code;
};

class SimStream : public StreamState {};

class SimEvent : public EventState {
public:
  Result<double> milliseconds_until(const EventState &later) const override {
    auto passed = static_cast<const SimEvent &>(later).when_ - when_;
    return std::chrono::duration<double, std::milli>(passed).count();
  }

private:
  std::chrono::steady_clock::time_point when_ = std::chrono::steady_clock::now();
};

Result<sim::Checks> checks_of(const SimulatorOptions &options) {
  const char *variable = std::getenv("NEREID_SIM_CHECKS");
  if (!options.checks.empty())
    return sim::Checks::parse(options.checks);
  return sim::Checks::parse(variable ? variable : "none");
}

/// Minutes of simulation.
constexpr uint64_t default_budget = uint64_t{1} << 32;

Result<uint64_t> budget_of(const SimulatorOptions &options) {
  if (options.budget)
    return options.budget;
  const char *variable = std::getenv("NEREID_SIM_BUDGET");
  if (!variable || !*variable)
    return default_budget;
  uint64_t value = 0;
  const char *end = variable + std::strlen(variable);
  const auto [stop, status] = std::from_chars(variable, end, value);
  if (status != std::errc() || stop != end || value == 0)
    return user_error("NEREID_SIM_BUDGET is '" + std::string(variable) + "'",
                      "It is a number of wave instructions, at least 1");
  return value;
}

/// Whose fault it is. What a compiled kernel cannot do without an error of Nereid's is Nereid's.
FaultBlame blame(sim::FaultKind kind) {
  switch (kind) {
  case sim::FaultKind::Misaligned:
    return {Owner::User,
            "Align the pointers that the kernel is given, and what it adds to them, to the element"};
  case sim::FaultKind::OutOfBounds:
    return {Owner::User,
            "Check the sizes of the buffers and the kernel's masks; NEREID_INTERPRET=1 names the element"};
  case sim::FaultKind::Undefined:
    return {Owner::User, "Write the buffer before it is read, or mask the elements that do not exist"};
  case sim::FaultKind::NanScale:
    return {Owner::User, "A scale byte is 0xFF: check the scales and what stands after their last row"};
  case sim::FaultKind::RaceGlobal:
    return {Owner::User, "Let one program write a byte that others use, or use atomics"};
  case sim::FaultKind::Budget:
    return {
        Owner::User,
        "Check the bounds of the kernel's loops; NEREID_SIM_BUDGET or SimulatorOptions::budget allows more "
        "instructions"};
  case sim::FaultKind::Trap:
    return {Owner::User, "NEREID_INTERPRET=1 runs the kernel on the host and names the element"};
  case sim::FaultKind::RaceLds:
  case sim::FaultKind::Wait:
  case sim::FaultKind::Hazard:
  case sim::FaultKind::Barrier:
  case sim::FaultKind::Unsupported:
    break;
  }
  return {Owner::Nereid, "Please report the kernel"};
}

Error fault_error(const sim::Fault &fault, const LaunchRequest &request) {
  DeviceFault out;
  out.kind = sim::fault_kind_name(fault.kind);
  out.blame = blame(fault.kind);
  out.trap = fault.kind == sim::FaultKind::Trap;
  out.text = fault.text;
  out.instruction = fault.instruction;
  out.address = fault.address;
  out.memory = fault.memory;
  out.workgroup = fault.workgroup;
  out.wave = fault.wave;
  out.lane = fault.lane;
  return describe_fault(out, request.compiled, request.kernarg);
}

} // namespace

SimDevice::SimDevice(const SimulatorOptions &options)
    : options_(options), checks_(checks_of(options)), budget_(budget_of(options)), memory_(options.memory) {}

Result<uint64_t> SimDevice::allocate(size_t bytes) {
  Result<uint64_t> address = memory_.allocate(bytes);
  if (address) {
    std::lock_guard lock(mutex_);
    sizes_[*address] = bytes;
  }
  return address;
}

void SimDevice::free(uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    sizes_.erase(address);
  }
  // Only addresses of allocate() come here, so there is nothing to report.
  (void)memory_.free(address);
}

Status SimDevice::write(uint64_t to, const void *from, size_t bytes) {
  return memory_.write(to, from, bytes);
}
Status SimDevice::read(void *to, uint64_t from, size_t bytes) { return memory_.read(from, to, bytes); }
Status SimDevice::fill(uint64_t address, uint8_t byte, size_t bytes) {
  return memory_.fill(address, std::byte{byte}, bytes);
}

Result<HostMemory> SimDevice::host_memory() {
  HostMemory memory;
  memory_.define_all(); // the interpreter writes without telling
  const sim::Memory::View view = memory_.view();
  std::lock_guard lock(mutex_);
  for (const auto &[address, size] : sizes_) {
    const sim::Block *block = size ? view.find(address, size) : nullptr;
    if (!block)
      continue;
    NEREID_CHECK(memory.add({address, size, block->data() + (address - block->address())}));
  }
  return memory;
}

Result<std::shared_ptr<StreamState>> SimDevice::new_stream() {
  return std::shared_ptr<StreamState>(std::make_shared<SimStream>());
}

Result<std::shared_ptr<EventState>> SimDevice::record(StreamState *) {
  return std::shared_ptr<EventState>(std::make_shared<SimEvent>());
}

Result<std::shared_ptr<const LoadedKernel>> SimDevice::load(const CompiledKernel &kernel) {
  NEREID_TRY(sim::CodeObject code, sim::CodeObject::load(std::as_bytes(kernel.code_object())));
  return std::shared_ptr<const LoadedKernel>(std::make_shared<SimKernel>(std::move(code)));
}

Result<LaunchOutcome> SimDevice::launch(StreamState *, const LaunchRequest &request) {
  sim::Launch launch;
  NEREID_TRY(launch.checks, checks_);
  NEREID_TRY(launch.instruction_budget, budget_);
  if (const std::optional<uint64_t> left = LaunchBudget::left())
    launch.instruction_budget = std::min(launch.instruction_budget, *left);
  launch.grid = request.grid.sizes();
  launch.block = {request.block, 1, 1};
  launch.kernarg.assign(request.kernarg.begin(), request.kernarg.end());
  launch.threads = options_.threads;
  const LaunchTiming timing =
      TimedLaunches::current().value_or(LaunchTiming{options_.timing, options_.caches});
  launch.timing = timing.timing;
  launch.caches = timing.caches;
  NEREID_TRY(const sim::Report report,
             sim::run(static_cast<const SimKernel &>(request.kernel).code, memory_, launch));
  // A launch that is timed alone also ends with this fault where it is too long to be timed.
  const bool used_up =
      report.fault && report.fault->kind == sim::FaultKind::Budget && launch.timing != sim::Timing::Only;
  LaunchBudget::spend(used_up ? launch.instruction_budget : report.counts.total);
  if (report.fault)
    return fault_error(*report.fault, request);
  return LaunchOutcome{InstructionCounts{report.counts, report.longest_wave_instructions}, report.time};
}

std::shared_ptr<DeviceInterface> make_sim_device(const SimulatorOptions &options) {
  return std::make_shared<SimDevice>(options);
}

} // namespace nereid::jit
