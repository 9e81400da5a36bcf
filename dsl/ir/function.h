#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dsl/ir/op.h"
#include "dsl/ir/type.h"

namespace nereid::ir {

/// A parameter of a kernel with what the launch knows of it (argument specialisation).
struct Argument {
  ValueId value = 0;
  bool read_only = false;          ///< Ptr<const T>: the kernel does not write through it
  int64_t divisibility = 1;        ///< integer: the value, pointer: the address in bytes, is a multiple of it
  std::optional<int64_t> constant; ///< an integer known at compile time; still passed in the kernarg
  /// pointer: 32 where all that is reached through it lies less than 2^31 bytes after it; 0: not known
  int64_t pointer_range = 0;
};

/// What the waves of a workgroup share: the columns of a tile (N), the rounds of loops that sum up products
/// (K), or its rows and columns (Mn). In order: the numbers of the config key wave_split.
enum class WaveSplit : uint8_t { Auto, N, K, Mn };
inline constexpr std::array<std::string_view, 4> wave_split_names = {"auto", "n", "k", "mn"};
constexpr auto nereid_config_names(WaveSplit) { return wave_split_names; }

/// The reserved config keys: how the compiler is to build the kernel.
struct CompileOptions {
  int waves = 4;        ///< waves of 64 lanes in a workgroup, 1 to 16
  int mfma = 16;        ///< preferred MFMA: 16 for 16x16, 32 for 32x32
  int waves_per_eu = 0; ///< smallest occupancy that the author wants; 0: unset
  WaveSplit wave_split = WaveSplit::Auto;

  bool operator==(const CompileOptions &) const = default;
};

/// The meaning of an inline_asm on the host: element bits of the operands in, bits of the result out.
using HostFunction = std::function<uint64_t(const std::vector<uint64_t> &)>;

/// A kernel in SSA form with structured regions. A plain value: copy it, compare its printed form.
struct Function {
  std::string name;
  std::vector<Argument> arguments;
  CompileOptions options;
  std::vector<Type> value_types; ///< by ValueId
  Block body;

  /// Not in the canonical form: source lines of operations (Op::location), argument names, meanings of
  /// inline_asm by the operation's "host" attribute.
  std::vector<SourceLine> locations{SourceLine{}};
  std::vector<std::string> argument_names;
  std::vector<HostFunction> host_functions;

  const Type &type(ValueId value) const & { return value_types[value]; }
  Type type(ValueId value) const && { return value_types[value]; }
  const SourceLine &location(const Op &op) const & { return locations[op.location]; }
  SourceLine location(const Op &op) const && { return locations[op.location]; }
  ValueId new_value(Type type) {
    value_types.push_back(std::move(type));
    return static_cast<ValueId>(value_types.size() - 1);
  }
};

/// Calls visit(op, line) for every operation, outer before inner, in order. Lines count from 1: the line
/// numbers of the printed canonical form and of the compiled code's DWARF line table.
void for_each_op(const Function &function, const std::function<void(const Op &, unsigned line)> &visit);

} // namespace nereid::ir
