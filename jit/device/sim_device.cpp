// The simulator as a device: its options, its memory, its launches, and whose fault its faults are.
#include "jit/device/sim_device.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "jit/compile/compiled_kernel.h"
#include "jit/device/device_fault.h"
#include "jit/device/launch_scope.h"
#include "jit/device/sim_stream.h"
#include "sim/machine.h"

namespace nereid::jit {
namespace {

class SimKernel : public LoadedKernel {
public:
  explicit SimKernel(sim::CodeObject code) : code(std::move(code)) {}
  sim::CodeObject code;
};

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

/// A block of a snapshot, which keeps it mapped.
class SimBacking : public HostBacking {
public:
  SimBacking(sim::Memory::View view, const sim::Block &block)
      : view_(std::move(view)), definedness_(block.definedness()) {}

  std::byte *undefined_bits() override {
    return definedness_.anything_undefined() ? definedness_.bits() : nullptr;
  }
  std::byte *undefined_bits_to_set() override {
    std::byte *bits = definedness_.bits();
    if (bits)
      definedness_.expect_undefined();
    return bits;
  }

private:
  sim::Memory::View view_;
  sim::Definedness &definedness_;
};

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
FaultBlame blame_kernel(sim::FaultKind kind) {
  switch (kind) {
  case sim::FaultKind::Misaligned:
    return {Owner::User,
            "Align the pointers that the kernel is given, and what it adds to them, to the element"};
  case sim::FaultKind::OutOfBounds:
    return {Owner::User, "Mask the access, e.g. load(p, i < n), or check the sizes of the buffers; "
                         "NEREID_INTERPRET=1 names the element"};
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

/// Whether an address is as far from every buffer as most offsets are that wrapped in 32 bits, and no farther
/// than such an offset in elements of 8 bytes.
bool may_have_wrapped(uint64_t address, const sim::Memory::View &memory) {
  constexpr uint64_t least = uint64_t{1} << 30, most = uint64_t{1} << 34;
  const sim::Block *below = memory.before(address), *above = memory.after(address);
  const uint64_t beyond = below ? address - std::min(address, below->address() + below->size()) : most;
  const uint64_t ahead = above ? above->address() - address : most;
  const uint64_t miss = std::min(beyond, ahead);
  return miss >= least && miss < most;
}

constexpr FaultBlame wrapped = {
    Owner::User,
    "Mask the access, e.g. load(p, i < n). It is so far from every buffer that 32-bit arithmetic may have "
    "wrapped: NEREID_INTERPRET=1 finds where, and Long(row) * stride does not wrap"};

Error fault_error(const sim::Fault &fault, const LaunchRequest &request, const sim::Memory::View &memory) {
  DeviceFault out;
  out.kind = sim::fault_kind_name(fault.kind);
  out.blame = fault.memory && may_have_wrapped(*fault.memory, memory) ? wrapped : blame_kernel(fault.kind);
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

/// Of a MI355X (AMD, ROCm documentation, "GPU hardware specifications", and its data sheet); a workgroup's
/// LDS is all that a compute unit has.
DeviceProperties properties_of(const SimulatorOptions &options) {
  return {.architecture = "gfx950",
          .compute_units = 256,
          .wave_size = 64,
          .lds_bytes = 160 * 1024,
          .memory_bytes = options.memory,
          .clock_mhz = 2400,
          .memory_clock_mhz = 2000};
}

/// The stream while it is in a capture, else null.
SimStream *recording(StreamState *stream) {
  auto *state = static_cast<SimStream *>(stream);
  return state && state->is_recording() ? state : nullptr;
}

/// Does the work now or records it.
template <class Work> Status do_or_record(StreamState *stream, SimOperation::Kind kind, const Work &work) {
  SimStream *recorder = recording(stream);
  if (!recorder)
    return work();
  recorder->record({kind, work});
  return {};
}

/// A launch to be done later, with shares of what it needs.
class RecordedLaunch {
public:
  explicit RecordedLaunch(const LaunchRequest &request)
      : kernel_(request.kernel.shared_from_this()), compiled_(request.compiled.shared_from_this()),
        grid_(request.grid), block_(request.block), kernarg_(request.kernarg.begin(), request.kernarg.end()) {
  }
  LaunchRequest request() const { return {*kernel_, *compiled_, grid_, block_, kernarg_}; }

private:
  std::shared_ptr<const LoadedKernel> kernel_;
  std::shared_ptr<const CompiledKernel> compiled_;
  Grid grid_;
  unsigned block_;
  std::vector<std::byte> kernarg_;
};

} // namespace

SimDevice::SimDevice(const SimulatorOptions &options)
    : options_(options), checks_(checks_of(options)), budget_(budget_of(options)),
      properties_(properties_of(options)), memory_(options.memory) {}

Status SimDevice::check() const {
  NEREID_CHECK(checks_);
  NEREID_CHECK(budget_);
  return {};
}

Result<uint64_t> SimDevice::allocate(size_t bytes) {
  // The entry first: what the host has no memory for is not allocated.
  std::map<uint64_t, size_t> made{{0, bytes}};
  auto entry = made.extract(made.begin());
  NEREID_TRY(entry.key(), memory_.allocate(bytes));
  const uint64_t address = entry.key();
  std::lock_guard lock(mutex_);
  sizes_.insert(std::move(entry));
  return address;
}

void SimDevice::free(uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    sizes_.erase(address);
  }
  // Only addresses of allocate() come here, so there is nothing to report. Freeing is part of destructors:
  // where the host has no memory for the new list of buffers, the old one stays.
  try {
    (void)memory_.free(address);
  } catch (const std::bad_alloc &) {
  }
}

Result<uint64_t> SimDevice::allocate_in_order(StreamState *, size_t bytes) {
  NEREID_TRY(const uint64_t address, allocate(bytes));
  std::lock_guard lock(mutex_);
  pool_bytes_ += bytes;
  return address;
}

void SimDevice::free_in_order(StreamState *, uint64_t address) {
  {
    std::lock_guard lock(mutex_);
    pool_bytes_ -= sizes_[address];
  }
  free(address);
}

Result<PoolUse> SimDevice::pool_use() {
  std::lock_guard lock(mutex_);
  return PoolUse{pool_bytes_, pool_bytes_};
}

Status SimDevice::check_memory(uint64_t address, size_t bytes) {
  if (memory_.view().find(address, bytes))
    return {};
  return user_error("external memory of " + std::to_string(bytes) +
                        " bytes is not within a buffer of this simulator",
                    "Use memory that was allocated on the device");
}

Status SimDevice::write(uint64_t to, const void *from, size_t bytes) {
  return memory_.write(to, from, bytes);
}
Status SimDevice::read(void *to, uint64_t from, size_t bytes) { return memory_.read(from, to, bytes); }
Status SimDevice::fill(uint64_t address, uint8_t byte, size_t bytes) {
  return memory_.fill(address, std::byte{byte}, bytes);
}

Status SimDevice::write_async(StreamState *stream, uint64_t to, const void *from, size_t bytes) {
  return do_or_record(stream, SimOperation::Kind::Write, [=, this] { return write(to, from, bytes); });
}

Status SimDevice::read_async(StreamState *stream, void *to, uint64_t from, size_t bytes) {
  return do_or_record(stream, SimOperation::Kind::Read, [=, this] { return read(to, from, bytes); });
}

Status SimDevice::fill_async(StreamState *stream, uint64_t address, FillPattern pattern, size_t count) {
  return do_or_record(stream, SimOperation::Kind::Fill, [=, this]() -> Status {
    if (pattern.bytes == 1)
      return fill(address, static_cast<uint8_t>(pattern.bits), count);
    std::vector<std::byte> content(count * pattern.bytes);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(&content[i * pattern.bytes], &pattern.bits, pattern.bytes);
    return write(address, content.data(), content.size());
  });
}

Status SimDevice::copy_async(StreamState *stream, uint64_t to, DeviceInterface &source, uint64_t from,
                             size_t bytes) {
  return do_or_record(stream, SimOperation::Kind::Copy, [=, this, &source]() -> Status {
    std::vector<std::byte> content(bytes);
    NEREID_CHECK(source.read(content.data(), from, bytes));
    return write(to, content.data(), bytes);
  });
}

Status SimDevice::enable_access(const DeviceInterface &) {
  return environment_error("simulators have no access to each other's memory",
                           "Copy between the two devices");
}

Result<HostMemory> SimDevice::host_memory() {
  HostMemory memory;
  const sim::Memory::View view = memory_.view();
  std::lock_guard lock(mutex_);
  for (const auto &[address, size] : sizes_) {
    const sim::Block *block = size ? view.find(address, size) : nullptr;
    if (!block)
      continue;
    NEREID_CHECK(memory.add({address, size, block->data(), {}, std::make_shared<SimBacking>(view, *block)}));
  }
  return memory;
}

Result<std::shared_ptr<StreamState>> SimDevice::new_stream() {
  return std::shared_ptr<StreamState>(std::make_shared<SimStream>());
}

Result<std::shared_ptr<StreamState>> SimDevice::external_stream(void *handle) {
  if (!handle)
    return std::shared_ptr<StreamState>();
  return external_.find_or_make(handle, [&] { return new_stream(); });
}

Result<std::shared_ptr<EventState>> SimDevice::record(StreamState *) {
  return std::shared_ptr<EventState>(std::make_shared<SimEvent>());
}

Result<bool> SimDevice::is_capturing(StreamState *stream) { return recording(stream) != nullptr; }

Status SimDevice::begin_capture(StreamState &stream) {
  static_cast<SimStream &>(stream).start();
  return {};
}

Result<std::shared_ptr<GraphState>> SimDevice::end_capture(StreamState &stream) {
  return std::shared_ptr<GraphState>(std::make_shared<SimGraph>(static_cast<SimStream &>(stream).finish()));
}

Result<std::shared_ptr<const LoadedKernel>> SimDevice::load(const CompiledKernel &kernel) {
  NEREID_TRY(sim::CodeObject code, sim::CodeObject::load(std::as_bytes(kernel.code_object())));
  return std::shared_ptr<const LoadedKernel>(std::make_shared<SimKernel>(std::move(code)));
}

Result<LaunchOutcome> SimDevice::launch(StreamState *stream, const LaunchRequest &request) {
  SimStream *recorder = recording(stream);
  if (!recorder)
    return launch_now(request);
  recorder->record({SimOperation::Kind::Launch, [recorded = RecordedLaunch(request), this]() -> Status {
                      NEREID_CHECK(launch_now(recorded.request()));
                      return {};
                    }});
  return LaunchOutcome();
}

Status SimDevice::run_on_host(StreamState *stream, const std::function<Status()> &work) {
  return do_or_record(stream, SimOperation::Kind::Host, work);
}

Result<sim::Report> SimDevice::run(const sim::CodeObject &code, sim::Launch launch) {
  NEREID_TRY(launch.checks, checks_);
  NEREID_TRY(launch.instruction_budget, budget_);
  if (const std::optional<uint64_t> left = LaunchBudget::left())
    launch.instruction_budget = std::min(launch.instruction_budget, *left);
  launch.threads = options_.threads;
  const LaunchTiming timing =
      TimedLaunches::current().value_or(LaunchTiming{options_.timing, options_.caches});
  launch.timing = timing.timing;
  launch.caches = timing.caches;
  NEREID_TRY(sim::Report report, sim::run(code, memory_, launch));
  if (report.fault)
    count_fault();
  // A launch that is timed alone also ends with this fault where it is too long to be timed.
  const bool used_up =
      report.fault && report.fault->kind == sim::FaultKind::Budget && launch.timing != sim::Timing::Only;
  LaunchBudget::spend(used_up ? launch.instruction_budget : report.counts.total);
  return report;
}

Result<LaunchOutcome> SimDevice::launch_now(const LaunchRequest &request) {
  sim::Launch launch;
  launch.grid = request.grid.sizes();
  launch.block = {request.block, 1, 1};
  launch.kernarg.assign(request.kernarg.begin(), request.kernarg.end());
  NEREID_TRY(const sim::Report report,
             run(static_cast<const SimKernel &>(request.kernel).code, std::move(launch)));
  if (report.fault)
    return fault_error(*report.fault, request, memory_.view());
  return LaunchOutcome{InstructionCounts{report.counts, report.longest_wave_instructions}, report.time};
}

std::shared_ptr<DeviceInterface> make_sim_device(const SimulatorOptions &options) {
  return std::make_shared<SimDevice>(options);
}

} // namespace nereid::jit
