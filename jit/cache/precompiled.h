#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jit/compile/compiler.h"

namespace nereid::jit {

/// What other processes compiled, by key.
using BinariesByKey = std::map<std::string, Binary, std::less<>>;

/// While it lives, build_kernel finds these binaries before it looks on disk or compiles. Several may live at
/// once, on any threads.
class PrecompiledKernels {
public:
  explicit PrecompiledKernels(BinariesByKey binaries);
  ~PrecompiledKernels();
  PrecompiledKernels(const PrecompiledKernels &) = delete;
  PrecompiledKernels &operator=(const PrecompiledKernels &) = delete;

  static std::optional<Binary> find(std::string_view key);

private:
  BinariesByKey binaries_;
};

} // namespace nereid::jit
