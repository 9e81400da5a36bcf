#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sim/code_object.h"
#include "sim/machine.h"

namespace nereid::sim::test {

/// An entry of tests/sim/reference/launches.json.
struct ReferenceLaunch {
  std::string file; ///< without .ll
  std::string kernel;
  uint32_t m = 0, n = 0, k = 0;
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  std::vector<std::variant<std::string, uint32_t>> arguments; ///< names of buffers, numbers
  bool strength_reduction = true;                             ///< of loops (llc's -disable-lsr)
  bool reads_ahead = false; ///< loads beyond the end of B and SB, whose values it does not use

  bool large() const { return file.starts_with("large"); }
  bool fused() const { return file.starts_with("fused"); }
};

std::vector<ReferenceLaunch> reference_launches();
/// The entry for a file; ends the test with an exception when there is none.
ReferenceLaunch reference_launch(const std::string &file);
/// The assembler text that LLVM makes of it.
std::string reference_assembly(const ReferenceLaunch &launch);

/// Random operands of a launch, in simulated memory, and what must come out.
class ReferenceRun {
public:
  explicit ReferenceRun(const ReferenceLaunch &launch, unsigned seed = 1);

  /// Launches a code object on fresh results. Fields of `options` other than shape and arguments are kept.
  Report run(const CodeObject &code, const Launch &options = {});
  /// Compares results with a host computation, to the bit.
  void expect_results();

  /// Replaces a buffer of results by an operand: a workspace that another kernel has written.
  void set(const std::string &buffer, std::vector<uint8_t> content);
  std::vector<uint8_t> result(const std::string &buffer) const;
  /// What a buffer must hold.
  std::vector<uint8_t> expected(const std::string &buffer) const { return expected_.at(buffer)(); }

private:
  struct Buffer {
    std::vector<uint8_t> content; ///< an operand, or empty
    size_t size = 0;
    uint64_t address = 0;
  };
  void make_product(unsigned seed);
  void make_quantisation(unsigned seed);
  void make_reduction(unsigned seed);
  template <class T> void operand(const std::string &name, const std::vector<T> &content, size_t padding = 0);

  ReferenceLaunch launch_;
  Memory memory_;
  std::map<std::string, Buffer> buffers_;
  /// What must come out, computed when it is asked for.
  std::map<std::string, std::function<std::vector<uint8_t>()>> expected_;
  std::vector<size_t> compared_scales_; ///< bytes of S that belong to rows which exist
};

} // namespace nereid::sim::test
