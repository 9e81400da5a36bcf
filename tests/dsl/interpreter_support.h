#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/interpreter/interpreter.h"
#include "dsl/interpreter/numbers.h"
#include "dsl/ir/parser.h"
#include "dsl/ir/verifier.h"

namespace nereid {

/// Parses and verifies a kernel; a failure is a failed test and an empty function.
inline ir::Function kernel_of(const std::string &text) {
  Result<ir::Function> function = ir::parse(text);
  EXPECT_TRUE(function.ok()) << function.error().text();
  if (!function.ok())
    return {};
  const Status status = ir::verify(*function);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return *function;
}

/// A pointer parameter's buffer.
struct TestBuffer {
  void *data;
  uint64_t bytes;
  template <class T>
  TestBuffer(std::vector<T> &values) : data(values.data()), bytes(values.size() * sizeof(T)) {}
};

/// Runs a kernel whose parameters are the buffers in order.
inline Status run_kernel(const ir::Function &function, std::vector<TestBuffer> buffers,
                         std::array<uint32_t, 3> grid = {1, 1, 1}, const InterpretOptions &options = {}) {
  HostMemory memory;
  std::vector<InterpretArgument> arguments;
  for (const TestBuffer &buffer : buffers) {
    if (Status status = memory.add(buffer.data, buffer.bytes, "p" + std::to_string(arguments.size()));
        !status)
      return status;
    arguments.push_back(InterpretArgument::pointer(buffer.data));
  }
  return interpret(function, grid, arguments, memory, options);
}
inline Status run_text(const std::string &text, std::vector<TestBuffer> buffers,
                       std::array<uint32_t, 3> grid = {1, 1, 1}, const InterpretOptions &options = {}) {
  return run_kernel(kernel_of(text), std::move(buffers), grid, options);
}

/// A kernel that loads n elements from each of its first parameters, runs `ops` on %in0, %in1, ... and stores
/// %out to the last one. In `ops`, "$0" and "$1" stand for the loaded tiles and "$r" for the result.
struct Elementwise {
  std::vector<std::string> inputs; ///< element names
  std::string result;
  std::string ops;

  std::string text(size_t n) const {
    std::string head = "kernel @elementwise(", body;
    const std::string shape = "[" + std::to_string(n) + "]";
    for (size_t i = 0; i < inputs.size(); ++i)
      head += "%" + std::to_string(i) + ": ptr<" + inputs[i] + ">, ";
    const std::string out = "%" + std::to_string(inputs.size());
    head +=
        out + ": ptr<" + result + ">) options {waves = 1} {\n%90 = arange {start = 0} : i32" + shape + "\n";
    const auto pointer = [&](const std::string &base, const std::string &element, const std::string &id) {
      return id + "0 = broadcast " + base + " : ptr<" + element + ">" + shape + "\n" + id + "1 = ptr_add " +
             id + "0, %90 : ptr<" + element + ">" + shape + "\n";
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string id = "%10" + std::to_string(i);
      body += pointer("%" + std::to_string(i), inputs[i], id) + id + "2 = load " + id + "1 : " + inputs[i] +
              shape + "\n";
    }
    std::string middle = ops;
    for (size_t at; (at = middle.find('$')) != std::string::npos;)
      middle.replace(at, 2, middle[at + 1] == 'r' ? "%999" : "%10" + std::string(1, middle[at + 1]) + "2");
    for (size_t at; (at = middle.find("[n]")) != std::string::npos;)
      middle.replace(at, 3, shape);
    return head + body + middle + "\n" + pointer(out, result, "%98") + "store %981, %999\n}\n";
  }
};

} // namespace nereid
