#pragma once

#include <map>
#include <mutex>

#include "jit/device/device_interface.h"
#include "sim/machine.h"
#include "sim/memory.h"

namespace nereid::jit {

/// The simulator as a device. Everything is over when a call returns, so streams order nothing more; launches
/// on several threads run at the same time.
class SimDevice final : public DeviceInterface {
public:
  explicit SimDevice(const SimulatorOptions &options);

  DeviceKind kind() const override { return DeviceKind::Simulator; }
  std::string name() const override { return "gfx950 simulator"; }

  Result<uint64_t> allocate(size_t bytes) override;
  void free(uint64_t address) override;
  Status write(uint64_t to, const void *from, size_t bytes) override;
  Status read(void *to, uint64_t from, size_t bytes) override;
  Status fill(uint64_t address, uint8_t byte, size_t bytes) override;
  Result<HostMemory> host_memory() override;

  Result<std::shared_ptr<StreamState>> new_stream() override;
  Status synchronize(StreamState *) override { return {}; }
  Status synchronize_all() override { return {}; }
  Result<std::shared_ptr<EventState>> record(StreamState *) override;

  Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) override;
  Result<LaunchOutcome> launch(StreamState *, const LaunchRequest &request) override;

  // In sim_module.cpp.
  Result<std::shared_ptr<const LoadedModule>> load_module(std::span<const uint8_t> code_object,
                                                          std::span<const KernelMetadata> kernels) override;
  Result<LaunchOutcome> launch_module(StreamState *, const ModuleLaunch &launch) override;

private:
  /// Runs with what options, environment and the calling thread ask of launches.
  Result<sim::Report> run(const sim::CodeObject &code, sim::Launch launch);

  SimulatorOptions options_;
  Result<sim::Checks> checks_;
  Result<uint64_t> budget_;
  sim::Memory memory_;
  std::mutex mutex_;
  std::map<uint64_t, size_t> sizes_; ///< of what is allocated, by address
};

} // namespace nereid::jit
