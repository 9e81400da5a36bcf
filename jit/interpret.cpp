// A launch that the interpreter runs on the memory of its device.
#include "jit/interpret.h"

#include <vector>

#include "dsl/interpreter/interpreter.h"

namespace nereid::jit {

Status run_interpreter(const ir::Function &function, Grid grid, std::span<const ArgumentValue> arguments,
                       DeviceInterface &device) {
  NEREID_TRY(const HostMemory memory, device.host_memory());
  std::vector<InterpretArgument> values;
  for (const ArgumentValue &argument : arguments) {
    using Kind = InterpretArgument::Kind;
    constexpr Kind kinds[] = {Kind::Pointer, Kind::I32, Kind::I64,  Kind::F32, Kind::U32,
                              Kind::U64,     Kind::F16, Kind::BF16, Kind::I1,  Kind::F64};
    values.push_back({kinds[static_cast<size_t>(argument.kind)], argument.bits});
  }
  return interpret(function, grid.sizes(), values, memory);
}

} // namespace nereid::jit
