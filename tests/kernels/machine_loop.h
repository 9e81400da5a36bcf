#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "jit/compile/inspection.h"

namespace nereid::kernels::test {

/// The longest loop of a function that is one block: its first instruction and the backward branch at its
/// end, as indices; equal if there is none.
inline std::pair<size_t, size_t> matrix_loop(const jit::MachineFunction &function) {
  const auto &code = function.instructions;
  const auto is_branch = [](const jit::MachineInstruction &instruction) {
    return instruction.text.rfind("s_cbranch", 0) == 0 || instruction.text.rfind("s_branch", 0) == 0;
  };
  const auto ends_block = [&](const jit::MachineInstruction &instruction) {
    return is_branch(instruction) || instruction.text == "s_endpgm";
  };
  std::pair<size_t, size_t> longest{0, 0};
  for (size_t end = 0; end < code.size(); ++end) {
    if (!is_branch(code[end]))
      continue;
    const std::string operand = code[end].text.substr(code[end].text.find_last_of(' '));
    const int words = static_cast<int16_t>(std::stoi(operand));
    const uint64_t target = code[end].address + code[end].size + static_cast<uint64_t>(int64_t(words) * 4);
    for (size_t begin = 0; words < 0 && begin < end; ++begin)
      if (code[begin].address == target && end - begin > longest.second - longest.first &&
          std::none_of(code.begin() + begin, code.begin() + end, ends_block))
        longest = {begin, end};
  }
  return longest;
}

} // namespace nereid::kernels::test
