// A process that launches one kernel: what a user waits for before anything happens. Prints which cache had
// the kernel, and whether LLVM's code generator and options were touched. The simulator reads the kernel with
// LLVM's disassembler, which is no part of those.
#include <algorithm>
#include <cstdio>

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>

#include "bench/vector_add.h"
#include "jit/kernel.h"

using namespace nereid;

namespace {

Result<CacheLevel> launch() {
  constexpr int n = 1000;
  const Device device = Device::simulator({.threads = 1});
  NEREID_TRY(const Buffer<float> x, device.upload(std::vector<float>(n, 1.5F)));
  NEREID_TRY(const Buffer<float> z, device.allocate<float>(n));
  NEREID_TRY(const LaunchInfo info, Kernel("add", add)(device.stream(), Grid{1}, AddConfig{}, x, x, z, n));
  NEREID_TRY(const std::vector<float> result, z.to_host());
  if (result[n - 1] != 3.0F)
    return device_error("the sum is wrong");
  return info.cache;
}

bool is_llvm_touched() {
  const auto targets = llvm::TargetRegistry::targets();
  const bool can_compile = std::any_of(targets.begin(), targets.end(),
                                       [](const llvm::Target &target) { return target.hasTargetMachine(); });
  const auto &options = llvm::cl::getRegisteredOptions();
  const auto lsr = options.find("disable-lsr");
  const bool is_set = lsr != options.end() && static_cast<llvm::cl::opt<bool> *>(lsr->second)->getValue();
  return can_compile || is_set;
}

} // namespace

int main() {
  const Result<CacheLevel> cache = launch();
  if (!cache) {
    std::fprintf(stderr, "%s\n", cache.error().text().c_str());
    return 1;
  }
  std::printf("%s, LLVM %s\n", std::string(name_of(*cache)).c_str(),
              is_llvm_touched() ? "touched" : "untouched");
}
