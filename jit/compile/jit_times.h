#pragma once

#include <cstdint>
#include <string_view>

namespace nereid {

/// Milliseconds of each step of building a kernel; 0 for a step that a cache saved.
struct JitTimes {
  double trace = 0;
  double passes = 0;  ///< canonical form, verification, hash
  double llvm_ir = 0; ///< lowering to LLVM IR
  double opt = 0;
  double codegen = 0;
  double link = 0;
  double load = 0;

  double total() const { return trace + passes + llvm_ir + opt + codegen + link + load; }
};

/// The members by the names under which they are printed, in order.
struct StageTime {
  const char *name;
  double JitTimes::*member;
};
inline constexpr StageTime jit_stages[] = {{"trace", &JitTimes::trace},     {"passes", &JitTimes::passes},
                                           {"llvm_ir", &JitTimes::llvm_ir}, {"opt", &JitTimes::opt},
                                           {"codegen", &JitTimes::codegen}, {"link", &JitTimes::link},
                                           {"load", &JitTimes::load}};

/// Which cache had the kernel.
enum class CacheLevel : uint8_t { None, Memory, Disk };

/// "none", "memory" or "disk".
std::string_view name_of(CacheLevel level);

} // namespace nereid
