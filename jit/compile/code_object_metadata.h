#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "jit/compile/resources.h"

namespace nereid {

/// An argument of a kernel as its code object's metadata describes it.
struct KernelArgument {
  std::string name;       ///< may be empty
  std::string value_kind; ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  uint32_t offset = 0;    ///< bytes from the start of the kernarg segment
  uint32_t size = 0;      ///< bytes

  /// Filled in by the device, not by the caller.
  bool hidden() const { return value_kind.starts_with("hidden_"); }
};

/// What a code object's metadata says of one of its kernels.
struct KernelMetadata {
  std::string name;
  std::vector<KernelArgument> arguments; ///< in order, hidden ones last
  uint32_t kernarg_size = 0;             ///< bytes of the kernarg segment, hidden arguments included
  uint32_t max_workgroup_size = 1024;    ///< work-items
  std::optional<std::array<uint32_t, 3>> required_block; ///< the only block it may be launched with
  Resources resources; ///< the occupancy is that of its largest workgroup without dynamic LDS

  /// Arguments that the caller gives.
  std::vector<KernelArgument> explicit_arguments() const;
  /// The end of the last of them, in bytes.
  uint32_t explicit_size() const;
};

namespace jit {

/// What the metadata of a code object say.
struct CodeObjectMetadata {
  std::string target; ///< "amdgcn-amd-amdhsa--gfx950"
  std::vector<KernelMetadata> kernels;
};

/// Reads a linked gfx950 code object. Errors (User): no ELF file, not for AMDGPU, for another ISA (both are
/// named), not linked, no metadata, no kernels.
Result<CodeObjectMetadata> read_code_object(std::span<const uint8_t> code_object);

} // namespace jit
} // namespace nereid
