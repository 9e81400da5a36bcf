// Takes the code object for gfx950 out of a clang offload bundle.
#include "jit/compile/fat_binary.h"

#include <string>

#include <fmt/format.h>

#include "jit/compile/compiler.h"
#include "llvm/Object/OffloadBundle.h"
#include "llvm/Support/Endian.h"

namespace nereid::jit {
namespace {

// The formats as clang's manual describes them (ClangOffloadBundler): the magic, the number of entries, for
// each its offset, size, length of the target's name, and the name; numbers of 64 bits.
constexpr llvm::StringLiteral bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr llvm::StringLiteral compressed_magic = "CCOB";
constexpr llvm::StringLiteral offload_binary_magic = "\x10\xFF\x10\xAD";

/// LLVM allocates what a header claims: a damaged one must not take the machine's memory.
constexpr uint64_t max_bundle_size = uint64_t{1} << 30;

Error bad(const std::string &what, const std::string &remedy = {}) {
  return user_error("fat binary: " + what, remedy);
}

/// Reads the numbers and names of a bundle's header; past its end there is nothing.
class Header {
public:
  explicit Header(llvm::StringRef rest) : rest_(rest) {}

  std::optional<uint64_t> number() {
    if (rest_.size() < 8)
      return std::nullopt;
    const uint64_t value = llvm::support::endian::read64le(rest_.data());
    rest_ = rest_.drop_front(8);
    return value;
  }
  std::optional<llvm::StringRef> text(uint64_t size) {
    if (rest_.size() < size)
      return std::nullopt;
    const llvm::StringRef value = rest_.take_front(size);
    rest_ = rest_.drop_front(size);
    return value;
  }

private:
  llvm::StringRef rest_;
};

/// "hipv4-amdgcn-amd-amdhsa--gfx950:xnack-" is for gfx950.
bool is_for_target(llvm::StringRef entry) {
  return entry.contains("amdgcn") &&
         llvm::StringRef(entry.str() + ":").contains(fmt::format("-{}:", target_cpu));
}

std::vector<uint8_t> copy(llvm::StringRef bytes) { return {bytes.bytes_begin(), bytes.bytes_end()}; }

Result<std::vector<uint8_t>> entry_of(llvm::StringRef bundle) {
  Header header(bundle.drop_front(bundle_magic.size()));
  const std::optional<uint64_t> count = header.number();
  std::string targets;
  for (uint64_t i = 0; count && i < *count; ++i) {
    const std::optional<uint64_t> offset = header.number(), size = header.number(), length = header.number();
    const std::optional<llvm::StringRef> name = length ? header.text(*length) : std::nullopt;
    if (!name)
      return bad(fmt::format("the bundle ends in its entry {} of {}", i, *count));
    if (*offset > bundle.size() || *size > bundle.size() - *offset)
      return bad(
          fmt::format("its entry '{}' lies outside the {} bytes (truncated?)", name->str(), bundle.size()));
    if (is_for_target(*name))
      return copy(bundle.substr(*offset, *size));
    targets += (targets.empty() ? "" : ", ") + name->str();
  }
  if (!count)
    return bad("the bundle ends in its header");
  return bad(fmt::format("it has no entry for {}; it has {}", target_cpu, targets.empty() ? "none" : targets),
             "Compile it with --offload-arch=gfx950");
}

Result<std::vector<uint8_t>> decompressed_entry_of(llvm::StringRef compressed) {
  using llvm::object::CompressedOffloadBundle;
  const auto unreadable = [](llvm::Error error) {
    return bad("the compressed bundle cannot be read: " + llvm::toString(std::move(error)));
  };
  auto header = CompressedOffloadBundle::CompressedBundleHeader::tryParse(compressed);
  if (!header)
    return unreadable(header.takeError());
  if (header->UncompressedFileSize > max_bundle_size)
    return bad(fmt::format("the compressed bundle claims {} bytes, more than {}",
                           header->UncompressedFileSize, max_bundle_size));
  auto plain = CompressedOffloadBundle::decompress(
      *llvm::MemoryBuffer::getMemBuffer(compressed, "", /*RequiresNullTerminator=*/false));
  if (!plain)
    return unreadable(plain.takeError());
  if (!(*plain)->getBuffer().starts_with(bundle_magic))
    return bad("what is compressed in it is no bundle");
  return entry_of((*plain)->getBuffer());
}

} // namespace

Result<std::vector<uint8_t>> unbundled(std::span<const uint8_t> bytes) {
  const llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.starts_with(bundle_magic))
    return entry_of(text);
  if (text.starts_with(compressed_magic))
    return decompressed_entry_of(text);
  if (text.starts_with(offload_binary_magic))
    return bad("it is an LLVM offload binary",
               "Take the code object out: clang-offload-packager --image=file=OUT,arch=gfx950 FILE");
  return copy(text);
}

} // namespace nereid::jit
