#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "jit/compile/assembler.h"
#include "jit/compile/linker.h"

/// Code objects that Nereid did not compile.
namespace nereid::test {

inline std::string text_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline std::vector<uint8_t> bytes_of(const std::string &path) {
  const std::string text = text_of(path);
  return {text.begin(), text.end()};
}

/// A code object of assembler text.
inline std::vector<uint8_t> assembled(const std::string &text) {
  llvm::SmallVector<char, 0> object;
  std::string messages;
  const Status status = jit::assemble(text, object, messages);
  EXPECT_TRUE(status.ok()) << messages;
  return jit::link_code_object({object.data(), object.size()}).value();
}

/// y = a x + y: kernel saxpy(x, y, a, n) in workgroups of 256.
inline std::vector<uint8_t> saxpy_object() { return assembled(text_of(NEREID_SAXPY)); }

/// One that clang made of tests/sim/programs: "launches".
inline std::vector<uint8_t> program_object(const std::string &name) {
  return bytes_of(std::string(NEREID_SIM_PROGRAMS) + "/" + name + ".hsaco");
}

/// The same code object with other bytes in place of each `from`, of the same length.
inline std::vector<uint8_t> replaced(const std::vector<uint8_t> &bytes, const std::string &from,
                                     const std::string &to) {
  std::string text(bytes.begin(), bytes.end());
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return {text.begin(), text.end()};
}

} // namespace nereid::test
