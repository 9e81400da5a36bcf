// Uses the installed simulator: memory, code objects, and the error of one that is none.

#include <cstdio>
#include <vector>

#include "sim/execution.h"
#include "sim/machine.h"

int main() {
  nereid::sim::Memory memory;
  auto buffer = memory.allocate(64);
  const uint32_t written = 42;
  uint32_t read = 0;
  if (!buffer || !memory.write(*buffer, &written, 4) || !memory.read(*buffer, &read, 4) || read != 42)
    return 1;
  auto copy = memory.fork();
  if (!copy || !(*copy)->read(*buffer, &read, 4) || read != 42)
    return 2;
  const std::vector<std::byte> nothing(64);
  auto code = nereid::sim::CodeObject::load(nothing);
  if (code)
    return 3;
  std::puts(code.error().text().c_str());
  return 0;
}
