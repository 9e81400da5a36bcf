#pragma once

#include <array>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "dsl/interpreter/interpreter.h"
#include "dsl/ir/builder.h"
#include "dsl/ir/function.h"
#include "sim/machine.h"

/// Runs kernels given as tile IR both ways, compiled on the simulator and in the interpreter, on equal
/// memory.
namespace nereid::codegen::testing {

using Bytes = std::vector<std::byte>;

/// So many bytes that are neither set before nor read after.
struct Reserved {
  size_t bytes;
};

/// A scalar of another element than i32, i64 and f32, with its bytes in the kernarg segment.
struct Scalar {
  InterpretArgument given;
  unsigned bytes;
};

struct Argument {
  std::variant<Bytes, int32_t, int64_t, float, Reserved, Scalar> value;
};

template <class T> Argument buffer(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {bytes};
}
inline Argument i32(int32_t value) { return {value}; }
inline Argument i64(int64_t value) { return {value}; }
inline Argument f32(float value) { return {value}; }

/// What a run left in the buffers, by argument number (empty for other arguments).
struct Outcome {
  std::vector<Bytes> buffers;
  sim::InstructionCounts counts;

  template <class T> std::vector<T> values(size_t argument) const {
    std::vector<T> result(buffers[argument].size() / sizeof(T));
    std::memcpy(result.data(), buffers[argument].data(), buffers[argument].size());
    return result;
  }
};

using Grid = std::array<uint32_t, 3>;

/// Builds a kernel operation by operation; `done` verifies it.
class KernelBuilder : public ir::Builder {
public:
  explicit KernelBuilder(int waves, std::string name = "kernel") : ir::Builder(std::move(name)) {
    options().waves = waves;
  }
  ir::ValueId pointer(ir::Element element, int64_t divisibility = 16) {
    return argument(ir::Type::pointer_to(element), "p", false, divisibility);
  }
  ir::ValueId scalar_argument(ir::Element element, int64_t divisibility = 1) {
    return argument(ir::Type::scalar(element), "n", false, divisibility);
  }
  /// Offsets 0, 1, ... of a row-major tile of one or two dimensions.
  /// The shape by value: one of a value of this kernel moves when others are added.
  ir::ValueId offsets(ir::Shape shape);
  ir::ValueId load_tile(ir::ValueId pointer, const ir::Shape &shape) {
    return load(ptr_add(pointer, offsets(shape)), {}, {}, "");
  }
  void store_tile(ir::ValueId pointer, ir::ValueId value) {
    store(ptr_add(pointer, offsets(type(value).shape)), value, {}, "");
  }
  ir::ValueId add(ir::ValueId a, ir::ValueId b) { return binary(ir::Opcode::Add, a, b); }
  ir::ValueId mul(ir::ValueId a, ir::ValueId b) { return binary(ir::Opcode::Mul, a, b); }
  ir::ValueId number(int64_t value) { return integer(ir::Element::I32, value); }
  ir::Function done();
};
Result<Outcome> run_compiled(const ir::Function &function, Grid grid, const std::vector<Argument> &arguments);
Result<Outcome> run_interpreted(const ir::Function &function, Grid grid,
                                const std::vector<Argument> &arguments);

/// Both ways; every byte of every buffer must agree, except that float buffers (named by argument number and
/// element) may differ by NaN payloads and by `ulps`.
struct FloatBuffer {
  size_t argument;
  ir::Element element;
  int64_t ulps = 0;
};
/// Whether a kernel may be refused because its tiles do not fit the registers.
enum class WhenTooLarge { Fails, Refused };
void expect_same(const ir::Function &function, Grid grid, const std::vector<Argument> &arguments,
                 const std::vector<FloatBuffer> &floats = {},
                 WhenTooLarge when_too_large = WhenTooLarge::Fails);
/// The error of lowering and compiling; a success is the test's failure.
Error compile_error(const ir::Function &function);
/// What LLVM makes of the function: assembler text with metadata.
std::string assembly(const ir::Function &function);

/// Reproducible test data.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next();
  /// Any bits.
  template <class T> std::vector<T> bits(size_t count) {
    std::vector<T> result;
    for (size_t i = 0; i < count; ++i)
      result.push_back(static_cast<T>(next()));
    return result;
  }
  /// Roughly normal, standard deviation 1.
  float normal();
  std::vector<float> normals(size_t count);
  std::vector<uint16_t> bf16_normals(size_t count);

private:
  uint64_t state_;
};

} // namespace nereid::codegen::testing
