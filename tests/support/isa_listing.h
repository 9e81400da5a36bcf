#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// A kernel's machine code as the disassembler prints it, its blocks and its loops.
namespace nereid::test {

struct IsaInstruction {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string opcode;
  std::string operands;
};

class IsaListing {
public:
  /// From CompiledKernel::annotated_isa.
  explicit IsaListing(const std::string &annotated_isa);

  const std::vector<IsaInstruction> &all() const { return instructions_; }
  /// The innermost loop with the most matrix instructions; null when no loop has any.
  const std::vector<IsaInstruction> *hot_loop() const { return loop_ ? &*loop_ : nullptr; }

private:
  struct Block {
    size_t first, end; ///< instruction numbers
    std::vector<size_t> next;
  };

  void find_blocks();
  std::vector<std::set<size_t>> dominators() const;
  std::set<size_t> natural_loop(size_t header, size_t latch) const;
  void find_hot_loop();
  std::optional<size_t> branch_target(size_t instruction) const;
  size_t matrix_instructions(const std::set<size_t> &blocks) const;

  std::vector<IsaInstruction> instructions_;
  std::vector<Block> blocks_;
  std::optional<std::vector<IsaInstruction>> loop_;
};

} // namespace nereid::test
