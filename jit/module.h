#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "jit/compile/code_object_metadata.h"
#include "jit/device/buffer.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"

namespace nereid {

/// Work-items of a workgroup in x, y and z; a launch checks them.
struct Block {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
  bool operator==(const Block &) const = default;
};

/// How a kernel of a code object is launched.
struct ModuleLaunchShape {
  Grid grid;                ///< workgroups
  Block block;              ///< work-items of each
  uint32_t dynamic_lds = 0; ///< bytes a workgroup in addition to the kernel's own
};

/// What one launch was and did. On the simulator it is over when this exists; on a GPU it is queued.
struct ModuleLaunchInfo {
  std::string kernel;
  ModuleLaunchShape shape;
  std::optional<InstructionCounts> instructions; ///< when the device counts them
  std::optional<sim::LaunchTime> time;           ///< simulated, when SimulatorOptions::timing asks for it
};

namespace jit {

/// An argument of a launch: device memory, or a value whose bytes live as long as the launch call.
struct ModuleArgument {
  const void *value = nullptr; ///< null: device memory
  uint32_t size = 8;           ///< bytes
  uint64_t address = 0;        ///< of device memory
  const DeviceInterface *device = nullptr;
};

/// The argument of a launch that a value or buffer of the host becomes.
template <class T> struct ModuleArgumentOf {
  static_assert(!std::is_pointer_v<T> && !std::is_array_v<T>,
                "a kernel cannot use a host pointer: give a Buffer, a DevicePointer or a value");
  static_assert(std::is_trivially_copyable_v<T>, "an argument is device memory or plain data");
  static ModuleArgument from(const T &value) { return {&value, sizeof(T)}; }
};
template <class T> struct ModuleArgumentOf<Buffer<T>> {
  static ModuleArgument from(const Buffer<T> &buffer) {
    return {nullptr, 8, buffer.address(), buffer.device()};
  }
};
template <class T> struct ModuleArgumentOf<DevicePointer<T>> {
  static ModuleArgument from(const DevicePointer<T> &pointer) { return {nullptr, 8, pointer.address}; }
};

struct ModuleState;

} // namespace jit

/// A kernel of a loaded module. A value that keeps the module loaded; safe to use from several threads.
class ModuleKernel {
public:
  const std::string &name() const & { return metadata().name; }
  std::string name() const && { return metadata().name; }
  /// Arguments, registers, LDS and limits, by the code object's metadata; lives as long as the module.
  const KernelMetadata &metadata() const;

  /// Launches with typed arguments in the order of the metadata's explicit ones: a Buffer or DevicePointer
  /// where it says global_buffer, else plain data of its size. Hidden arguments are filled in by the device.
  /// Errors (User): another number, kind or size of arguments than the metadata has, a buffer or stream of
  /// another device, a block beyond the kernel's limit, LDS beyond 160 KiB, a grid that no launch can have.
  template <class... A>
  Result<ModuleLaunchInfo> operator()(const Stream &stream, const ModuleLaunchShape &shape,
                                      const A &...arguments) const {
    const std::array<jit::ModuleArgument, sizeof...(A)> values{jit::ModuleArgumentOf<A>::from(arguments)...};
    return launch(stream, shape, values);
  }
  Result<ModuleLaunchInfo> launch(const Stream &stream, const ModuleLaunchShape &shape,
                                  std::span<const jit::ModuleArgument> arguments) const;

  /// Launches with the bytes of the argument block, laid out as the metadata says: at least up to the end of
  /// the last explicit argument, at most the whole block. What stands at hidden arguments is replaced.
  Result<ModuleLaunchInfo> launch_raw(const Stream &stream, const ModuleLaunchShape &shape,
                                      std::span<const std::byte> arguments) const;
  /// The same with a struct whose members lie where the arguments do.
  template <class T>
  Result<ModuleLaunchInfo> launch_struct(const Stream &stream, const ModuleLaunchShape &shape,
                                         const T &arguments) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "a struct of plain data");
    return launch_raw(stream, shape, {reinterpret_cast<const std::byte *>(&arguments), sizeof(T)});
  }

private:
  friend class Module;
  ModuleKernel(std::shared_ptr<const jit::ModuleState> state, size_t index)
      : state_(std::move(state)), index_(index) {}
  Result<ModuleLaunchInfo> run(const Stream &stream, const ModuleLaunchShape &shape,
                               std::span<const std::byte> kernarg) const;

  std::shared_ptr<const jit::ModuleState> state_;
  size_t index_;
};

/// A gfx950 code object that something else made (hipcc, an assembler, `nereid aot`), loaded on a device. A
/// value: copies share what is loaded; it is unloaded with the last of them and of its kernels, which have to
/// outlive their launches. Safe to use from several threads.
///
/// A variable of the code object keeps its value between launches on a GPU; on the simulator each launch
/// starts from the code object's own bytes.
class Module {
public:
  /// From the bytes of an ELF code object or of a clang offload bundle, of which the entry for gfx950 is
  /// taken. Errors (User): no such file, another ISA than gfx950 (both are named), no kernels.
  static Result<Module> load(const Device &device, std::span<const uint8_t> bytes);
  /// From a file. Error (User): it cannot be read.
  static Result<Module> load(const Device &device, const std::string &path);

  std::vector<std::string> kernel_names() const;
  /// The kernel of that name; with an empty name the only one. Error (User) that lists those there are.
  Result<ModuleKernel> kernel(std::string_view name = {}) const;
  Device device() const;

private:
  explicit Module(std::shared_ptr<const jit::ModuleState> state) : state_(std::move(state)) {}
  std::shared_ptr<const jit::ModuleState> state_;
};

} // namespace nereid
