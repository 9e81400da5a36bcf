// Checks a launch against the limits and puts its argument block, dispatch packet, queue and image into
// memory.

#include "sim/launch/launch_state.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "sim/decode/program.h"
#include "sim/state/wave.h"

namespace nereid::sim {

namespace {

/// Scratch of the waves of one workgroup.
constexpr uint64_t max_scratch = uint64_t{1} << 30;
/// Private memory of kernels that grow their stack at run time, bytes a lane in addition to the fixed part.
constexpr uint32_t dynamic_stack = 16 * 1024;

Status check(const KernelInfo &kernel, const Launch &launch) {
  uint64_t items = 1, groups = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] == 0 || launch.block[axis] == 0)
      return user_error(fmt::format("launch of '{}': grid {}x{}x{} of blocks {}x{}x{} is empty", kernel.name,
                                    launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                    launch.block[1], launch.block[2]),
                        "every extent must be at least 1");
    if (launch.block[axis] > max_work_items)
      items = max_work_items + 1;
    items = std::min<uint64_t>(items * launch.block[axis], max_work_items + 1);
    if (groups > std::numeric_limits<uint64_t>::max() / launch.grid[axis])
      return user_error(fmt::format("launch of '{}': the grid has more than 2^64 workgroups", kernel.name));
    groups *= launch.grid[axis];
  }
  if (items > max_work_items || items > kernel.max_workgroup_size)
    return user_error(fmt::format("launch of '{}': a block of {}x{}x{} work-items is larger than {}",
                                  kernel.name, launch.block[0], launch.block[1], launch.block[2],
                                  std::min(max_work_items, kernel.max_workgroup_size)));
  if (kernel.required_block && *kernel.required_block != launch.block)
    return user_error(
        fmt::format("launch of '{}': a block of {}x{}x{} work-items, the kernel is compiled for {}x{}x{}",
                    kernel.name, launch.block[0], launch.block[1], launch.block[2],
                    (*kernel.required_block)[0], (*kernel.required_block)[1], (*kernel.required_block)[2]));
  if (uint64_t{kernel.lds_size} + launch.dynamic_lds > max_lds)
    return user_error(fmt::format("launch of '{}': {} bytes of LDS and {} dynamic ones are more than {}",
                                  kernel.name, kernel.lds_size, launch.dynamic_lds, max_lds));
  const uint32_t kernarg_size = launch.kernarg_size.value_or(kernel.kernarg_size);
  if (launch.kernarg.size() > kernarg_size)
    return user_error(fmt::format("launch of '{}': {} bytes of arguments, the kernel takes {}", kernel.name,
                                  launch.kernarg.size(), kernarg_size));
  if (kernarg_size > max_kernarg_size)
    return user_error(fmt::format("launch of '{}': an argument block of {} bytes is larger than {}",
                                  kernel.name, kernarg_size, max_kernarg_size));
  for (const KernelArgument &argument : kernel.arguments)
    if (argument.hidden() && uint64_t{argument.offset} + argument.size > kernarg_size)
      return user_error(
          fmt::format("launch of '{}': an argument block of {} bytes does not hold the argument "
                      "{} at {}",
                      kernel.name, kernarg_size, argument.value_kind, argument.offset));
  if (uint64_t{kernel.scratch_size} * max_work_items > max_scratch)
    return user_error(fmt::format("launch of '{}': {} bytes of scratch a lane are too many", kernel.name,
                                  kernel.scratch_size));
  return {};
}

/// The value of a hidden argument; those that have no meaning here are zero.
uint64_t hidden_value(const std::string &kind, const Launch &launch, uint64_t queue) {
  static constexpr const char *axes[] = {"x", "y", "z"};
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (kind == fmt::format("hidden_block_count_{}", axes[axis]))
      return launch.grid[axis];
    if (kind == fmt::format("hidden_group_size_{}", axes[axis]))
      return launch.block[axis];
  }
  if (kind == "hidden_grid_dims")
    return launch.grid[2] * launch.block[2] > 1 ? 3 : launch.grid[1] * launch.block[1] > 1 ? 2 : 1;
  if (kind == "hidden_private_base")
    return private_aperture;
  if (kind == "hidden_shared_base")
    return shared_aperture;
  if (kind == "hidden_dynamic_lds_size")
    return launch.dynamic_lds;
  return kind == "hidden_queue_ptr" ? queue : 0;
}

/// Puts what a launch needs for itself into memory.
class LaunchBuffers {
public:
  LaunchBuffers(Memory &memory, std::vector<uint64_t> &addresses) : memory_(memory), addresses_(addresses) {}

