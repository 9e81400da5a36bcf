#pragma once

#include "codegen/lower/address.h"

namespace nereid::codegen {

/// Where what a mask lets an access touch ends, in bytes (i64) from the base and the uniform part of the
/// access's addresses: of a mask "position < bound" whose positions are those of the addresses, one element
/// each, from 0 on, and whose bound is a scalar of a known range. A descriptor that ends there is the mask,
/// without an instruction a lane. Null for other masks. `leaders`: as access_leaders, of `addresses`;
/// `element_bytes`: of what the pointer points to.
llvm::Value *end_of_mask(EmitContext &context, const ValueMap &values, AddressEmitter &emitter,
                         ir::ValueId mask, const LinearLayout &leaders, const std::vector<Address> &addresses,
                         unsigned element_bytes);

} // namespace nereid::codegen
