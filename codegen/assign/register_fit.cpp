#include "codegen/assign/register_fit.h"

#include <algorithm>

#include <fmt/format.h>

namespace nereid::codegen {
namespace {

constexpr int64_t lanes_of_a_wave = 64;

/// Vector and accumulation registers of a lane: the four SIMDs of a compute unit have 512 for each of theirs,
/// and all waves of a workgroup are there at once.
int64_t registers_of_a_lane(int waves) {
  constexpr int simds = 4, registers = 512;
  return registers / std::max(waves / simds, 1);
}

/// What a lane has of a tile at least, in registers.
int64_t registers_for(const ir::Type &type, int waves) {
  if (!type.pointer && type.element == ir::Element::I1)
    return 0; // a mask of the wave is in scalar registers
  const int64_t bytes = type.pointer ? 8 : ir::byte_size(type.element);
  return type.count() * bytes / 4 / (lanes_of_a_wave * waves);
}

} // namespace

Status check_registers(const FunctionIndex &index, const LayoutChoice &layouts) {
  const ir::Function &function = index.function();
  const int waves = function.options.waves;
  const int64_t available = registers_of_a_lane(waves);
  for (ir::ValueId value = 0; value < layouts.assigned.size(); ++value) {
    if (!layouts.assigned[value])
      continue;
    const ir::Type &type = function.type(value);
    const int64_t registers = registers_for(type, waves);
    const ir::Op *op = index.definition(value);
    if (registers >= available)
      return user_error(
          fmt::format(
              "kernel '{}': {} takes {} vector registers a lane, which has {} for everything with {} waves",
              function.name, type.text(), registers, available, waves),
          "Use a smaller tile or more waves", op ? function.place(*op) : SourceLine());
  }
  return {};
}

} // namespace nereid::codegen
