// Code objects of any origin on the simulator, and whose fault their faults are.
#include "jit/device/device_fault.h"
#include "jit/device/sim_device.h"
#include "jit/device/sim_stream.h"

namespace nereid::jit {
namespace {

class SimModule : public LoadedModule {
public:
  explicit SimModule(sim::CodeObject code) : code(std::move(code)) {}
  sim::CodeObject code;
};

/// What the kernel does is its author's, what the simulator cannot do is Nereid's.
FaultBlame blame_module(sim::FaultKind kind) {
  switch (kind) {
  case sim::FaultKind::Unsupported:
    return {Owner::Nereid, "Please report the instruction"};
  case sim::FaultKind::OutOfBounds:
    return {Owner::User, "Check the sizes of the buffers, the arguments and the kernel's bounds"};
  case sim::FaultKind::Budget:
    return {Owner::User, "Check the bounds of the kernel's loops; NEREID_SIM_BUDGET or "
                         "SimulatorOptions::budget allows more instructions"};
  default:
    return {Owner::User, "Check the kernel at this instruction; docs/simulator.md says what was looked for"};
  }
}

Error fault_error(const sim::Fault &fault, const std::string &kernel) {
  DeviceFault out;
  out.kind = sim::fault_kind_name(fault.kind);
  out.blame = blame_module(fault.kind);
  out.text = fault.text;
  out.instruction = fault.instruction;
  out.address = fault.address;
  out.memory = fault.memory;
  out.workgroup = fault.workgroup;
  out.wave = fault.wave;
  out.lane = fault.lane;
  return describe_fault(out, kernel, fault.line);
}

} // namespace

Result<std::shared_ptr<const LoadedModule>> SimDevice::load_module(std::span<const uint8_t> code_object,
                                                                   std::span<const KernelMetadata>) {
  NEREID_TRY(sim::CodeObject code, sim::CodeObject::load(std::as_bytes(code_object)));
  return std::shared_ptr<const LoadedModule>(std::make_shared<SimModule>(std::move(code)));
}

Result<LaunchOutcome> SimDevice::launch_module(StreamState *stream, const ModuleLaunch &request) {
  sim::Launch launch;
  launch.kernel = request.kernel.name;
  launch.grid = request.grid.sizes();
  launch.block = request.block;
  launch.dynamic_lds = request.dynamic_lds;
  launch.kernarg.assign(request.kernarg.begin(), request.kernarg.end());
  const auto run_now = [this, launch, module = request.module.shared_from_this()]() -> Result<LaunchOutcome> {
    NEREID_TRY(const sim::Report report, run(static_cast<const SimModule &>(*module).code, launch));
    if (report.fault)
      return fault_error(*report.fault, launch.kernel);
    return LaunchOutcome{InstructionCounts{report.counts, report.longest_wave_instructions}, report.time};
  };
  auto *recorder = static_cast<SimStream *>(stream);
  if (!recorder || !recorder->is_recording())
    return run_now();
  recorder->record({SimOperation::Kind::Launch, [run_now]() -> Status {
                      NEREID_CHECK(run_now());
                      return {};
                    }});
  return LaunchOutcome();
}

} // namespace nereid::jit
