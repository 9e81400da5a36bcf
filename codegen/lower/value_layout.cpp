// In which layout a value stands when nobody asks for another.
#include "codegen/lower/value_layout.h"

#include "codegen/assign/memory_layout.h"

namespace nereid::codegen {

LinearLayout assigned_layout(const KernelPlan &plan, ir::ValueId value) {
  const ir::Type &type = plan.function().type(value);
  if (type.rank() == 0)
    return scalar_layout(plan.function().options.waves);
  if (plan.layouts.assigned[value])
    return plan.layouts.layout(value);
  return default_layout(type.shape, plan.function().options.waves);
}

} // namespace nereid::codegen
