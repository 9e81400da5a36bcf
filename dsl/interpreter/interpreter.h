#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "dsl/elements.h"
#include "dsl/interpreter/host_memory.h"
#include "dsl/ir/function.h"

namespace nereid {

/// An argument of a kernel that is interpreted.
struct InterpretArgument {
  enum class Kind : uint8_t { Pointer, I32, I64, F32, U32, U64, F16, BF16, I1, F64 };
  Kind kind = Kind::Pointer;
  uint64_t bits = 0; ///< zero-extended

  static InterpretArgument pointer(uint64_t address) { return {Kind::Pointer, address}; }
  static InterpretArgument pointer(const void *data) { return pointer(reinterpret_cast<uint64_t>(data)); }
  static InterpretArgument i32(int32_t value) { return {Kind::I32, static_cast<uint32_t>(value)}; }
  static InterpretArgument i64(int64_t value) { return {Kind::I64, static_cast<uint64_t>(value)}; }
  static InterpretArgument f32(float value) { return {Kind::F32, std::bit_cast<uint32_t>(value)}; }
  static InterpretArgument f64(double value) { return {Kind::F64, std::bit_cast<uint64_t>(value)}; }
  static InterpretArgument u32(uint32_t value) { return {Kind::U32, value}; }
  static InterpretArgument u64(uint64_t value) { return {Kind::U64, value}; }
  static InterpretArgument f16(nereid::f16 value) { return {Kind::F16, value.bits}; }
  static InterpretArgument bf16(nereid::bf16 value) { return {Kind::BF16, value.bits}; }
  static InterpretArgument i1(bool value) { return {Kind::I1, value}; }
};

struct InterpretOptions {
  /// Host threads that share the programs; 0: as many as the host has. A kernel with atomics or prints runs
  /// on one.
  unsigned threads = 0;
  /// Iterations that loops with a condition (loop_while, and range with break_when) may run in one program
  /// altogether: one more is an error of the kernel's author, since such a loop may have no end.
  uint64_t while_iterations = uint64_t{1} << 24;
  /// Takes the lines of device_print; empty: they go to stderr.
  std::function<void(std::string_view)> print;
};

/// Runs a kernel's programs (grid: x, y, z) on host memory straight from its verified IR, one at a time in
/// the order of their ids with x fastest. It is the meaning of the language; docs/tile-ir.md says what is
/// fixed here that the language leaves open (orders of sums).
///
/// The first error ends it, with the location of the kernel's line, the program and the element. Errors of
/// the kernel's author (user): an access outside every allocation or not aligned to its element, an i32
/// overflow that reaches an address, a division by zero, or memory that nothing has written, which reaches
/// memory (the latter after arithmetic), an address, a branch or a print, a failed device_assert or assume, a
/// loop whose step is not positive or whose condition never ends it, inline_asm without a host function;
/// errors of the caller (user): arguments that do not fit the function or contradict its specialisation.
/// Memory holds what was stored until then.
Status interpret(const ir::Function &function, const std::array<uint32_t, 3> &grid,
                 std::span<const InterpretArgument> arguments, const HostMemory &memory,
                 const InterpretOptions &options = {});

} // namespace nereid
