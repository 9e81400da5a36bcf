#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "sim/run/machine.h"
#include "sim/state/wave.h"

namespace nereid::sim {

/// A launch that is executed step by step on the calling thread, for debugging: between two steps waves,
/// registers, LDS and memory can be read and changed, and the whole can be forked and continued twice.
/// Workgroups and waves take turns exactly as in `run` on one thread.
class Execution {
public:
  enum class State : uint8_t { Running, Done, Faulted };

  /// Sets up a launch; nothing is executed yet. `memory` has to outlive the execution, the rest is copied.
  /// Errors: those of `run`.
  static Result<Execution> start(const CodeObject &code, Memory &memory, const Launch &launch);

  Execution(Execution &&) noexcept;
  Execution &operator=(Execution &&) noexcept;
  ~Execution();

  State state() const;
  const std::optional<Fault> &fault() const &;
  std::optional<Fault> fault() const && { return fault(); }
  /// What was executed so far; waves of the current workgroup count when it has ended.
  Report report() const;

  /// Executes wave instructions, all of the wave whose turn it is until that one stops or has had its slice.
  State step(uint64_t instructions = 1);
  /// Executes until the predicate holds before an instruction, or to the end. At least one instruction is
  /// executed, so that a loop of calls makes progress.
  State run_until(const std::function<bool(const Wave &, const Instruction &)> &predicate);
  /// Executes to the end.
  State run();

  // What follows refers to the execution, and only as long as it lives.

  /// The wave that executes the next instruction, or did the last one. Its registers may be changed; EXEC by
  /// `set_exec`.
  Wave &wave() &;
  /// All waves of the current workgroup.
  std::span<const std::unique_ptr<Wave>> waves() const &;
  std::span<const std::unique_ptr<Wave>> waves() const && = delete;
  std::array<uint32_t, 3> workgroup() const;
  /// The LDS of the current workgroup.
  std::span<std::byte> lds() &;
  Memory &memory() &;

  /// The next instruction while running, else the last one: decoded, as text, and its source line when the
  /// code object has a line table.
  const Instruction &instruction() const &;
  const Instruction &instruction() const && = delete;
  std::string text() const;
  SourceLine line() const;

  /// An independent execution at the same point, with its own copy of the memory (touched pages are copied).
  /// Checks go on in both with what they know. The launch's observer, if any, sees both. Errors: the host may
  /// refuse memory.
  Result<Execution> fork() const;

private:
  struct Content;
  explicit Execution(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

} // namespace nereid::sim
