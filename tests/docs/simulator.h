// What the fragments of docs/simulator.md use.
#include <span>

#include "base/result.h"
#include "sim/code_object.h"
#include "sim/execution.h"
#include "sim/machine.h"

using namespace nereid;
using namespace nereid::sim;

struct Context {
  std::vector<std::byte> bytes, arguments;
  Result<CodeObject> code;
  Memory memory;
  Launch launch;
};
#define NAMES auto &[bytes, arguments, code, memory, launch] = context;
