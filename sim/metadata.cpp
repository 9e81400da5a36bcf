#include "sim/metadata.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>

namespace nereid::sim {

namespace {

using llvm::msgpack::DocNode;
using llvm::msgpack::Type;

const DocNode *entry(DocNode &node, const char *key) {
  if (!node.isMap())
    return nullptr;
  auto &map = node.getMap();
  auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

uint32_t number(DocNode &node, const char *key, uint32_t missing = 0) {
  const DocNode *found = entry(node, key);
  if (!found)
    return missing;
  if (found->getKind() == Type::UInt)
    return static_cast<uint32_t>(found->getUInt());
  return found->getKind() == Type::Int ? static_cast<uint32_t>(found->getInt()) : missing;
}

std::optional<uint32_t> optional_number(DocNode &node, const char *key) {
  return entry(node, key) ? std::optional(number(node, key)) : std::nullopt;
}

std::string text(DocNode &node, const char *key) {
  const DocNode *found = entry(node, key);
  return found && found->isString() ? found->getString().str() : std::string();
}

KernelMetadata kernel(DocNode &node) {
  KernelMetadata result;
  KernelInfo &info = result.info;
  info.name = text(node, ".name");
  result.symbol = text(node, ".symbol");
  info.kernarg_size = number(node, ".kernarg_segment_size");
  result.lds_size = optional_number(node, ".group_segment_fixed_size");
  result.scratch_size = optional_number(node, ".private_segment_fixed_size");
  info.sgpr_count = number(node, ".sgpr_count");
  info.vgpr_count = number(node, ".vgpr_count");
  info.agpr_count = number(node, ".agpr_count");
  info.sgpr_spills = number(node, ".sgpr_spill_count");
  info.vgpr_spills = number(node, ".vgpr_spill_count");
  info.max_workgroup_size = number(node, ".max_flat_workgroup_size", 1024);
  if (const DocNode *dynamic = entry(node, ".uses_dynamic_stack");
      dynamic && dynamic->getKind() == Type::Boolean)
    info.dynamic_stack = dynamic->getBool();
  const DocNode *arguments = entry(node, ".args");
  if (!arguments || !arguments->isArray())
    return result;
  for (DocNode &argument : const_cast<DocNode *>(arguments)->getArray())
    info.arguments.push_back({text(argument, ".name"), text(argument, ".value_kind"),
                              number(argument, ".offset"), number(argument, ".size")});
  return result;
}

} // namespace

Result<std::vector<KernelMetadata>> read_metadata(std::string_view note) {
  llvm::msgpack::Document document;
  if (!document.readFromBlob(llvm::StringRef(note.data(), note.size()), false))
    return user_error("the code object's metadata is not valid MessagePack");
  const DocNode *kernels = entry(document.getRoot(), "amdhsa.kernels");
  if (!kernels || !kernels->isArray())
    return user_error("the code object's metadata lists no kernels (amdhsa.kernels)");
  std::vector<KernelMetadata> result;
  for (DocNode &node : const_cast<DocNode *>(kernels)->getArray()) {
    KernelMetadata metadata = kernel(node);
    if (metadata.info.name.empty() || metadata.symbol.empty())
      return user_error("a kernel in the code object's metadata has no name or symbol");
    if (const uint32_t lanes = number(node, ".wavefront_size", 64); lanes != 64)
      return user_error(fmt::format("kernel '{}' is made for waves of {} lanes; those of gfx950 have 64",
                                    metadata.info.name, lanes));
    for (const KernelArgument &argument : metadata.info.arguments)
      if (uint64_t{argument.offset} + argument.size > metadata.info.kernarg_size)
        return user_error(fmt::format("argument '{}' of kernel '{}' lies outside its {} byte argument block",
                                      argument.name, metadata.info.name, metadata.info.kernarg_size));
    result.push_back(std::move(metadata));
  }
  return result;
}

} // namespace nereid::sim
