// Reads the AMDGPU metadata note of a code object: registers, LDS, scratch and spills of its kernel.
#include "jit/compile/code_object_info.h"

#include <algorithm>
#include <limits>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"

namespace nereid::jit {
namespace {

using ElfFile = llvm::object::ELF64LEFile;

Error bad(const std::string &what) {
  return nereid_error("the code object is damaged: " + what, "Remove it and compile the kernel again");
}

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

/// The AMDGPU metadata note of a code object.
Result<std::string> metadata_blob(std::span<const uint8_t> code_object) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(code_object.data()), code_object.size());
  auto file = ElfFile::create(bytes);
  if (!file)
    return bad(text(file.takeError()));
  auto headers = file->program_headers();
  if (!headers)
    return bad(text(headers.takeError()));
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(header, error)) {
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
        llvm::consumeError(std::move(error));
        return note.getDescAsStringRef(header.p_align).str();
      }
    }
    if (error)
      return bad(text(std::move(error)));
  }
  return bad("it has no metadata");
}

unsigned number(llvm::msgpack::MapDocNode &map, llvm::StringRef key) {
  auto found = map.find(key);
  if (found == map.end() || found->second.getKind() != llvm::msgpack::Type::UInt)
    return 0;
  return static_cast<unsigned>(
      std::min<uint64_t>(found->second.getUInt(), std::numeric_limits<unsigned>::max()));
}

} // namespace

Result<Resources> read_resources(std::span<const uint8_t> code_object) {
  NEREID_TRY(const std::string blob, metadata_blob(code_object));
  llvm::msgpack::Document document;
  if (!document.readFromBlob(blob, /*Multi=*/false) || !document.getRoot().isMap())
    return bad("its metadata cannot be read");
  auto &root = document.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray() || kernels->second.getArray().empty() ||
      !kernels->second.getArray()[0].isMap())
    return bad("its metadata names no kernel");
  llvm::msgpack::MapDocNode &kernel = kernels->second.getArray()[0].getMap();
  Resources resources;
  resources.vgpr = number(kernel, ".vgpr_count");
  resources.agpr = number(kernel, ".agpr_count");
  resources.sgpr = number(kernel, ".sgpr_count");
  resources.lds = number(kernel, ".group_segment_fixed_size");
  resources.scratch = number(kernel, ".private_segment_fixed_size");
  resources.spills = number(kernel, ".vgpr_spill_count") + number(kernel, ".sgpr_spill_count");
  const unsigned items = number(kernel, ".max_flat_workgroup_size");
  resources.occupancy = occupancy(resources.vgpr, resources.lds, items / 64 + (items % 64 ? 1 : 0));
  return resources;
}

} // namespace nereid::jit
