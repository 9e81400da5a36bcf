// Finds the code object, and its size, that a bare pointer leads to.
#include "hip_sim/code_image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace nereid::hip_sim {
namespace {

constexpr std::string_view elf_magic = ELFMAG;
/// clang-offload-bundler: "Bundled code object layout", uncompressed and compressed.
constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";

/// Bytes that may be read up to a limit.
class Image {
public:
  Image(const std::byte *bytes, size_t limit) : bytes_(bytes), limit_(limit) {}

  /// False when the image ends before.
  template <class T> bool read(uint64_t at, T &to) const {
    if (at > limit_ || sizeof(T) > limit_ - at)
      return false;
    std::memcpy(&to, bytes_ + at, sizeof(T));
    return true;
  }
  bool starts_with(std::string_view text) const {
    return text.size() <= limit_ && std::memcmp(bytes_, text.data(), text.size()) == 0;
  }
  bool holds(uint64_t at, uint64_t size) const { return at <= limit_ && size <= limit_ - at; }
  const std::byte *at(uint64_t offset) const { return bytes_ + offset; }
  size_t limit() const { return limit_; }

private:
  const std::byte *bytes_;
  size_t limit_;
};

/// The end of the last part that the headers of an ELF file tell of.
uint64_t elf_size(const Image &image) {
  Elf64_Ehdr header;
  if (!image.read(0, header))
    return sizeof header;
  uint64_t end = sizeof header;
  end = std::max<uint64_t>(end, header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  end = std::max<uint64_t>(end, header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (image.read(header.e_phoff + i * sizeof segment, segment))
      end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (image.read(header.e_shoff + i * sizeof section, section) && section.sh_type != SHT_NOBITS)
      end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

Result<std::span<const std::byte>> code_of_bundle(const Image &image) {
  uint64_t at = bundle_magic.size(), count = 0;
  bool good = image.read(at, count);
  at += sizeof count;
  for (uint64_t i = 0; good && i < count; ++i) {
    struct {
      uint64_t offset, size, name_size;
    } entry;
    good = image.read(at, entry) && image.holds(at + sizeof entry, entry.name_size);
    if (!good)
      break;
    const std::string_view name(reinterpret_cast<const char *>(image.at(at + sizeof entry)), entry.name_size);
    at += sizeof entry + entry.name_size;
    if (name.find("gfx950") == std::string_view::npos)
      continue;
    if (!image.holds(entry.offset, entry.size))
      return user_error("the bundle of code objects is truncated");
    return std::span(image.at(entry.offset), entry.size);
  }
  if (!good)
    return user_error("the bundle of code objects is damaged");
  return user_error("the bundle has no code object for gfx950", "Compile with --offload-arch=gfx950");
}

} // namespace

Result<std::span<const std::byte>> code_of_image(const std::byte *bytes, size_t limit) {
  const Image image(bytes, limit);
  if (image.starts_with(elf_magic))
    return std::span(bytes, std::min<uint64_t>(elf_size(image), image.limit()));
  if (image.starts_with(bundle_magic))
    return code_of_bundle(image);
  if (image.starts_with(compressed_magic))
    return user_error("compressed bundles of code objects are not read",
                      "Compile with --no-offload-compress, or give the code object itself");
  return user_error("it is neither an ELF file nor a bundle of code objects");
}

} // namespace nereid::hip_sim
