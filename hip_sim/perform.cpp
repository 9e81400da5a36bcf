// Does the work of streams on the simulator.
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "hip_sim/module.h"
#include "hip_sim/runtime.h"
#include "hip_sim/work.h"
#include "sim/machine.h"

namespace nereid::hip_sim {
namespace {

Outcome failed(hipError_t error, std::string text) { return {error, std::move(text), 0}; }

/// What HIP would call the fault of a kernel.
hipError_t error_of(sim::FaultKind kind) {
  switch (kind) {
  case sim::FaultKind::OutOfBounds:
  case sim::FaultKind::Misaligned:
    return hipErrorIllegalAddress;
  case sim::FaultKind::Budget:
    return hipErrorLaunchTimeOut;
  default:
    return hipErrorLaunchFailure;
  }
}

/// Where the host finds the bytes of a pointer; null when it was one of a device and is none any more.
struct Place {
  std::byte *bytes;
  const sim::Block *block; ///< null: memory of the host that the device does not know
};

Place place_of(const sim::Memory::View &view, const char *pointer, size_t size) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (const sim::Block *block = view.find(address, size))
    return {block->data() + (address - block->address()), block};
  if (is_device_address(pointer))
    return {nullptr, nullptr};
  return {const_cast<std::byte *>(reinterpret_cast<const std::byte *>(pointer)), nullptr};
}

struct Performer {
  Runtime &runtime;

  Outcome operator()(std::monostate) const { return {}; }

  Outcome operator()(const KernelWork &work) const {
    const sim::KernelInfo &kernel = *work.function->kernel;
    sim::Launch launch;
    launch.kernel = kernel.name;
    launch.grid = work.grid;
    launch.block = work.block;
    launch.kernarg = work.arguments;
    launch.dynamic_lds = work.dynamic_lds;
    launch.instruction_budget = runtime.options.instruction_budget;
    launch.checks = runtime.options.checks;
    launch.timing = runtime.options.timing ? sim::Timing::On : sim::Timing::Off;
    const Result<sim::Report> report = sim::run(work.function->code, runtime.memory, launch);
    if (!report)
      return failed(hipErrorLaunchFailure, report.error().text());
    if (report->fault)
      return failed(error_of(report->fault->kind),
                    fmt::format("kernel {}: {}", kernel.name, report->fault->error().text()));
    return {hipSuccess, {}, report->time ? report->time->us : 0};
  }

  Outcome operator()(const CopyWork &work) const {
    const auto *from = work.staged ? reinterpret_cast<const char *>(work.staged->data())
                                   : static_cast<const char *>(work.from);
    auto *to = static_cast<char *>(work.to);
    const sim::Memory::View view = runtime.memory.view();
    for (size_t row = 0; row < work.height; ++row) {
      const Place source = place_of(view, from + row * work.from_pitch, work.width);
      const Place target = place_of(view, to + row * work.to_pitch, work.width);
      if (!source.bytes || !target.bytes)
        return failed(hipErrorIllegalAddress,
                      fmt::format("a copy of {} bytes: its memory was freed before it ran", work.width));
      std::memmove(target.bytes, source.bytes, work.width);
      if (target.block)
        target.block->definedness().define(static_cast<size_t>(target.bytes - target.block->data()),
                                           work.width);
    }
    return {};
  }

  Outcome operator()(const FillWork &work) const {
    const size_t bytes = work.width * work.element;
    for (size_t row = 0; row < work.height; ++row) {
      const uint64_t address = reinterpret_cast<uint64_t>(work.to) + row * work.pitch;
      Status filled;
      if (work.element == 1) {
        filled = runtime.memory.fill(address, static_cast<std::byte>(work.value), bytes);
      } else {
        std::vector<std::byte> content(bytes);
        for (size_t at = 0; at < bytes; at += work.element)
          std::memcpy(content.data() + at, &work.value, work.element);
        filled = runtime.memory.write(address, content.data(), bytes);
      }
      if (!filled)
        return failed(hipErrorIllegalAddress, filled.error().text());
    }
    return {};
  }

  Outcome operator()(const HostWork &work) const {
    if (work.callback)
      work.callback(work.stream, hipSuccess, work.data);
    else
      work.function(work.data);
    return {};
  }

  Outcome operator()(const FreeWork &work) const {
    Lock lock(runtime.mutex);
    runtime.release(reinterpret_cast<uint64_t>(work.pointer));
    return {};
  }
};

} // namespace

Outcome perform(Runtime &runtime, const Work &work) { return std::visit(Performer{runtime}, work); }

} // namespace nereid::hip_sim
