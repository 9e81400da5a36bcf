#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::sim::test {

/// The assembler text of one kernel, line by line, to be broken at one line.
class AssemblyText {
public:
  explicit AssemblyText(const std::string &text);

  /// Numbers of the lines that hold an instruction of that name.
  std::vector<size_t> lines_with(const std::string &mnemonic) const;
  /// Of these, the ones inside a loop: between a label and a branch back to it.
  std::vector<size_t> loop_lines_with(const std::string &mnemonic) const;
  /// The last wait for a counter before a line, in the same block and after the barrier before it; `none`
  /// when there is no such wait.
  size_t wait_before(size_t line, const std::string &counter) const;
  static constexpr size_t none = ~size_t{0};

  std::string text() const;
  std::string line(size_t number) const { return lines_[number]; }
  /// The text without a line.
  std::string without(size_t number) const;
  /// The text with a counter ("vmcnt", "lgkmcnt") of a wait raised by one; empty when the line does not have
  /// it.
  std::string with_raised(size_t number, const std::string &counter) const;

private:
  bool in_loop(size_t number) const;
  /// The instruction of a line without what is before and after it, or an empty string.
  std::string instruction(size_t number) const;

  std::vector<std::string> lines_;
};

} // namespace nereid::sim::test
