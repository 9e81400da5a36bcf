#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/state/isa_limits.h"

namespace nereid::sim {

class Program;

/// One argument as the metadata describes it.
struct KernelArgument {
  std::string name;
  std::string value_kind; ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  uint32_t offset = 0;
  uint32_t size = 0;
  bool hidden() const { return value_kind.starts_with("hidden_"); }
};

/// What the metadata and the descriptor say about a kernel.
struct KernelInfo {
  std::string name;
  uint32_t kernarg_size = 0; ///< bytes, hidden arguments included
  std::vector<KernelArgument> arguments;
  uint32_t lds_size = 0;     ///< static LDS, bytes
  uint32_t scratch_size = 0; ///< private memory, bytes a lane
  bool dynamic_stack = false;
  uint32_t sgpr_count = 0;
  uint32_t vgpr_count = 0; ///< of both kinds
  uint32_t agpr_count = 0;
  uint32_t sgpr_spills = 0;
  uint32_t vgpr_spills = 0;
  uint32_t max_workgroup_size = max_work_items;
  std::optional<std::array<uint32_t, 3>> required_block; ///< .reqd_workgroup_size

  uint64_t entry = 0; ///< address in the code object
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernarg_preload = 0;

  /// Where execution starts: with preloaded arguments, hardware skips the prologue that loads them.
  uint64_t first_instruction() const;
  /// The end of the explicit arguments.
  uint32_t explicit_size() const;
};

/// Eight bytes of the image that hold an address: that of the image plus `value`.
struct Relocation {
  uint64_t offset = 0; ///< in the image
  uint64_t value = 0;
};

/// A linked gfx950 code object: kernels, instructions, the loadable image, the line table. Immutable; copies
/// share their content, and what one of them refers to lives as long as it.
class CodeObject {
public:
  /// Parses an ELF file. Errors: no ELF, truncated, not AMDGPU, another ISA than gfx950, no metadata, bad
  /// descriptors, symbols that are defined nowhere.
  static Result<CodeObject> load(std::span<const std::byte> file);

  const std::vector<KernelInfo> &kernels() const &;
  std::vector<KernelInfo> kernels() const && { return kernels(); }
  /// The kernel of that name; with an empty name the only one.
  Result<const KernelInfo *> kernel(const std::string &name) const &;
  Result<const KernelInfo *> kernel(const std::string &name) const && = delete;
  /// The decoded text section. The first call decodes it.
  const Program &program() const &;
  const Program &program() const && = delete;
  /// The bytes of the loadable segments, from address 0 on.
  std::span<const std::byte> image() const &;
  std::span<const std::byte> image() const && = delete;
  /// What depends on where the image lies: tables of functions, for instance.
  std::span<const Relocation> relocations() const &;
  std::span<const Relocation> relocations() const && = delete;
  /// The source line of an instruction address, when the code object has debug information.
  SourceLine line(uint64_t address) const;

private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

} // namespace nereid::sim
