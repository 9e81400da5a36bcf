// Links code objects with LLD in this process; files stay in memory as far as LLD lets them.
#include "jit/compile/linker.h"

#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/compile/llvm_guard.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace nereid::jit {
namespace {

/// An anonymous file with a path, gone when closed.
class MemoryFile {
public:
  MemoryFile() : fd_(memfd_create("nereid", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0)
      close(fd_);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  Status write(llvm::StringRef data) {
    while (fd_ >= 0 && !data.empty()) {
      ssize_t written = ::write(fd_, data.data(), data.size());
      if (written <= 0)
        break;
      data = data.drop_front(static_cast<size_t>(written));
    }
    if (fd_ < 0 || !data.empty())
      return environment_error("cannot make a file in memory for the linker",
                               "Is the machine out of memory?");
    return {};
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
  int fd_;
};

} // namespace

Result<std::vector<uint8_t>> link_code_object(llvm::StringRef object) {
  MemoryFile input;
  NEREID_CHECK(input.write(object));
  llvm::SmallString<128> output;
  if (std::error_code failed = llvm::sys::fs::createTemporaryFile("nereid", "hsaco", output))
    return environment_error("cannot create a temporary file for the linker: " + failed.message(),
                             "Set TMPDIR to a directory that can be written");
  llvm::FileRemover remover(output);

  // LLD keeps global state.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const std::string input_path = input.path();
  const std::vector<const char *> arguments{"ld.lld", "-shared",      "--threads=1",
                                            "-o",     output.c_str(), input_path.c_str()};
  auto *kept = new std::string; // for ever where LLD crashes: it may write to it
  bool good = false;
  NEREID_CHECK(run_guarded("linking", [&]() -> Status {
    llvm::raw_string_ostream stream(*kept);
    good = lld::elf::link(arguments, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
    lld::CommonLinkerContext::destroy();
    return {};
  }));
  const std::unique_ptr<std::string> messages(kept);
  if (!good)
    return nereid_error("linking: " + *messages, "Please report the kernel");

  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return environment_error("cannot read the linker's output: " + buffer.getError().message());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace nereid::jit
