// Reads the kernels and their arguments from the metadata note of a code object.

#include "sim/object/metadata.h"

#include <fmt/format.h>

#include "sim/object/message_pack.h"

namespace nereid::sim {

namespace {

std::optional<uint32_t> optional_number(const PackedValue &map, const char *key) {
  const PackedValue *found = map.find(key);
  if (!found || found->kind != PackedValue::Kind::Integer)
    return std::nullopt;
  return static_cast<uint32_t>(found->integer);
}
uint32_t number(const PackedValue &map, const char *key, uint32_t missing = 0) {
  return optional_number(map, key).value_or(missing);
}

std::string text(const PackedValue &map, const char *key) {
  const PackedValue *found = map.find(key);
  return found ? found->text : std::string();
}

KernelMetadata kernel(const PackedValue &map) {
  KernelMetadata result;
  KernelInfo &info = result.info;
  info.name = text(map, ".name");
  result.symbol = text(map, ".symbol");
  info.kernarg_size = number(map, ".kernarg_segment_size");
  result.lds_size = optional_number(map, ".group_segment_fixed_size");
  result.scratch_size = optional_number(map, ".private_segment_fixed_size");
  info.sgpr_count = number(map, ".sgpr_count");
  info.vgpr_count = number(map, ".vgpr_count");
  info.agpr_count = number(map, ".agpr_count");
  info.sgpr_spills = number(map, ".sgpr_spill_count");
  info.vgpr_spills = number(map, ".vgpr_spill_count");
  info.max_workgroup_size = number(map, ".max_flat_workgroup_size", max_work_items);
  if (const PackedValue *required = map.find(".reqd_workgroup_size");
      required && required->elements.size() == 3) {
    info.required_block.emplace();
    for (size_t axis = 0; axis < 3; ++axis)
      (*info.required_block)[axis] = static_cast<uint32_t>(required->elements[axis].integer);
  }
  if (const PackedValue *dynamic = map.find(".uses_dynamic_stack"))
    info.dynamic_stack = dynamic->kind == PackedValue::Kind::Boolean && dynamic->integer;
  if (const PackedValue *arguments = map.find(".args"))
    for (const PackedValue &argument : arguments->elements)
      info.arguments.push_back({text(argument, ".name"), text(argument, ".value_kind"),
                                number(argument, ".offset"), number(argument, ".size")});
  return result;
}

} // namespace

Result<std::vector<KernelMetadata>> read_metadata(std::string_view note) {
  const std::optional<PackedValue> document = read_message_pack(note);
  if (!document)
    return user_error("the code object's metadata is not valid MessagePack");
  if (const std::string target = text(*document, "amdhsa.target");
      !target.empty() && (target + ":").find("--gfx950:") == target.npos)
    return user_error(fmt::format("the code object's metadata is for '{}', not for gfx950", target));
  const PackedValue *kernels = document->find("amdhsa.kernels");
  if (!kernels || kernels->kind != PackedValue::Kind::Array)
    return user_error("the code object's metadata lists no kernels (amdhsa.kernels)");
  std::vector<KernelMetadata> result;
  for (const PackedValue &entry : kernels->elements) {
    KernelMetadata metadata = kernel(entry);
    if (metadata.info.name.empty() || metadata.symbol.empty())
      return user_error("a kernel in the code object's metadata has no name or symbol");
    if (const uint32_t lanes = number(entry, ".wavefront_size", lane_count); lanes != lane_count)
      return user_error(fmt::format("kernel '{}' is compiled for waves of {} lanes; those of gfx950 have {}",
                                    metadata.info.name, lanes, lane_count));
    result.push_back(std::move(metadata));
  }
  return result;
}

} // namespace nereid::sim
