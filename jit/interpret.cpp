#include "jit/interpret.h"

#include <vector>

#include "dsl/interpreter/interpreter.h"
#include "jit/device/device_interface.h"

namespace nereid::jit {

Status run_interpreter(const ir::Function &function, Grid grid, std::span<const ArgumentValue> arguments,
                       const Stream &stream) {
  if (Status done = stream.synchronize(); !done)
    return done;
  Result<HostMemory> memory = stream.interface().host_memory();
  if (!memory)
    return memory.error();
  std::vector<InterpretArgument> values;
  for (const ArgumentValue &argument : arguments) {
    using Kind = InterpretArgument::Kind;
    constexpr Kind kinds[] = {Kind::Pointer, Kind::I32, Kind::I64, Kind::F32};
    values.push_back({kinds[static_cast<size_t>(argument.kind)], argument.bits});
  }
  return interpret(function, {grid.x, grid.y, grid.z}, values, *memory);
}

} // namespace nereid::jit
