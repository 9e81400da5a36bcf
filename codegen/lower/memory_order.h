#pragma once

#include <optional>
#include <vector>

#include "codegen/lower/emit_context.h"

namespace nereid::codegen {

/// The program order of memory accesses, which the language guarantees over all waves: the accesses since
/// the last barrier, and where the next barrier has to be.
class MemoryOrder {
public:
  struct Access {
    std::optional<ir::ValueId> argument; ///< the pointer it comes from, if it is known
    ir::ValueId pointer;
    bool writes;
    LinearLayout layout;

    bool operator==(const Access &) const = default;
  };
  using Accesses = std::vector<Access>;

  explicit MemoryOrder(EmitContext &context) : context_(context) {}

  /// The wave's global accesses before are complete: its stores of device scope are seen by all programs.
  void wait();
  /// Everything that the workgroup's waves did to memory before is seen by all of them after. Fails in a loop
  /// whose iterations are split over the waves.
  void barrier();
  /// A barrier where other waves' accesses to the memory of `access` must be over first.
  void before(const ir::Op &access);
  /// Accesses of a loop's body may follow those of its next iteration.
  void expect(const ir::Block &body);

  /// Where control flow parts and meets: what stands since the last barrier on the way to here, each once.
  const Accesses &accesses() const { return accesses_; }
  void restart(Accesses accesses) { accesses_ = std::move(accesses); }
  void add(const Accesses &accesses);

private:
  void add(Access access);

  EmitContext &context_;
  Accesses accesses_;
};

} // namespace nereid::codegen
