#pragma once

#include <map>
#include <mutex>

#include "jit/device/device_interface.h"
#include "jit/device/external_streams.h"
#include "sim/machine.h"
#include "sim/memory.h"

namespace nereid::jit {

/// The simulator as a device. Everything is over when a call returns, unless a capture records it, so streams
/// order nothing more; launches on several threads run at the same time.
class SimDevice final : public DeviceInterface {
public:
  explicit SimDevice(const SimulatorOptions &options);

  DeviceKind kind() const override { return DeviceKind::Simulator; }
  std::string name() const override { return "gfx950 simulator"; }
  Status check() const override;
  const DeviceProperties &properties() const override { return properties_; }

  Result<uint64_t> allocate(size_t bytes) override;
  void free(uint64_t address) override;
  Result<uint64_t> allocate_in_order(StreamState *, size_t bytes) override;
  void free_in_order(StreamState *, uint64_t address) override;
  Result<PoolUse> pool_use() override;
  Status trim_pool(size_t) override { return {}; }
  Status check_memory(uint64_t address, size_t bytes) override;

  Status write(uint64_t to, const void *from, size_t bytes) override;
  Status read(void *to, uint64_t from, size_t bytes) override;
  Status fill(uint64_t address, uint8_t byte, size_t bytes) override;
  Status write_async(StreamState *stream, uint64_t to, const void *from, size_t bytes) override;
  Status read_async(StreamState *stream, void *to, uint64_t from, size_t bytes) override;
  Status fill_async(StreamState *stream, uint64_t address, FillPattern pattern, size_t count) override;
  Status copy_async(StreamState *stream, uint64_t to, DeviceInterface &source, uint64_t from,
                    size_t bytes) override;
  Result<HostMemory> host_memory() override;

  Result<bool> can_access(const DeviceInterface &) override { return false; }
  Status enable_access(const DeviceInterface &peer) override;

  Result<std::shared_ptr<StreamState>> new_stream() override;
  Result<std::shared_ptr<StreamState>> external_stream(void *handle) override;
  Status synchronize(StreamState *) override { return {}; }
  Status synchronize_all() override { return {}; }
  Result<std::shared_ptr<EventState>> record(StreamState *) override;
  Status wait(StreamState *, const EventState &) override { return {}; }

  Result<bool> is_capturing(StreamState *stream) override;
  Status begin_capture(StreamState &stream) override;
  Result<std::shared_ptr<GraphState>> end_capture(StreamState &stream) override;

  Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) override;
  Result<LaunchOutcome> launch(StreamState *stream, const LaunchRequest &request) override;
  Status run_on_host(StreamState *stream, const std::function<Status()> &work) override;

  // In sim_module.cpp.
  Result<std::shared_ptr<const LoadedModule>> load_module(std::span<const uint8_t> code_object,
                                                          std::span<const KernelMetadata> kernels) override;
  Result<LaunchOutcome> launch_module(StreamState *stream, const ModuleLaunch &launch) override;

private:
  /// Runs with what options, environment and the calling thread ask of launches.
  Result<sim::Report> run(const sim::CodeObject &code, sim::Launch launch);
  Result<LaunchOutcome> launch_now(const LaunchRequest &request);

  SimulatorOptions options_;
  Result<sim::Checks> checks_;
  Result<uint64_t> budget_;
  DeviceProperties properties_;
  sim::Memory memory_;
  ExternalStreams external_;
  std::mutex mutex_;
  std::map<uint64_t, size_t> sizes_; ///< of what is allocated, by address
  uint64_t pool_bytes_ = 0;          ///< of it, allocated in the order of streams
};

} // namespace nereid::jit
