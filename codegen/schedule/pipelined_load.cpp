// How one load of a loop is issued ahead: its accesses, and its way through LDS.
#include "codegen/schedule/pipelined_load.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "codegen/assign/dot_grid.h"
#include "codegen/assign/memory_layout.h"

namespace nereid::codegen {

namespace {

/// Groups of 16 bytes of a column, in a lane's lowest registers.
RegisterGroups columns_of(const LinearLayout &home, unsigned bytes) {
  VectorAccess access;
  while (access.elements() * bytes < LdsImage::copy_bytes)
    access.register_bits.push_back(static_cast<unsigned>(access.register_bits.size()));
  return group_registers(home, std::move(access));
}

RegisterGroups groups_of(const FunctionIndex &index, const AxisAnalysis &axes, const ir::Op &load,
                         const LinearLayout &layout) {
  const AxisInfo *mask = load.operands.size() > 1 ? &axes[load.operands[1]] : nullptr;
  const unsigned bytes = ir::byte_size(index.function().type(load.result()).element);
  return group_registers(layout, vector_access(layout, axes[load.operands[0]], mask, bytes));
}

/// Scales are few, however narrow their loads are.
bool is_scale(const FunctionIndex &index, const ir::Op &load) {
  const ir::Op *dot = index.user(load.result());
  if (!dot || dot->opcode != ir::Opcode::DotScaled)
    return false;
  const DotSides sides = sides_of_dot(index.function(), *dot);
  return sides.a.scale == load.result() || sides.b.scale == load.result();
}

} // namespace

Decision<PipelinedLoad> plan_pipelined_load(const FunctionIndex &index, const AxisAnalysis &axes,
                                            const LayoutChoice &layouts, const StreamedLoad &streamed) {
  const ir::Op &op = *streamed.op;
  const ir::Function &function = index.function();
  const unsigned bytes = ir::byte_size(function.type(op.result()).element);
  if (!layouts.assigned[op.result()])
    return Objection{&op, "its tile has no layout of its own"};
  const LinearLayout &home = layouts.layout(op.result());
  const bool transposes = wants_transposed_reads(function, axes, op, home);
  PipelinedLoad load{
      streamed, transposes ? columns_of(home, bytes) : groups_of(index, axes, op, home), {}, {}, {}, {}};
  if (const unsigned access = load.groups.access.elements() * bytes; access < 4 && !is_scale(index, op))
    return Objection{&op, fmt::format("a lane reads {} at a time, less than a dword", byte_text(access))};
  if (!wants_lds(index, axes, layouts, op))
    return load;
  if (Decision<LdsImage> image = choose_lds_image(index, axes, layouts, op)) {
    load.copies = groups_of(index, axes, op, image->swizzled(image->copies()));
    load.image = std::move(*image);
  } else if (transposes) {
    return image.objection();
  }
  return load;
}

bool is_same_tile(const FunctionIndex &index, const PipelinedLoad &a, const PipelinedLoad &b) {
  const auto type = [&](const PipelinedLoad &load) { return index.function().type(load.op->result()); };
  return a.through_lds() && b.through_lds() && a.op->operands == b.op->operands && type(a) == type(b) &&
         a.op->attributes == b.op->attributes;
}

void read_copies_of(const FunctionIndex &index, const AxisAnalysis &axes, size_t source, PipelinedLoad &from,
                    PipelinedLoad &reader) {
  reader.source = source;
  reader.copies = {};
  LdsImage::unite(*from.image, *reader.image);
  from.copies = groups_of(index, axes, *from.op, from.image->swizzled(from.image->copies()));
}

} // namespace nereid::codegen
