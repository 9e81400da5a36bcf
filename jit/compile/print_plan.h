#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/ir/function.h"

namespace nereid::jit {

/// device_print in compiled code: each program that comes to one takes a record of the launch's print buffer
/// by an atomic and stores its values there; the host writes the lines once the launch is over. Records that
/// do not fit are left out, and the host says so.
struct PrintPlan {
  /// One value of a print, in row-major order as memory has it.
  struct Value {
    ir::Type type;
    size_t offset; ///< in bytes, of the record
  };
  /// One device_print of the kernel.
  struct Site {
    std::string message;
    std::vector<Value> values;
    size_t bytes; ///< of a record
  };
  std::vector<Site> sites;

  /// Bytes of a buffer; its first 16 begin with the number of bytes that records have taken, or wanted, as
  /// u64. All of it is 0 before the launch.
  static constexpr size_t buffer_bytes = size_t{1} << 20;
  static constexpr size_t first_record = 16;
  /// What the argument of the buffer's address, an i64, is called: the kernel's last one.
  static constexpr const char *argument_name = "print_buffer";
};

/// Writes the prints of a verified function, if there are any, as stores to a buffer whose address is one
/// more argument; else null. The function is canonical again. Error (User): a print of pointers.
Result<std::shared_ptr<const PrintPlan>> lower_prints(ir::Function &function);

/// The lines in a buffer after a launch, in the order of programs, as the interpreter writes them; what did
/// not fit has a line of its own.
std::vector<std::string> printed_lines(const PrintPlan &plan, std::span<const std::byte> buffer);

} // namespace nereid::jit
