#pragma once

#include <string>

#include <llvm/Support/JSON.h>

#include "base/result.h"
#include "jit/json_text.h"

namespace nereid::tools {

/// What the command returns to the shell.
enum class ExitCode : int {
  Right = 0,
  Wrong = 1,       ///< a wrong result, a fault, a defect of Nereid
  Usage = 2,       ///< bad input
  Environment = 3, ///< the machine lacks something
};

/// The exit code of an error by its owner.
ExitCode exit_code(const Error &error);

/// What a subcommand has to say: one JSON object for --json, or text for people. An error goes to stderr.
struct Outcome {
  ExitCode code = ExitCode::Right;
  llvm::json::Object json;
  std::string text;
  std::string error;

  Outcome() = default;
  /// A failure; with --json its object has the member "error".
  Outcome(const Error &failure);
  Outcome(const Error &failure, ExitCode failure_code);
};

/// A failure of a run whose input was found right, faults while a kernel ran among them: whoever is to blame,
/// it is no usage error.
Outcome failed_run(const Error &failure);

using jit::json_string;

/// {"owner", "message", "remedy", "where"}
llvm::json::Object to_json(const Error &error);

} // namespace nereid::tools
