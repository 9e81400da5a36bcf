// Reads a linked gfx950 ELF file: image, relocations, kernel descriptors, text, debug sections.

#include "sim/object/code_object.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>

#include "sim/decode/program.h"
#include "sim/object/line_table.h"
#include "sim/object/metadata.h"

namespace nereid::sim {

namespace {

using llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<ELF64LE>;

constexpr unsigned descriptor_size = 64;
constexpr uint64_t max_image = uint64_t{256} << 20;

Error bad(std::string message) { return user_error("code object: " + std::move(message)); }

/// What LLVM's reader of ELF files found, or why the file is bad.
template <class T> Result<T> parsed(llvm::Expected<T> value) {
  if (!value)
    return bad(llvm::toString(value.takeError()));
  return std::move(*value);
}

Status check_header(const ElfFile &elf) {
  const auto &header = elf.getHeader();
  if (header.e_machine != llvm::ELF::EM_AMDGPU)
    return bad(fmt::format("ELF machine {} is not AMDGPU", uint16_t(header.e_machine)));
  if (header.e_ident[llvm::ELF::EI_OSABI] != llvm::ELF::ELFOSABI_AMDGPU_HSA)
    return bad("the OS ABI is not amdhsa");
  unsigned machine = header.e_flags & llvm::ELF::EF_AMDGPU_MACH;
  if (machine != llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950)
    return bad(fmt::format("it is for another ISA than gfx950 (machine {:#x} in e_flags)", machine));
  if (header.e_type != llvm::ELF::ET_DYN)
    return bad("it is not linked (ELF type DYN expected): run it through ld.lld -shared");
  return {};
}

/// The loadable segments at their addresses.
Result<std::vector<std::byte>> load_image(const ElfFile &elf) {
  NEREID_TRY(const auto segments, parsed(elf.program_headers()));
  std::vector<std::byte> image;
  for (const auto &segment : segments) {
    if (segment.p_type != llvm::ELF::PT_LOAD)
      continue;
    uint64_t start = segment.p_vaddr, size = segment.p_memsz, in_file = segment.p_filesz,
             offset = segment.p_offset;
    if (start > max_image || size > max_image || in_file > size || offset > elf.getBufSize() ||
        in_file > elf.getBufSize() - offset)
      return bad("a loadable segment lies outside the file (truncated?)");
    image.resize(std::max<size_t>(image.size(), start + size));
    std::memcpy(image.data() + start, elf.base() + offset, in_file);
  }
  if (image.empty())
    return bad("it has no loadable segment");
  return image;
}

Result<std::vector<KernelMetadata>> find_metadata(const ElfFile &elf) {
  NEREID_TRY(const auto segments, parsed(elf.program_headers()));
  for (const auto &segment : segments) {
    if (segment.p_type != llvm::ELF::PT_NOTE)
      continue;
    if (segment.p_align != 0 && segment.p_align != 1 && segment.p_align != 4 && segment.p_align != 8)
      return bad(fmt::format("its notes are aligned to {} bytes", uint64_t{segment.p_align}));
    llvm::Error error = llvm::Error::success();
    std::string found;
    for (const auto &note : elf.notes(segment, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(std::max<size_t>(segment.p_align, 4)).str();
    if (error)
      return bad(llvm::toString(std::move(error)));
    if (!found.empty())
      return read_metadata(found);
  }
  return bad("it has no AMDGPU metadata note");
}

uint32_t word_at(std::span<const std::byte> image, uint64_t at) {
  uint32_t word;
  std::memcpy(&word, image.data() + at, 4);
  return word;
}

/// The descriptor and the metadata say some things twice.
Status check_agreement(const KernelMetadata &kernel) {
  const KernelInfo &info = kernel.info;
  const struct {
    const char *what;
    uint32_t descriptor, metadata;
  } twice[] = {{"LDS", info.lds_size, kernel.lds_size.value_or(info.lds_size)},
               {"scratch memory", info.scratch_size, kernel.scratch_size.value_or(info.scratch_size)}};
  for (const auto &[what, descriptor, metadata] : twice)
    if (descriptor != metadata)
      return bad(fmt::format("kernel '{}': the descriptor says {} bytes of {}, the metadata {}", info.name,
                             descriptor, what, metadata));
  return {};
}

/// A descriptor that gives no size of the arguments has 0 there: older ones lack the field, and assembler
/// text need not set it. Then the block is what the metadata says, or longer when explicit arguments need it.
Status find_kernarg_size(KernelInfo &info, uint32_t stated) {
  if (stated && stated != info.kernarg_size)
    return bad(fmt::format("kernel '{}': the descriptor says {} bytes of arguments, the metadata {}",
                           info.name, stated, info.kernarg_size));
  uint64_t needed = info.kernarg_size;
  for (const KernelArgument &argument : info.arguments) {
    const uint64_t end = uint64_t{argument.offset} + argument.size;
    if (end > info.kernarg_size &&
        (stated || argument.hidden() || end > std::numeric_limits<uint32_t>::max()))
      return bad(fmt::format("argument '{}' of kernel '{}' lies outside its {} byte argument block",
                             argument.name, info.name, info.kernarg_size));
    needed = std::max(needed, end);
  }
  info.kernarg_size = static_cast<uint32_t>(needed);
  return {};
}

Status read_descriptor(KernelMetadata &kernel, std::span<const std::byte> image, uint64_t at) {
  KernelInfo &info = kernel.info;
  if (at > image.size() || image.size() - at < descriptor_size)
    return bad(fmt::format("the descriptor of kernel '{}' lies outside the image", info.name));
  info.lds_size = word_at(image, at);
  info.scratch_size = word_at(image, at + 4);
  NEREID_CHECK(check_agreement(kernel));
  NEREID_CHECK(find_kernarg_size(info, word_at(image, at + 8)));
  info.entry = at + (word_at(image, at + 16) | uint64_t{word_at(image, at + 20)} << 32);
  info.rsrc3 = word_at(image, at + 44);
  info.rsrc1 = word_at(image, at + 48);
  info.rsrc2 = word_at(image, at + 52);
  info.properties = static_cast<uint16_t>(word_at(image, at + 56));
  info.kernarg_preload = static_cast<uint16_t>(word_at(image, at + 56) >> 16);
  return {};
}

/// Addresses of the symbols that metadata may name.
Result<std::vector<std::pair<std::string, uint64_t>>> symbols(const ElfFile &elf) {
  NEREID_TRY(const auto sections, parsed(elf.sections()));
  std::vector<std::pair<std::string, uint64_t>> result;
  for (const auto &section : sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    NEREID_TRY(const auto names, parsed(elf.getStringTableForSymtab(section)));
    NEREID_TRY(const auto entries, parsed(elf.symbols(&section)));
    for (const auto &symbol : entries) {
      NEREID_TRY(const auto name, parsed(symbol.getName(names)));
      result.emplace_back(name.str(), symbol.st_value);
    }
  }
  return result;
}

/// The addresses that a loader has to write into the image.
Result<std::vector<Relocation>> find_relocations(const ElfFile &elf, size_t image_size) {
  NEREID_TRY(const auto sections, parsed(elf.sections()));
  std::vector<Relocation> result;
  for (const auto &section : sections) {
    if (section.sh_type != llvm::ELF::SHT_RELA || !(section.sh_flags & llvm::ELF::SHF_ALLOC))
      continue;
    NEREID_TRY(const auto *table, parsed(elf.getSection(section.sh_link)));
    NEREID_TRY(const auto entries, parsed(elf.relas(section)));
    for (const auto &entry : entries) {
      uint64_t value = static_cast<uint64_t>(int64_t{entry.r_addend});
      const uint32_t type = entry.getType(false);
      if (type == llvm::ELF::R_AMDGPU_ABS64) {
        NEREID_TRY(const auto *symbol, parsed(elf.getRelocationSymbol(entry, table)));
        if (!symbol || symbol->st_shndx == llvm::ELF::SHN_UNDEF)
          return bad(fmt::format("the address at {:#x} is that of a symbol which it does not define",
                                 uint64_t{entry.r_offset}));
        value += symbol->st_value;
      } else if (type != llvm::ELF::R_AMDGPU_RELATIVE64) {
        return bad(fmt::format("a relocation of type {} is not supported", type));
      }
      if (entry.r_offset > image_size || image_size - entry.r_offset < 8)
        return bad("a relocation lies outside the image");
      result.push_back({entry.r_offset, value});
    }
  }
  return result;
}

/// Keeps a section that lines are found by. Damaged debug information only costs the line.
void add_lines(LineSections &lines, const ElfFile &elf, const ELF64LE::Shdr &section, llvm::StringRef name) {
  auto content = elf.getSectionContents(section);
  if (!content)
    return llvm::consumeError(content.takeError());
  const std::string_view bytes(reinterpret_cast<const char *>(content->data()), content->size());
  if (name == ".debug_line")
    lines.lines = bytes;
  else if (name == ".debug_line_str")
    lines.line_strings = bytes;
  else if (name == ".debug_str")
    lines.strings = bytes;
}

} // namespace

struct CodeObject::Content {
  std::vector<std::byte> file;
  std::vector<std::byte> image;
  std::vector<Relocation> relocations;
  std::vector<KernelInfo> kernels;
  std::span<const std::byte> text; ///< the text section, a part of `image`
  LineSections lines;              ///< parts of `file`
  mutable std::once_flag decoded;
  mutable std::unique_ptr<const Program> program; ///< decoded by the first who asks for it

  /// The kernels of the metadata, with what their descriptors in the image say.
  Status add_kernels(const ElfFile &elf);
  /// The text section, and where lines are found; kernels start in the text.
  Status add_sections(const ElfFile &elf);
  uint64_t text_address() const { return static_cast<uint64_t>(text.data() - image.data()); }
  const Program &instructions() const;
};

uint32_t KernelInfo::explicit_size() const {
  uint32_t end = 0;
  for (const KernelArgument &argument : arguments)
    if (!argument.hidden())
      end = std::max(end, argument.offset + argument.size);
  return end;
}

uint64_t KernelInfo::first_instruction() const {
  constexpr uint64_t prologue = 256;
  return kernarg_preload & 0x7F ? entry + prologue : entry;
}

Status CodeObject::Content::add_kernels(const ElfFile &elf) {
  NEREID_TRY(auto metadata, find_metadata(elf));
  NEREID_TRY(const auto names, symbols(elf));
  for (KernelMetadata &kernel : metadata) {
    const auto symbol =
        std::find_if(names.begin(), names.end(), [&](auto &s) { return s.first == kernel.symbol; });
    if (symbol == names.end())
      return bad(fmt::format("there is no symbol '{}' for kernel '{}'", kernel.symbol, kernel.info.name));
    NEREID_CHECK(read_descriptor(kernel, image, symbol->second));
    kernels.push_back(std::move(kernel.info));
  }
  return {};
}

Status CodeObject::Content::add_sections(const ElfFile &elf) {
  NEREID_TRY(const auto sections, parsed(elf.sections()));
  for (const auto &section : sections) {
    auto name = elf.getSectionName(section);
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (name->starts_with(".debug_"))
      add_lines(lines, elf, section, *name);
    if (*name != ".text" || text.data())
      continue;
    const uint64_t start = section.sh_addr, size = section.sh_size;
    if (start > image.size() || size > image.size() - start)
      return bad("the text section lies outside the image");
    text = std::span<const std::byte>(image).subspan(start, size);
  }
  if (!text.data())
    return bad("it has no text section");
  for (const KernelInfo &kernel : kernels) {
    const uint64_t entry = kernel.first_instruction();
    if (entry < text_address() || entry - text_address() >= text.size() || entry % 4)
      return bad(fmt::format("the entry of kernel '{}' is no instruction of the text section", kernel.name));
  }
  return {};
}

const Program &CodeObject::Content::instructions() const {
  std::call_once(decoded, [this] { program = std::make_unique<const Program>(text, text_address()); });
  return *program;
}

Result<CodeObject> CodeObject::load(std::span<const std::byte> file) {
  auto content = std::make_shared<Content>();
  content->file.assign(file.begin(), file.end());
  llvm::StringRef bytes(reinterpret_cast<const char *>(content->file.data()), content->file.size());
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return bad("it is not an ELF file");
  if (bytes.size() < 64 || bytes[4] != 2 || bytes[5] != 1)
    return bad("it is not a 64-bit little-endian ELF file, or it is truncated");
  NEREID_TRY(const auto elf, parsed(ElfFile::create(bytes)));
  NEREID_CHECK(check_header(elf));
  NEREID_TRY(content->image, load_image(elf));
  NEREID_TRY(content->relocations, find_relocations(elf, content->image.size()));
  NEREID_CHECK(content->add_kernels(elf));
  NEREID_CHECK(content->add_sections(elf));
  CodeObject result;
  result.content_ = std::move(content);
  return result;
}

const std::vector<KernelInfo> &CodeObject::kernels() const & { return content_->kernels; }

Result<const KernelInfo *> CodeObject::kernel(const std::string &name) const & {
  const auto &kernels = content_->kernels;
  if (name.empty() && kernels.size() == 1)
    return &kernels.front();
  std::string all;
  for (const KernelInfo &kernel : kernels) {
    if (kernel.name == name)
      return &kernel;
    all += (all.empty() ? "" : ", ") + kernel.name;
  }
  return user_error(name.empty() ? "the code object has several kernels; name one of: " + all
                                 : fmt::format("there is no kernel '{}' in the code object", name),
                    all.empty() ? "" : "kernels: " + all);
}

const Program &CodeObject::program() const & { return content_->instructions(); }
std::span<const std::byte> CodeObject::image() const & { return content_->image; }
std::span<const Relocation> CodeObject::relocations() const & { return content_->relocations; }

SourceLine CodeObject::line(uint64_t address) const { return find_line(content_->lines, address); }

} // namespace nereid::sim
