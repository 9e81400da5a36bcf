#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/trace.h"

namespace nereid::jit {

/// All that decides what a kernel's code object is.
struct KeyParts {
  std::string_view canonical_ir;
  std::string_view config;         ///< "block=1024,waves=4"
  std::string_view specialization; ///< text(facts)
  std::string_view isa;            ///< target_isa
  std::string_view compiler;       ///< Compiler::identity(): build ids, pass options, cl::opts
  std::string_view version;        ///< nereid_identity()
};

/// BLAKE3 of the parts, in 64 hexadecimal digits.
std::string hash_key(const KeyParts &parts);

/// "div16+range32,-,=1": one word an argument.
std::string text(const std::vector<ArgumentFacts> &facts);

} // namespace nereid::jit
