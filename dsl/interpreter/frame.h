#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dsl/interpreter/host_memory.h"
#include "dsl/interpreter/tensor.h"
#include "dsl/ir/function.h"

namespace nereid::interpreter {

/// What all programs of a launch have in common.
struct Launch {
  const ir::Function &function;
  const HostMemory &memory;
  std::array<uint32_t, 3> grid;
  std::span<const uint64_t> arguments; ///< the bits of each
  std::function<void(std::string_view)> print;
  uint64_t while_iterations;         ///< that a program may run
  std::vector<bool> reaches_address; ///< by value: an i32 whose overflow is looked for
};

/// An element that a load found in memory that nothing had written.
struct UndefinedRead {
  uint32_t location; ///< of the load
  size_t element;
  uint64_t address;
  const ir::Type *type; ///< of the load's result
};

/// The values of one program while it runs, for the operations.
class Frame {
public:
  explicit Frame(const Launch &launch) : launch(launch), values(launch.function.value_types.size()) {}

  const ir::Type &type(ir::ValueId value) const { return launch.function.type(value); }
  const ir::Type &in_type(const ir::Op &op, size_t i) const { return type(op.operands[i]); }
  const ir::Type &out_type(const ir::Op &op, size_t i = 0) const { return type(op.results[i]); }
  const Tensor &in(const ir::Op &op, size_t i) const { return values[op.operands[i]]; }
  /// The result with room for its elements; it shares them with no operand.
  Tensor &out(const ir::Op &op, size_t i = 0) {
    Tensor &tensor = values[op.results[i]];
    tensor.reset(static_cast<size_t>(out_type(op, i).count()) * storage_size(out_type(op, i)));
    return tensor;
  }
  size_t count(const ir::Op &op, size_t operand = 0) const {
    return static_cast<size_t>(in_type(op, operand).count());
  }

  /// An error of the kernel's author at an operation, in this program.
  Error error(const ir::Op &op, std::string_view message, std::string remedy) const;
  /// "element [3, 5]", or "" for a scalar.
  static std::string element(const ir::Type &type, size_t index);

  const Launch &launch;
  std::vector<Tensor> values; ///< by ValueId
  std::array<uint32_t, 3> program{};
  const HostAllocation *last_allocation = nullptr; ///< of the last access
  std::byte *last_undefined = nullptr;             ///< its undefined bits; null: all is written
  std::vector<UndefinedRead> undefined_reads;      ///< of this program
};

} // namespace nereid::interpreter
