#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/device/device_interface.h"
#include "jit/device/external_streams.h"
#include "jit/device/hip_api.h"

namespace nereid::jit {

/// Calls a function of HIP with a GPU as the thread's current device.
template <class Doing, class... P, class... A>
Status hip_call(const HipApi &api, int index, const Doing &doing, const char *name, int (*function)(P...),
                A... arguments) {
  const CurrentGpu current(api, index);
  NEREID_CHECK(current.check(doing));
  return api.check(function(static_cast<P>(arguments)...), name, doing);
}

/// HIP's handle of a stream; null for the default one.
void *hip_stream(StreamState *stream);

/// A gfx950 GPU.
class HipDevice final : public DeviceInterface {
public:
  HipDevice(const HipApi &api, int index, HipGpu gpu);

  DeviceKind kind() const override { return DeviceKind::Hip; }
  std::string name() const override { return name_; }
  const DeviceProperties &properties() const override { return properties_; }

  Result<uint64_t> allocate(size_t bytes) override;
  void free(uint64_t address) override;
  Result<uint64_t> allocate_in_order(StreamState *stream, size_t bytes) override;
  void free_in_order(StreamState *stream, uint64_t address) override;
  Result<PoolUse> pool_use() override;
  Status trim_pool(size_t keep) override;
  Status check_memory(uint64_t, size_t) override { return {}; }

  Status write(uint64_t to, const void *from, size_t bytes) override;
  Status read(void *to, uint64_t from, size_t bytes) override;
  Status fill(uint64_t address, uint8_t byte, size_t bytes) override;
  Status write_async(StreamState *stream, uint64_t to, const void *from, size_t bytes) override;
  Status read_async(StreamState *stream, void *to, uint64_t from, size_t bytes) override;
  Status fill_async(StreamState *stream, uint64_t address, FillPattern pattern, size_t count) override;
  Status copy_async(StreamState *stream, uint64_t to, DeviceInterface &source, uint64_t from,
                    size_t bytes) override;
  Result<HostMemory> host_memory() override;

  Result<bool> can_access(const DeviceInterface &peer) override;
  Status enable_access(const DeviceInterface &peer) override;
  bool has_access(const DeviceInterface &peer) const override;

  Result<std::shared_ptr<StreamState>> new_stream() override;
  Result<std::shared_ptr<StreamState>> external_stream(void *handle) override;
  Status synchronize(StreamState *stream) override;
  Status synchronize_all() override;
  Result<std::shared_ptr<EventState>> record(StreamState *stream) override;
  Status wait(StreamState *stream, const EventState &event) override;

  Result<bool> is_capturing(StreamState *stream) override;
  Status begin_capture(StreamState &stream) override;
  Result<std::shared_ptr<GraphState>> end_capture(StreamState &stream) override;

  Result<std::shared_ptr<const LoadedKernel>> load(const CompiledKernel &kernel) override;
  Result<LaunchOutcome> launch(StreamState *stream, const LaunchRequest &request) override;

  // In hip_module.cpp.
  Result<std::shared_ptr<const LoadedModule>> load_module(std::span<const uint8_t> code_object,
                                                          std::span<const KernelMetadata> kernels) override;
  Result<LaunchOutcome> launch_module(StreamState *stream, const ModuleLaunch &launch) override;

private:
  template <class Doing, class... P, class... A>
  Status call(const Doing &doing, const char *name, int (*function)(P...), A... arguments) const {
    return hip_call(api_, index_, doing, name, function, arguments...);
  }
  Status then_wait(const Status &queued) const;
  Error without_memory(size_t bytes) const;
  /// By a function of HIP: function(void **memory, size_t bytes).
  template <class Function>
  Result<uint64_t> allocate_by(const char *name, size_t bytes, const Function &function) const;
  Result<void *> pool();
  Status share_pool(int peer);
  Status let_pool_be_used(int peer) const; ///< under the lock

  const HipApi &api_;
  int index_;
  std::string name_;
  DeviceProperties properties_;
  ExternalStreams external_;
  mutable std::mutex mutex_;
  std::unique_ptr<const HipHandle> pool_; ///< made when it is first wanted
  std::vector<int> pool_peers_;           ///< GPUs that have access to this one's pool
  std::set<int> accessed_;                ///< GPUs whose memory kernels here have access to
};

} // namespace nereid::jit