  /// A zeroed buffer that starts with `content`.
  Result<uint64_t> add(std::span<const std::byte> content, size_t size, size_t align = 256) {
    NEREID_TRY(const uint64_t address, memory_.allocate(size, align));
    addresses_.push_back(address);
    NEREID_CHECK(memory_.fill(address, std::byte{0}, size));
    NEREID_CHECK(memory_.write(address, content.data(), content.size()));
    return address;
  }
  /// The image of a code object, with the addresses that depend on where it is.
  Result<uint64_t> add_image(const CodeObject &code) {
    std::vector<std::byte> image(code.image().begin(), code.image().end());
    NEREID_TRY(const uint64_t address, add({}, image.size(), 4096));
    for (const Relocation &relocation : code.relocations()) {
      const uint64_t value = address + relocation.value;
      std::memcpy(image.data() + relocation.offset, &value, sizeof value);
    }
    NEREID_CHECK(memory_.write(address, image.data(), image.size()));
    return address;
  }

private:
  Memory &memory_;
  std::vector<uint64_t> &addresses_;
};

/// The fields of an HSA dispatch packet that programs read.
std::array<std::byte, 64> dispatch_packet(const Launch &launch, const KernelInfo &kernel, uint64_t kernarg) {
  std::array<std::byte, 64> packet{};
  auto put = [&](size_t at, const auto &value) { std::memcpy(packet.data() + at, &value, sizeof value); };
  put(2, uint16_t{3});
  for (unsigned axis = 0; axis < 3; ++axis) {
    put(4 + 2 * axis, static_cast<uint16_t>(launch.block[axis]));
    put(12 + 4 * axis, launch.grid[axis] * launch.block[axis]);
  }
  put(24, kernel.scratch_size);
  put(28, kernel.lds_size + launch.dynamic_lds);
  put(40, kernarg);
  return packet;
}

Status fill_memory(LaunchState &state) {
  LaunchBuffers buffers(*state.device, state.buffers);
  const Launch &launch = *state.launch;
  const KernelInfo &kernel = *state.kernel;
  NEREID_TRY(state.queue_address, buffers.add({}, 4096));
  state.kernarg = launch.kernarg;
  state.kernarg.resize(launch.kernarg_size.value_or(kernel.kernarg_size));
  for (const KernelArgument &argument : kernel.arguments) {
    if (!argument.hidden())
      continue;
    uint64_t value = hidden_value(argument.value_kind, launch, state.queue_address);
    std::memcpy(state.kernarg.data() + argument.offset, &value,
                std::min<size_t>(argument.size, sizeof value));
  }
  // The segment is aligned to 16 bytes, and so is its end: wide loads may take what is left of that.
  NEREID_TRY(state.kernarg_address, buffers.add(state.kernarg, (state.kernarg.size() + 15) / 16 * 16));
  const auto packet = dispatch_packet(launch, kernel, state.kernarg_address);
  NEREID_TRY(state.dispatch_address, buffers.add(packet, packet.size()));
  if (state.code->program().reads_pc()) {
    NEREID_TRY(state.image_base, buffers.add_image(*state.code));
  }
  return {};
}

} // namespace

LaunchState::~LaunchState() {
  for (uint64_t address : buffers)
    (void)device->free(address);
}

Result<std::unique_ptr<LaunchState>> LaunchState::prepare(const CodeObject &code, Memory &memory,
                                                          const Launch &launch) {
  NEREID_TRY(const KernelInfo *kernel, code.kernel(launch.kernel));
  NEREID_CHECK(check(*kernel, launch));
  if (code.program().index_at(kernel->first_instruction()) == Program::no_instruction)
    return user_error(fmt::format("the entry of kernel '{}' lies within an instruction", kernel->name));
  auto state = std::make_unique<LaunchState>();
  state->code = &code;
  state->kernel = kernel;
  state->launch = &launch;
  state->device = &memory;
  state->lds_size = kernel->lds_size + launch.dynamic_lds;
  state->scratch_size = kernel->scratch_size + (kernel->dynamic_stack ? dynamic_stack : 0);
  state->wave_count = (launch.block[0] * launch.block[1] * launch.block[2] + lane_count - 1) / lane_count;
  state->group_count = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  NEREID_CHECK(fill_memory(*state));
  // What this launch writes is not tracked; one that is only timed leaves nothing.
  if (!launch.checks.undefined && launch.timing != Timing::Only)
    memory.define_all();
  state->memory = memory.view();
  return state;
}

std::unique_ptr<LaunchState> LaunchState::on_copy(const CodeObject &same_code, Memory &copy,
                                                  const Launch &same_launch) const {
  auto state = std::make_unique<LaunchState>();
  state->code = &same_code;
  state->kernel = kernel;
  state->launch = &same_launch;
  state->device = &copy;
  state->memory = copy.view();
  state->kernarg_address = kernarg_address;
  state->kernarg = kernarg;
  state->dispatch_address = dispatch_address;
  state->queue_address = queue_address;
  state->image_base = image_base;
  state->lds_size = lds_size;
  state->scratch_size = scratch_size;
  state->wave_count = wave_count;
  state->group_count = group_count;
  state->executed = executed.load();
  state->buffers = buffers;
  return state;
}

} // namespace nereid::sim
