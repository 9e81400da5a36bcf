// Candidates whose configs make no difference to their code.
#include "jit/tune/same_code.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "llvm/Object/ELFObjectFile.h"

namespace nereid::jit {
namespace {

/// What is loaded of a code object besides what names it: .text, and .rodata with the descriptor of the
/// kernel. Empty where it cannot be read.
std::string loaded_content(std::span<const uint8_t> code_object) {
  const llvm::StringRef bytes(reinterpret_cast<const char *>(code_object.data()), code_object.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  std::string content;
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    const llvm::object::ELFSectionRef elf(section);
    if (elf.getType() != llvm::ELF::SHT_PROGBITS || !(elf.getFlags() & llvm::ELF::SHF_ALLOC))
      continue;
    llvm::Expected<llvm::StringRef> part = section.getContents();
    if (!part) {
      llvm::consumeError(part.takeError());
      return "";
    }
    content += std::to_string(part->size()) + ':' + part->str();
  }
  return content;
}

/// Of all kernels of a candidate, in order; empty where there is none, or one without code.
std::string content_of(const CompiledKernels &kernels) {
  std::string content;
  for (const auto &kernel : kernels) {
    const std::string loaded = loaded_content(kernel->code_object());
    if (loaded.empty())
      return "";
    content += std::to_string(kernel->block()) + ':' + loaded;
  }
  return content;
}

bool are_equal(const InstructionCounts &a, const InstructionCounts &b) {
  constexpr uint64_t InstructionCounts::*members[] = {
      &InstructionCounts::total,     &InstructionCounts::mfma,        &InstructionCounts::valu,
      &InstructionCounts::salu,      &InstructionCounts::smem,        &InstructionCounts::lds,
      &InstructionCounts::vmem_load, &InstructionCounts::vmem_store,  &InstructionCounts::vmem_atomic,
      &InstructionCounts::barrier,   &InstructionCounts::waitcnt,     &InstructionCounts::branch,
      &InstructionCounts::other,     &InstructionCounts::longest_wave};
  return std::all_of(std::begin(members), std::end(members),
                     [&](const auto member) { return a.*member == b.*member; });
}

bool did_the_same(const LaunchInfo &a, const LaunchInfo &b) {
  return a.grid == b.grid && a.instructions && b.instructions && are_equal(*a.instructions, *b.instructions);
}

} // namespace

void find_same_code(std::vector<TuneOutcome> &candidates) {
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string content = content_of(candidates[i].kernels);
    if (content.empty())
      continue;
    const auto [found, is_new] = first.emplace(content, i);
    if (!is_new)
      candidates[i].same_code_as = found->second;
  }
}

bool take_times(const std::vector<LaunchInfo> &timed, std::vector<LaunchInfo> &launches) {
  if (timed.empty() ||
      !std::equal(timed.begin(), timed.end(), launches.begin(), launches.end(), did_the_same))
    return false;
  if (!std::all_of(timed.begin(), timed.end(), [](const LaunchInfo &each) { return each.time.has_value(); }))
    return false;
  for (size_t i = 0; i < launches.size(); ++i)
    launches[i].time = timed[i].time;
  return true;
}

} // namespace nereid::jit
