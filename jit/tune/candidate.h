#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "jit/device/launch.h"
#include "jit/kernel.h"
#include "jit/tune/compile_function.h"
#include "jit/tune/memory_range.h"

namespace nereid {

/// One run of a candidate: its launches, in order.
using CandidateRun = std::function<Result<std::vector<LaunchInfo>>()>;

/// One configuration to try, which may be several launches: how to compile what it launches, and how to run
/// it once.
struct TuneCandidate {
  std::string config; ///< "block=1024,waves=4"; differs from those of all other candidates
  /// All kernels that it launches. Called in a worker process too, with a simulator.
  CompileFunction compile;
  CandidateRun run; ///< what is ranked
  /// The run whose results are validated, where that is not `run`: the same kernels on a smaller problem; a
  /// candidate whose check launches other code is rejected. With it a simulator that is asked for times alone
  /// does not compute the results of `run`.
  CandidateRun check;
  std::vector<MemoryRange> writes; ///< poisoned before each run that is validated
};

namespace jit {

/// How a candidate keeps an argument: numbers and pointers by value; a buffer, which cannot be copied, by
/// reference.
template <class A> using KeptArgument = std::conditional_t<std::is_copy_constructible_v<A>, A, const A &>;

/// Adds the memory that a launch writes through a parameter P, if any.
template <class P> struct WrittenArgument {
  template <class A> static void add(std::vector<MemoryRange> &, const A &) {}
};
template <class T>
  requires(!std::is_const_v<T>)
struct WrittenArgument<Ptr<T>> {
  template <class A> static void add(std::vector<MemoryRange> &writes, const A &argument) {
    writes.emplace_back(argument);
  }
};

} // namespace jit

/// A candidate that is one launch of one kernel. It writes what its parameters Ptr<T> with T not const point
/// to. Buffers must outlive it.
template <class Config, class... P, class... A>
TuneCandidate candidate(const KernelOf<Config, P...> &kernel, const Stream &stream, Grid grid,
                        const Config &config, A &&...arguments) {
  static_assert(((std::is_lvalue_reference_v<A> || std::is_copy_constructible_v<A>) && ...),
                "a candidate refers to its buffers: they have to outlive it");
  using Kept = std::tuple<jit::KeptArgument<std::remove_cvref_t<A>>...>;
  TuneCandidate result;
  result.config = config_text(config);
  result.compile = [=, facts = KernelOf<Config, P...>::facts(arguments...)](
                       const Device &device) -> Result<CompiledKernels> {
    NEREID_TRY(auto compiled, kernel.compile(config, facts, device));
    return CompiledKernels{compiled};
  };
  result.run = [=, kept = Kept(arguments...)]() -> Result<std::vector<LaunchInfo>> {
    const auto launch = [&](const auto &...values) { return kernel(stream, grid, config, values...); };
    NEREID_TRY(LaunchInfo launched, std::apply(launch, kept));
    return std::vector{launched};
  };
  (jit::WrittenArgument<std::decay_t<P>>::add(result.writes, arguments), ...);
  return result;
}

/// The same with the kernel's own grid. Its run is an error (user) where the kernel has none.
template <class Config, class... P, class... A>
  requires(sizeof...(A) == sizeof...(P))
TuneCandidate candidate(const KernelOf<Config, P...> &kernel, const Stream &stream, const Config &config,
                        A &&...arguments) {
  const Result<Grid> grid = kernel.grid(config, arguments...);
  TuneCandidate result =
      candidate(kernel, stream, grid ? *grid : Grid{}, config, std::forward<A>(arguments)...);
  if (!grid)
    result.run = [error = grid.error()]() -> Result<std::vector<LaunchInfo>> { return error; };
  return result;
}

} // namespace nereid
