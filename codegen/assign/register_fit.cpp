// Tiles that no lane has registers for are refused before LLVM sees them.
#include "codegen/assign/register_fit.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/target/gfx950.h"

namespace nereid::codegen {
namespace {

/// VGPRs and AGPRs of a lane: all waves of a workgroup are on the SIMDs of one compute unit at once.
int64_t registers_of_a_lane(int waves) {
  return gfx950::registers_of_wave(std::max(static_cast<unsigned>(waves) / gfx950::simds, 1u));
}

/// The registers of a lane for its share of a tile, nothing of which is broadcast.
int64_t registers_for(const ir::Type &type, int waves) {
  if (!type.pointer && type.element == ir::Element::I1)
    return 0; // a mask of the wave is in scalar registers
  const int64_t bytes = type.pointer ? 8 : ir::byte_size(type.element);
  return type.count() * bytes / 4 / (int64_t(gfx950::lanes) * waves);
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
          "Use a smaller tile or more waves", op ? function.location(*op) : SourceLine());
  }
  return {};
}

} // namespace nereid::codegen
