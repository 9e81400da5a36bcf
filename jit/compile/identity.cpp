// Which LLVM, LLD and Nereid make code in this process: parts of the keys of cached kernels.
#include "jit/compile/identity.h"

#include <cstring>
#include <elf.h>
#include <link.h>

#include <fmt/format.h>

#include "jit/compile/digests.h"
#include "llvm/Config/llvm-config.h"

extern "C" void LLVMInitializeAMDGPUTarget();

// lld/Common/Version.h includes a file that packages leave out.
namespace lld {
std::string getLLDVersion();
}

namespace nereid::jit {
namespace {

struct Search {
  uintptr_t address;
  std::string found;
};

std::string note_build_id(const char *notes, size_t size) {
  auto align = [](size_t n) { return (n + 3) & ~size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const size_t name = sizeof(note), data = name + align(note.n_namesz), next = data + align(note.n_descsz);
    if (next > size)
      break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(notes + name, "GNU", 4)) {
      std::string text;
      for (size_t i = 0; i < note.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>(notes[data + i]));
      return text;
    }
    notes += next;
    size -= next;
  }
  return {};
}

int visit(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &header = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    holds |= header.p_type == PT_LOAD && search.address >= start && search.address < start + header.p_memsz;
  }
  if (!holds)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && search.found.empty(); ++i) {
    const auto &header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      search.found =
          note_build_id(reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  if (search.found.empty())
    search.found = info->dlpi_name;
  return 1;
}

} // namespace

std::string build_id_at(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

std::string llvm_identity() {
  return fmt::format("{} {}", LLVM_VERSION_STRING,
                     build_id_at(reinterpret_cast<const void *>(&LLVMInitializeAMDGPUTarget)));
}

std::string lld_identity() { return fmt::format("{} {}", lld::getLLDVersion(), lld_digest); }

std::string nereid_identity() { return fmt::format("{} {}", nereid_version, code_digest); }

} // namespace nereid::jit
