#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::jit {

/// Reserved of the address space; memory is taken of it only where it is touched.
inline constexpr size_t large_stack_bytes = size_t{64} << 20;

/// Runs `work` to its end on a thread whose stack has `bytes` bytes; right here when this thread is such a
/// one. What `work` throws is thrown here. Error (Environment): there is no such thread to be had.
Status run_on_large_stack(llvm::function_ref<void()> work, size_t bytes = large_stack_bytes);

/// The same for `work` that gives a Status or a Result. Whatever calls LLVM, LLD or comgr goes through it:
/// they need more stack than the thread of a user may have, which can be a few hundred KiB.
template <class Work> std::invoke_result_t<Work> on_large_stack(Work &&work) {
  std::optional<std::invoke_result_t<Work>> result;
  NEREID_CHECK(run_on_large_stack([&] { result.emplace(std::forward<Work>(work)()); }));
  return *std::move(result);
}

} // namespace nereid::jit
