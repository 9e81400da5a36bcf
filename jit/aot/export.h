#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "jit/compile/compiled_kernel.h"

/// Kernels as files for programs without Nereid: the code object, a C header, a C launcher and a manifest.
namespace nereid::aot {

/// What a number has to be that a launch gives, for the code to be right; of a float only Equals. A launcher
/// checks it.
struct Condition {
  enum class Kind { MultipleOf, Equals, AtLeast, AtMost };

  std::string argument;
  Kind kind = Kind::MultipleOf;
  int64_t value = 1;

  bool operator==(const Condition &) const = default;
};

/// Programs of a launch in one dimension.
struct Programs {
  enum class Kind { Given, Constant, Blocks };

  Kind kind = Kind::Given; ///< Given: by the caller of the launcher
  std::string argument; ///< Blocks: the integer argument that is split; Given: what the parameter is called
  int64_t value = 1;    ///< Constant: the programs; Blocks: elements of a block

  static Programs given(std::string name) { return {Kind::Given, std::move(name), 1}; }
  static Programs constant(int64_t programs) { return {Kind::Constant, {}, programs}; }
  static Programs blocks(std::string argument, int64_t block) {
    return {Kind::Blocks, std::move(argument), block};
  }
  bool operator==(const Programs &) const = default;
};

/// A kernel to write.
struct Export {
  std::shared_ptr<const CompiledKernel> kernel; ///< with code: not built for the interpreter alone
  /// Of the files and of the C functions: an identifier of C. Empty: the kernel's name.
  std::string name;
  std::string summary; ///< a sentence for the header
  /// In addition to what the kernel was specialised on (alignment, divisibility, constants), which is known.
  std::vector<Condition> conditions;
  std::array<Programs, 3> programs{Programs::given("grid_x"), Programs::given("grid_y"),
                                   Programs::given("grid_z")};
  std::map<std::string, std::string> layouts; ///< what the memory of an argument holds, for the header
};

/// Writes for each kernel NAME.hsaco, NAME.h, NAME.c and NAME.json into the directory, which is made when it
/// is missing, and nereid_aot.h and nereid_aot_hip.h, which all launchers share. The same kernels give the
/// same bytes. NAME.c is C11 and needs nothing but HIP's module API, which it opens at run time, or links
/// with NEREID_AOT_LINK_HIP.
///
/// Gives the paths that it wrote. Errors: user: a name that is no identifier or is there twice, a condition
/// on an argument that the kernel does not have, a kernel without code, two files that are the same one by
/// way of links; environment: a file cannot be written. Then no file is there that was not before.
Result<std::vector<std::string>> write(const std::string &directory, std::span<const Export> kernels);

} // namespace nereid::aot
