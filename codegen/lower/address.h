#pragma once

#include "codegen/lower/value_map.h"
#include "codegen/schedule/prefetch_plan.h"

namespace nereid::codegen {

/// Where an element lies: a pointer and bytes from it.
struct Address {
  llvm::Value *base;
  Offset offset;
  bool uniform_base = true;
};

/// Addresses and the integers that they are made of, taken apart into what is the same for all threads and
/// what is not.
class AddressEmitter {
public:
  AddressEmitter(EmitContext &context, ValueMap &values, RegionCache &cache)
      : context_(context), builder_(context.builder), values_(values), cache_(cache) {}

  /// By register of the layout. With a plan, what its iterations add to a pointer stays apart from the base,
  /// so that one buffer descriptor serves all iterations.
  std::vector<Address> addresses(ir::ValueId pointer, const LinearLayout &layout,
                                 const PrefetchPlan *plan = nullptr);
  /// The addresses of a pointer in a small buffer (small_buffer_of) as offsets of 32 bits from the buffer's
  /// start; of elements that lie in it. Nothing for other pointers.
  std::optional<std::vector<Address>> in_small_buffer(ir::ValueId pointer,
                                                      const std::vector<Address> &addresses);
  /// The same as pointers: the uniform part goes to the base in scalar registers, the threads' part is added
  /// last.
  Registers pointers(ir::ValueId pointer, const LinearLayout &layout, const PrefetchPlan *plan = nullptr);
  /// The integers of a tile that is rematerialisable, by register of the layout.
  Offsets offsets(ir::ValueId value, const LinearLayout &layout);

private:
  struct Request : Demand<Offsets> {
    const ir::Op *op = nullptr; ///< that is taken apart
  };

  Request open(const LayoutRequest &wanted) const;
  Offsets finish(const Request &request);
  Offsets combine(const Request &request);
  Offsets offsets_of_arange(const ir::Op &op, const LinearLayout &layout);
  Offsets offsets_of_registers(ir::ValueId value, const LinearLayout &layout);
  Offset scalar_offset(ir::ValueId value);
  std::vector<Address> bases(ir::ValueId pointer, const LinearLayout &layout, const PrefetchPlan *plan);
  Address scalar_address(ir::ValueId pointer, const PrefetchPlan *plan);

  EmitContext &context_;
  llvm::IRBuilder<> &builder_;
  ValueMap &values_;
  RegionCache &cache_;
};

} // namespace nereid::codegen
