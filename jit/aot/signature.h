#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/ir/type.h"
#include "jit/aot/export.h"

namespace nereid::aot {

/// A parameter of a launcher and its place in the kernarg segment.
struct Parameter {
  std::string name; ///< an identifier of C that clashes with nothing in a launcher
  ir::Type type;
  bool read_only = false;
  uint32_t offset = 0; ///< bytes
  uint32_t size = 0;

  bool pointer() const { return type.pointer; }
  /// "const float *", "int32_t "; a name may follow.
  std::string c_type() const;
};

/// An export with all that its files say, checked.
struct Signature {
  const Export &kernel;
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Condition> conditions; ///< by parameter names, also of addresses; at most one of a kind each
  std::array<Programs, 3> programs;
};

/// Errors (User): as write().
Result<Signature> signature_of(const Export &kernel);

/// Whether it can name something in C and in C++.
bool is_identifier(const std::string &name);

} // namespace nereid::aot
