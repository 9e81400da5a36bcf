#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
}

namespace nereid::jit {

/// No kernel's file is larger.
inline constexpr uint64_t max_entry_bytes = uint64_t{256} << 20;

enum class EntryState {
  Read,
  Missing,
  Unusable,   ///< no regular file, too large, or it cannot be read
  Distrusted, ///< another user's, or everybody may write to it
};

/// The bytes of a file in a cache directory, or why there are none.
struct EntryFile {
  EntryState state = EntryState::Missing;
  std::string problem; ///< for people, of Unusable and Distrusted: "it is a FIFO"
  std::unique_ptr<llvm::MemoryBuffer> bytes;

  EntryFile();
  EntryFile(EntryState state, std::string problem);
  EntryFile(EntryFile &&) noexcept;
  EntryFile &operator=(EntryFile &&) noexcept;
  ~EntryFile();
};

/// Never waits: what is no regular file is not opened. The bytes are a copy, so that another process may cut
/// the file meanwhile.
EntryFile read_entry_file(const std::string &path);

} // namespace nereid::jit
