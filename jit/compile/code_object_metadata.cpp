// Reads what a code object says of itself: its ISA from the ELF header, its kernels from the AMDGPU metadata
// note.
#include "jit/compile/code_object_metadata.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "jit/compile/compiler.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Object/ELFObjectFile.h"

namespace nereid {

std::vector<KernelArgument> KernelMetadata::explicit_arguments() const {
  std::vector<KernelArgument> result;
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(result),
               [](const KernelArgument &argument) { return !argument.hidden(); });
  return result;
}

uint32_t KernelMetadata::explicit_size() const {
  uint32_t end = 0;
  for (const KernelArgument &argument : arguments)
    if (!argument.hidden())
      end = std::max(end, argument.offset + argument.size);
  return end;
}

namespace jit {
namespace {

namespace elf = llvm::ELF;
using ElfFile = llvm::object::ELF64LEFile;
using Map = llvm::msgpack::MapDocNode;

/// More than any compiler makes; a damaged size must not become an allocation.
constexpr uint32_t max_kernarg_size = 1 << 20;

Error bad(const std::string &what, const char *remedy = "") {
  return user_error("code object: " + what, remedy);
}

/// The processors that share gfx950's family or are common, for messages.
std::string processor_name(unsigned machine) {
  static constexpr struct {
    unsigned machine;
    const char *name;
  } names[] = {{elf::EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX906, "gfx906"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX908, "gfx908"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX90A, "gfx90a"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX942, "gfx942"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX950, "gfx950"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC, "gfx9-4-generic"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
               {elf::EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"}};
  for (const auto &known : names)
    if (known.machine == machine)
      return known.name;
  return fmt::format("another processor (machine {:#x} in e_flags)", machine);
}

Status check_header(const ElfFile &file) {
  const auto &header = file.getHeader();
  if (header.e_machine != elf::EM_AMDGPU)
    return bad(fmt::format("it is an ELF file for machine {}, not for AMDGPU", uint16_t{header.e_machine}),
               "Give the device's code object; clang --offload-device-only makes one of a HIP source");
  const unsigned machine = header.e_flags & elf::EF_AMDGPU_MACH;
  if (machine != elf::EF_AMDGPU_MACH_AMDGCN_GFX950)
    return bad(fmt::format("it is for {}, the device is a {}", processor_name(machine), target_cpu),
               "Compile it with -mcpu=gfx950 (hipcc: --offload-arch=gfx950)");
  if (header.e_type != elf::ET_DYN)
    return bad("it is a relocatable object", "Link it: ld.lld -shared");
  return {};
}

/// The AMDGPU metadata note.
Result<std::string> metadata_note(const ElfFile &file) {
  auto headers = file.program_headers();
  if (!headers)
    return bad(llvm::toString(headers.takeError()));
  for (const auto &header : *headers) {
    if (header.p_type != elf::PT_NOTE)
      continue;
    if (header.p_align > 8 || (header.p_align & (header.p_align - 1)))
      return bad(fmt::format("its notes are aligned to {} bytes", uint64_t{header.p_align}));
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file.notes(header, error)) {
      if (note.getName() == "AMDGPU" && note.getType() == elf::NT_AMDGPU_METADATA) {
        llvm::consumeError(std::move(error));
        return note.getDescAsStringRef(std::max<size_t>(header.p_align, 4)).str();
      }
    }
    if (error)
      return bad(llvm::toString(std::move(error)));
  }
  return bad("it has no AMDGPU metadata", "Compile it as code object version 5 or 6, unstripped of notes");
}

/// Whether MessagePack is complete, every key of a map is a string, and nothing is nested deeper than any
/// compiler makes it. Document compares keys without a look at their types and ends the process when one is
/// a map or an array.
bool has_text_keys(llvm::StringRef bytes) {
  struct Open {
    bool is_map;
    uint64_t left; ///< objects that are still to come; of a map an even number before each key
  };
  constexpr size_t max_depth = 32;
  std::vector<Open> open;
  llvm::msgpack::Reader reader(bytes);
  do {
    llvm::msgpack::Object object;
    llvm::Expected<bool> read = reader.read(object);
    if (!read) {
      llvm::consumeError(read.takeError());
      return false;
    }
    if (!*read)
      return false;
    if (!open.empty()) {
      if (open.back().is_map && open.back().left % 2 == 0 && object.Kind != llvm::msgpack::Type::String)
        return false;
      --open.back().left;
    }
    const bool is_map = object.Kind == llvm::msgpack::Type::Map;
    if (is_map || object.Kind == llvm::msgpack::Type::Array)
      open.push_back({is_map, uint64_t{object.Length} * (is_map ? 2 : 1)});
    if (open.size() > max_depth)
      return false;
    while (!open.empty() && open.back().left == 0)
      open.pop_back();
  } while (!open.empty());
  return true;
}

uint32_t number(Map &map, llvm::StringRef key, uint32_t missing = 0) {
  auto found = map.find(key);
  if (found == map.end() || found->second.getKind() != llvm::msgpack::Type::UInt)
    return missing;
  return static_cast<uint32_t>(
      std::min<uint64_t>(found->second.getUInt(), std::numeric_limits<uint32_t>::max()));
}

std::string text(Map &map, llvm::StringRef key) {
  auto found = map.find(key);
  return found != map.end() && found->second.isString() ? found->second.getString().str() : std::string();
}

llvm::msgpack::ArrayDocNode *array(Map &map, llvm::StringRef key) {
  auto found = map.find(key);
  return found != map.end() && found->second.isArray() ? &found->second.getArray() : nullptr;
}

Resources resources_of(Map &kernel) {
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

Result<std::vector<KernelArgument>> arguments_of(Map &kernel, const KernelMetadata &metadata) {
  std::vector<KernelArgument> arguments;
  llvm::msgpack::ArrayDocNode *list = array(kernel, ".args");
  for (size_t i = 0; list && i < list->size(); ++i) {
    if (!(*list)[i].isMap())
      return bad(fmt::format("argument {} of kernel '{}' is no map in its metadata", i, metadata.name));
    Map &entry = (*list)[i].getMap();
    KernelArgument argument{text(entry, ".name"), text(entry, ".value_kind"), number(entry, ".offset"),
                            number(entry, ".size")};
    const uint64_t end = uint64_t{argument.offset} + argument.size;
    if (end > metadata.kernarg_size)
      return bad(fmt::format("argument {} of kernel '{}' ends at byte {} of an argument block of {}", i,
                             metadata.name, end, metadata.kernarg_size));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<KernelMetadata> kernel_of(Map &map) {
  KernelMetadata kernel;
  kernel.name = text(map, ".name");
  if (kernel.name.empty())
    return bad("a kernel in its metadata has no name");
  kernel.kernarg_size = number(map, ".kernarg_segment_size");
  if (kernel.kernarg_size > max_kernarg_size)
    return bad(fmt::format("kernel '{}' has an argument block of {} bytes, more than {}", kernel.name,
                           kernel.kernarg_size, max_kernarg_size));
  kernel.max_workgroup_size = number(map, ".max_flat_workgroup_size", kernel.max_workgroup_size);
  if (llvm::msgpack::ArrayDocNode *block = array(map, ".reqd_workgroup_size"); block && block->size() == 3) {
    kernel.required_block.emplace();
    for (size_t axis = 0; axis < 3; ++axis)
      if ((*block)[axis].getKind() == llvm::msgpack::Type::UInt)
        (*kernel.required_block)[axis] = static_cast<uint32_t>((*block)[axis].getUInt());
  }
  kernel.resources = resources_of(map);
  NEREID_TRY(kernel.arguments, arguments_of(map, kernel));
  return kernel;
}

} // namespace

Result<CodeObjectMetadata> read_code_object(std::span<const uint8_t> code_object) {
  const llvm::StringRef bytes(reinterpret_cast<const char *>(code_object.data()), code_object.size());
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return bad(fmt::format("{} bytes that are no ELF file", bytes.size()));
  auto file = ElfFile::create(bytes);
  if (!file)
    return bad(llvm::toString(file.takeError()));
  NEREID_CHECK(check_header(*file));
  NEREID_TRY(const std::string note, metadata_note(*file));
  llvm::msgpack::Document document;
  if (!has_text_keys(note) || !document.readFromBlob(note, /*Multi=*/false) || !document.getRoot().isMap())
    return bad("its metadata is not valid MessagePack");
  Map &root = document.getRoot().getMap();
  llvm::msgpack::ArrayDocNode *kernels = array(root, "amdhsa.kernels");
  CodeObjectMetadata metadata{text(root, "amdhsa.target"), {}};
  for (size_t i = 0; kernels && i < kernels->size(); ++i) {
    if (!(*kernels)[i].isMap())
      return bad("a kernel in its metadata is no map");
    NEREID_TRY(KernelMetadata kernel, kernel_of((*kernels)[i].getMap()));
    metadata.kernels.push_back(std::move(kernel));
  }
  if (metadata.kernels.empty())
    return bad("it has no kernels", "Mark a function of it as a kernel (HIP: __global__)");
  return metadata;
}

} // namespace jit
} // namespace nereid
